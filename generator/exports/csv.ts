/** CSV (RFC 4180): UTF-8 without BOM, CRLF, a header row. */
import { stringify } from 'csv-stringify/sync';
import type { Options } from 'csv-stringify/sync';
import { EMPTY, END } from '../register/pages.js';
import type { Value } from '../schema/field.js';
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
const EMPTY_TEXT: Cells = Buffer.of(EMPTY);
const ZERO = 0x30;
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

  /** The number of columns. */
  get width(): number {
    return this.#values.length;
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

/**
 * The lines of a file, in chunks of whole ones: a line break in quotes doesn't end a line.
 * @param chunks the file, whose last line ends with a line break
 */
export function* wholeLines(chunks: Iterable<Buffer>): Generator<Buffer, void, undefined> {
  let rest = NO_CELLS;
  for (const chunk of chunks) {
    const lines = Buffer.concat([rest, chunk]);
    let end = lines.lastIndexOf(LF) + 1;
    while (end > 0 && isInQuotes(lines, end)) end = end === 1 ? 0 : lines.lastIndexOf(LF, end - 2) + 1;
    if (end > 0) yield lines.subarray(0, end);
    rest = lines.subarray(end);
  }
}

/** Whether a place among lines is in quotes: after an odd number of them. */
function isInQuotes(lines: Buffer, place: number): boolean {
  let isOdd = false;
  for (let at = lines.indexOf(QUOTE); at !== -1 && at < place; at = lines.indexOf(QUOTE, at + 1))
    isOdd = !isOdd;
  return isOdd;
}

/** Where the cells of a line go, by column. */
interface CellSink {
  readonly add: (bytes: Buffer, start: number, end: number) => void;
}

/** Decodes a whole line. @returns where the next one starts */
export function addCells(lines: Buffer, start: number, columns: readonly CellSink[]): number {
  let at = start;
  for (const column of columns) {
    const from = at;
    if (lines[at] === QUOTE) {
      do at = lines.indexOf(QUOTE, at + 1) + 1;
      while (lines[at] === QUOTE);
      addUnquoted(lines, from + 1, at - 1, column);
    } else {
      for (let byte = lines[at]; byte !== COMMA && byte !== CR; byte = lines[at]) at += 1;
      column.add(lines, from, at);
    }
    at += 1;
  }
  // The line feed.
  return at + 1;
}

/** Decodes the integer that a line begins with. */
export function firstInteger(lines: Buffer, start: number): number {
  let value = 0;
  for (let at = start, byte = lines[at]; byte !== undefined && byte !== COMMA; byte = lines[at]) {
    value = 10 * value + (byte - ZERO);
    at += 1;
  }
  return value;
}

function addUnquoted(lines: Buffer, start: number, end: number, column: CellSink): void {
  if (start === end) column.add(EMPTY_TEXT, 0, 1);
  else if (lines.subarray(start, end).includes(QUOTE)) {
    const text = Buffer.from(lines.toString('latin1', start, end).replaceAll('""', '"'), 'latin1');
    column.add(text, 0, text.length);
  } else column.add(lines, start, end);
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
