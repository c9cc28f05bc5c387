/** The values of an export on their way from SQLite to the files. */
import { EMPTY, END } from '../register/pages.js';
import type { ValueType } from '../schema/field.js';

/** A value as the register holds it: truth values are 0 and 1; null means "not measured". */
export type Cell = string | number | null;

/**
 * The cells of a column as bytes, END behind each: in UTF-8, as they stand in CSV before anything is quoted. Null is
 * nothing, EMPTY an empty text. SQLite writes pages like that, and they are read front to back: a value becomes a
 * number or a text of JavaScript only where something is computed from it.
 */
export type Cells = Buffer;

/** Rows of an export that follow each other. */
export interface Block {
  readonly rows: number;
  /** The cells of each column of the export, one for each row. */
  readonly columns: readonly Cells[];
}

const ZERO = 48;
const MINUS = 45;

const INTEGERS: ReadonlySet<ValueType> = new Set(['id', 'ordinal', 'count', 'difference']);

/** Whether the values of a type are integers. */
export const isInteger = (type: ValueType): boolean => INTEGERS.has(type);

/** The integers of a column, behind those of a list. */
export function addIntegers(cells: Cells, list: (number | null)[]): void {
  for (let at = 0; at < cells.length; at += 1) {
    const start = at;
    const isNegative = cells[at] === MINUS;
    if (isNegative) at += 1;
    let value = 0;
    for (let byte = cells[at]; byte !== undefined && byte !== END; byte = cells[at]) {
      // In this order: the sum of all three may be beyond what is exact.
      value = value * 10 + (byte - ZERO);
      at += 1;
    }
    list.push(at === start ? null : isNegative ? -value : value);
  }
}

/** The texts of a column as UTF-8, behind those of a list: views, valid as long as the column is. */
export function addTexts(cells: Cells, list: (Uint8Array | null)[]): void {
  for (let at = 0; at < cells.length; at += 1) {
    const start = at;
    while (cells[at] !== END) at += 1;
    const length = cells[start] === EMPTY ? 0 : at - start;
    list.push(at === start ? null : new Uint8Array(cells.buffer, cells.byteOffset + start, length));
  }
}

/** A column's values. */
export function valuesOf(cells: Cells, type: ValueType): Cell[] {
  if (isInteger(type)) {
    const integers: (number | null)[] = [];
    addIntegers(cells, integers);
    return integers;
  }
  if (type === 'text') {
    const texts: (Uint8Array | null)[] = [];
    addTexts(cells, texts);
    return texts.map((bytes) => bytes && UTF8.decode(bytes));
  }
  // All of the rest is ASCII: pieces of one text, which is faster than to decode each.
  const written = cells.toString('latin1').split(String.fromCharCode(END)).slice(0, -1);
  const value = (text: string): Cell => (type === 'boolean' ? Number(text === 'true') : text);
  return written.map((text) => (text === '' ? null : value(text)));
}

const UTF8 = new TextDecoder('utf-8', { ignoreBOM: true });

/** Makes cells of values that come one by one. */
export class CellWriter {
  #bytes = Buffer.allocUnsafeSlow(64 * 1024);
  #at = 0;

  /** The column of some values. */
  cellsOf(values: readonly Cell[], type: ValueType): Cells {
    this.#at = 0;
    for (const value of values) {
      if (typeof value === 'number')
        this.#add(type === 'boolean' ? (value === 1 ? 'true' : 'false') : String(value));
      else if (value !== null && value !== '') this.#add(value);
      else this.#need(2);
      if (value === '') this.#bytes[this.#at++] = EMPTY;
      this.#bytes[this.#at++] = END;
    }
    return Buffer.from(this.#bytes.subarray(0, this.#at));
  }

  #add(text: string): void {
    // No UTF-16 unit takes more than three bytes.
    this.#need(3 * text.length + 1);
    this.#at += this.#bytes.write(text, this.#at);
  }

  #need(bytes: number): void {
    if (this.#at + bytes <= this.#bytes.length) return;
    const more = Buffer.allocUnsafeSlow(2 * this.#bytes.length + bytes);
    more.set(this.#bytes);
    this.#bytes = more;
  }
}
