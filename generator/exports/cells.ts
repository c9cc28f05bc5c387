/** The values of an export between SQLite and the files. */
import { EMPTY, END } from '../register/pages.js';
import type { ValueType } from '../schema/shape.js';

/** A value as in the register: booleans are 0 and 1; null means "not measured". */
export type Cell = string | number | null;

/**
 * A column's cells as bytes, each followed by END: UTF-8, as in CSV before quoting. Null is empty;
 * EMPTY is an empty text. SQLite writes pages in this form. A value becomes a JavaScript number or
 * string only if something is computed from it.
 */
export type Cells = Buffer;

/** Consecutive rows of an export. */
export interface Block {
  readonly rows: number;
  /** The cells of each column of the export. */
  readonly columns: readonly Cells[];
}

/** Decodes a page of the register. @param row a row of `pageQuery` */
export function pageOf([rows, ...columns]: readonly unknown[] = []): Block {
  // group_concat of no rows is null.
  if (rows === 0) return { rows, columns: [] };
  if (typeof rows !== 'number' || !columns.every((column) => Buffer.isBuffer(column)))
    throw new TypeError('no page was read');
  return { rows, columns };
}

const ZERO = 48;
const MINUS = 45;

const INTEGERS: ReadonlySet<ValueType> = new Set(['id', 'ordinal', 'count', 'difference']);

export const isInteger = (type: ValueType): boolean => INTEGERS.has(type);

/** Appends a column's integers to a list. */
export function addIntegers(cells: Cells, list: (number | null)[]): void {
  for (let at = 0; at < cells.length; at += 1) {
    const start = at;
    const isNegative = cells[at] === MINUS;
    if (isNegative) at += 1;
    let value = 0;
    for (let byte = cells[at]; byte !== undefined && byte !== END; byte = cells[at]) {
      // In this order: the sum of all three may exceed what is exact.
      value = value * 10 + (byte - ZERO);
      at += 1;
    }
    list.push(at === start ? null : isNegative ? -value : value);
  }
}

/** Appends a column's UTF-8 texts to a list: views, valid as long as the column is. */
export function addTexts(cells: Cells, list: (Uint8Array | null)[]): void {
  for (let at = 0; at < cells.length; at += 1) {
    const start = at;
    while (cells[at] !== END) at += 1;
    const length = cells[start] === EMPTY ? 0 : at - start;
    list.push(at === start ? null : new Uint8Array(cells.buffer, cells.byteOffset + start, length));
  }
}

/** Decodes a column's values. */
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
  // All other types are ASCII: splitting one string is faster than decoding each value.
  const written = cells.toString('latin1').split(String.fromCharCode(END)).slice(0, -1);
  const value = (text: string): Cell => (type === 'boolean' ? Number(text === 'true') : text);
  return written.map((text) => (text === '' ? null : value(text)));
}

const UTF8 = new TextDecoder('utf-8', { ignoreBOM: true });

/** Encodes values as cells. */
export class CellWriter {
  #bytes = Buffer.allocUnsafeSlow(64 * 1024);
  #at = 0;

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
    // A UTF-16 unit takes at most three bytes.
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
