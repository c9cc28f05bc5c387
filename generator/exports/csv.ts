/** Rows as CSV (RFC 4180): UTF-8 without BOM, CRLF, a header row. */
import { stringify } from 'csv-stringify/sync';
import type { Options } from 'csv-stringify/sync';
import type { Value } from '../resources/field.js';
import type { Block, Cell } from './cells.js';

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
 * Turns rows into lines, a line end behind each. Values are exact: nothing is escaped for spreadsheets.
 *
 * csv-stringify quotes what needs quotes, all of a block in one call; what does not is put together as it is, which is
 * several times faster. Only texts can need them: ids, counts, times and the like are plain by their type.
 */
export class CsvEncoder {
  readonly #values: readonly Value[];

  constructor(values: readonly Value[]) {
    this.#values = values;
  }

  header(): Uint8Array {
    return Buffer.from(this.#values.map(({ name }) => name).join(',') + LINE_END);
  }

  /** The lines of a block. */
  lines({ rows, columns }: Block): Uint8Array {
    const written = columns.map((cells, index) => asWritten(cells, this.#values[index]?.type));
    // One text that grows is measured to be faster than bytes written one by one, and than cells that are joined.
    let text = '';
    for (let row = 0; row < rows; row += 1) {
      for (let column = 0; column < written.length; column += 1) {
        if (column > 0) text += ',';
        const cell = written[column]?.[row] ?? null;
        if (cell !== null) text += cell;
      }
      text += LINE_END;
    }
    return Buffer.from(text);
  }
}

/** The cells of a column as they stand in a line. */
function asWritten(cells: readonly Cell[], type: Value['type'] | undefined): readonly Cell[] {
  if (type === 'boolean') return cells.map((bit) => (bit === null ? null : bit === 1 ? 'true' : 'false'));
  return type === 'text' ? quoted(cells) : cells;
}

/** Texts with quotes around those that need them. */
function quoted(texts: readonly Cell[]): readonly Cell[] {
  const places: number[] = [];
  const hard: string[] = [];
  for (const [place, text] of texts.entries()) {
    if (typeof text === 'string' && NEEDS_QUOTES.test(text)) {
      places.push(place);
      hard.push(text);
    }
  }
  if (hard.length === 0) return texts;
  const result = [...texts];
  // As the cells of one record: each of them gets quotes, so nothing else tells where one ends.
  const found = stringify([hard], OPTIONS).matchAll(QUOTED);
  for (const place of places) result[place] = found.next().value?.[0] ?? null;
  return result;
}
