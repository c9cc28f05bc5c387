/** CSV (RFC 4180): UTF-8 without BOM, CRLF, a header row. Nothing is escaped for spreadsheets. */
import { stringify } from 'csv-stringify/sync';
import type { Value } from '../schema/shape.js';
import type { Cell, Row } from './rows.js';

const LINE_END = '\r\n';

/** RFC 4180, 2.5 f. Null is empty; a measured empty text is an empty pair of quotes. */
const NEEDS_QUOTES = /^$|[",\r\n]/;

/** Stands for a quoted text: two first halves of surrogate pairs, which no text from SQLite has. */
const PLACE = '\ud800\ud800';

/**
 * Encodes rows as lines that end with CRLF. csv-stringify adds the quotes, but gets only the texts that need
 * them, those of all rows in one call: to pass it every cell takes three times as long.
 */
export class CsvEncoder {
  readonly #values: readonly Value[];

  constructor(values: readonly Value[]) {
    this.#values = values;
  }

  header(): Uint8Array {
    return Buffer.from(this.#values.map(({ name }) => name).join(',') + LINE_END);
  }

  lines(rows: readonly Row[]): Uint8Array {
    const texts: string[] = [];
    const written = (cell: Cell, at: number): string => {
      if (cell === null) return '';
      if (typeof cell === 'number')
        return this.#values[at]?.type === 'boolean' ? String(cell === 1) : String(cell);
      if (!NEEDS_QUOTES.test(cell)) return cell;
      texts.push(cell);
      return PLACE;
    };
    const lines = rows.map((row) => row.map(written).join(',') + LINE_END).join('');
    return Buffer.from(texts.length === 0 ? lines : withQuotes(lines, texts));
  }
}

function withQuotes(lines: string, texts: readonly string[]): string {
  const options = { delimiter: PLACE, quoted: true, quoted_empty: true, eof: false };
  const quoted = stringify([[...texts]], options)
    .split(PLACE)
    .values();
  return lines.replaceAll(PLACE, () => quoted.next().value ?? '');
}
