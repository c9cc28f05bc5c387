/** CSV (RFC 4180): UTF-8 without BOM, CRLF, a header row. */
import { stringify, type Options } from 'csv-stringify/sync';
import { EMPTY, END } from '../register/pages.js';
import type { Value } from '../schema/shape.js';
import type { Block, Cells } from './cells.js';

const LINE_END = '\r\n';

const OPTIONS: Options = {
  record_delimiter: LINE_END,
  // Null is empty; a measured empty text is an empty pair of quotes.
  quoted_match: /^$/,
  // Any line break needs quotes, not only CRLF.
  quote_record_delimiter: true,
};

const NO_CELLS: Cells = Buffer.alloc(0);
const QUOTE = 0x22;
const COMMA = 0x2c;
const CR = 0x0d;
const LF = 0x0a;

/**
 * Encodes rows as lines that end with CRLF. Values are exact: nothing is escaped for spreadsheets.
 *
 * csv-stringify quotes the cells that need it, all of a block's column in one call. Other cells are
 * copied byte by byte, which is much faster. Only texts can need quotes.
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
    // A comma replaces each END, and CRLF a row's last.
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

/** A text that needs quotes: its start and END in the column, and its length with quotes. */
interface TextToQuote {
  readonly start: number;
  readonly end: number;
  readonly length: number;
}

/** Adds quotes to the texts in a column that need them. */
function quoted(cells: Cells): Cells {
  const hard = textsToQuote(cells);
  if (hard.length === 0) return cells;
  const texts = hard.map(({ start, end }) =>
    cells[start] === EMPTY ? '' : cells.toString('utf8', start, end),
  );
  // As one record, in which every cell gets quotes.
  const record = Buffer.from(stringify([texts], OPTIONS));
  const pieces: Uint8Array[] = [];
  let copied = 0;
  let at = 0;
  for (const { start, end, length } of hard) {
    pieces.push(cells.subarray(copied, start), record.subarray(at, at + length));
    copied = end;
    // Skips the comma or line end.
    at += length + 1;
  }
  if (at !== record.length - 1) throw new TypeError(`texts took ${record.length} bytes, expected ${at + 1}`);
  return Buffer.concat([...pieces, cells.subarray(copied)]);
}

/** Finds texts that need quotes: empty, or with a comma, quote or line break (RFC 4180, 2.5 f.). */
function textsToQuote(cells: Cells): TextToQuote[] {
  const found: TextToQuote[] = [];
  for (let at = 0; at < cells.length; at += 1) {
    const start = at;
    let needsQuotes = false;
    let quotes = 0;
    for (let byte = cells[at]; byte !== undefined && byte !== END; byte = cells[at]) {
      if (byte === QUOTE) quotes += 1;
      else if (byte === COMMA || byte === LF || byte === CR || byte === EMPTY) needsQuotes = true;
      at += 1;
    }
    if (needsQuotes || quotes > 0) {
      const length = cells[start] === EMPTY ? 0 : at - start;
      found.push({ start, end: at, length: length + quotes + 2 });
    }
  }
  return found;
}
