/** Decodes a page of the register. */
import type { Block } from './cells.js';

/** @param row a row of `pageQuery` */
export function pageOf([rows, ...columns]: readonly unknown[] = []): Block {
  // group_concat of no rows is null.
  if (rows === 0) return { rows, columns: [] };
  if (typeof rows !== 'number' || !columns.every((column) => Buffer.isBuffer(column)))
    throw new TypeError('no page was read');
  return { rows, columns };
}
