/** Rows as CSV (RFC 4180): UTF-8 without BOM, CRLF, a header row. */
import { stringify } from 'csv-stringify/sync';
import type { Options } from 'csv-stringify/sync';
import type { Value } from '../resources/field.js';
import type { Cell } from './rows.js';

const LINE_END = '\r\n';

const OPTIONS: Options = {
  record_delimiter: LINE_END,
  // Nothing stands for null, and quotes around nothing for a measured empty text.
  quoted_match: /^$/,
  // A line break of any sort, not only CRLF.
  quote_record_delimiter: true,
};

/** What can't stand without quotes: commas, quotes, line breaks (RFC 4180, section 2.5 and 2.6), or nothing at all. */
const NEEDS_QUOTES = /[",\r\n]|^$/;
const QUOTED = /"(?:[^"]|"")*"/g;

/**
 * Turns records into text, a line end behind each. Values are exact: nothing is escaped for spreadsheets.
 *
 * csv-stringify quotes what needs quotes, all of a batch in one call; what does not is joined, which is several times
 * faster. Only texts can need them: ids, counts, times and the like are plain by their type.
 */
export class CsvEncoder {
  readonly #header: string;
  /** Places of the columns of text. */
  readonly #texts: readonly number[];

  constructor(values: readonly Value[]) {
    this.#header = values.map(({ name }) => name).join(',') + LINE_END;
    this.#texts = values.flatMap(({ type }, index) => (type === 'text' ? [index] : []));
  }

  header(): string {
    return this.#header;
  }

  /** The lines of records, whose cells that need quotes get them in place. */
  lines(records: readonly Cell[][]): string {
    const hard: { readonly record: Cell[]; readonly index: number; readonly text: string }[] = [];
    for (const record of records) {
      for (const index of this.#texts) {
        const text = record[index];
        if (typeof text === 'string' && NEEDS_QUOTES.test(text)) hard.push({ record, index, text });
      }
    }
    const quoted = stringify(
      hard.map(({ text }) => [text]),
      OPTIONS,
    ).matchAll(QUOTED);
    for (const { record, index } of hard) record[index] = quoted.next().value?.[0] ?? null;
    return records.map((record) => record.join(',') + LINE_END).join('');
  }
}
