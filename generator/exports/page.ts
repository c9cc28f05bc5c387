/** A page of the register as SQLite hands it out. */
import type { Block } from './cells.js';

/** @param row what `pageQuery` gives */
export function pageOf([rows, ...columns]: readonly unknown[] = []): Block {
  // Nothing is no list of cells, but null.
  if (rows === 0) return { rows, columns: [] };
  if (typeof rows !== 'number' || !columns.every((column) => Buffer.isBuffer(column)))
    throw new TypeError('no page was read');
  return { rows, columns };
}
