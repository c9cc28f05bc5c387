/** Rows as CSV (RFC 4180): UTF-8 without BOM, CRLF, a header row. */
import { stringify } from 'csv-stringify/sync';
import type { Options } from 'csv-stringify/sync';
import { EMPTY, END } from '../register/pages.js';
import type { Value } from '../schema/field.js';
import type { Block, Cells } from './cells.js';

const LINE_END = '\r\n';

const OPTIONS: Options = {
  record_delimiter: LINE_END,
  // Nothing stands for null, and quotes around nothing for a measured empty text.
  quoted_match: /^$/,
  // A line break of any sort, not only CRLF.
  quote_record_delimiter: true,
};

const NO_CELLS: Cells = Buffer.alloc(0);
const QUOTE = 0x22;
const COMMA = 0x2c;
const CR = 0x0d;
const LF = 0x0a;

/**
 * Turns rows into lines, a line end behind each. Values are exact: nothing is escaped for spreadsheets.
 *
 * csv-stringify quotes what needs quotes, all of a column's block in one call; what does not is copied as it is, byte
 * by byte, which is many times faster. Only texts can need them: ids, counts, times and the like are plain by their type.
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
    const written = columns.map((cells, index) =>
      this.#values[index]?.type === 'text' ? quoted(cells) : cells,
    );
    // A comma takes the place of each END, and two bytes that of a row's last.
    const lines = Buffer.allocUnsafe(written.reduce((sum, { length }) => sum + length, rows));
    const places = written.map(() => 0);
    let to = 0;
    for (let row = 0; row < rows; row += 1) {
      for (let column = 0; column < written.length; column += 1) {
        const cells = written[column] ?? NO_CELLS;
        let at = places[column] ?? 0;
        for (let byte = cells[at]; byte !== undefined && byte !== END; byte = cells[at]) {
          lines[to] = byte;
          to += 1;
          at += 1;
        }
        places[column] = at + 1;
        lines[to] = COMMA;
        to += 1;
      }
      lines[to - 1] = CR;
      lines[to] = LF;
      to += 1;
    }
    if (to !== lines.length) throw new TypeError(`${to} bytes of lines were made, expected ${lines.length}`);
    return lines;
  }
}

/** A text that needs quotes: where it begins in its column, where its END is, and how long it is between quotes. */
interface Hard {
  readonly start: number;
  readonly end: number;
  readonly length: number;
}

/** A column of texts with quotes around those that need them. */
function quoted(cells: Cells): Cells {
  const hard = hardIn(cells);
  if (hard.length === 0) return cells;
  const texts = hard.map(({ start, end }) =>
    cells[start] === EMPTY ? '' : cells.toString('utf8', start, end),
  );
  // As the cells of one record: each of them gets quotes.
  const record = Buffer.from(stringify([texts], OPTIONS));
  const pieces: Uint8Array[] = [];
  let copied = 0;
  let at = 0;
  for (const { start, end, length } of hard) {
    pieces.push(cells.subarray(copied, start), record.subarray(at, at + length));
    copied = end;
    // A comma, or the end of the line.
    at += length + 1;
  }
  if (at !== record.length - 1) throw new TypeError(`texts took ${record.length} bytes, expected ${at + 1}`);
  return Buffer.concat([...pieces, cells.subarray(copied)]);
}

/** The texts that can't stand without quotes: with commas, quotes, line breaks (RFC 4180, section 2.5 and 2.6), or empty. */
function hardIn(cells: Cells): Hard[] {
  const found: Hard[] = [];
  for (let at = 0; at < cells.length; at += 1) {
    const start = at;
    let isHard = false;
    let quotes = 0;
    for (let byte = cells[at]; byte !== undefined && byte !== END; byte = cells[at]) {
      if (byte === QUOTE) quotes += 1;
      else if (byte === COMMA || byte === LF || byte === CR || byte === EMPTY) isHard = true;
      at += 1;
    }
    if (isHard || quotes > 0) {
      const length = cells[start] === EMPTY ? 0 : at - start;
      found.push({ start, end: at, length: length + quotes + 2 });
    }
  }
  return found;
}
