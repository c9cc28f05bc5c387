import type { ByteRange } from '../tree/files.js';

/** Range requests (RFC 9110 §14), limited to a single range of bytes. Pure. */

/** Units are case-insensitive (RFC 9110 §14.1); a list may have empty elements (§5.6.1.2). */
const BYTE_RANGE = /^bytes=[ \t,]*(\d*)-(\d*)[ \t,]*$/i;

/**
 * Parses a Range field. Undefined means the whole file: for other units and malformed fields, which
 * a server must or may ignore, and for several ranges, for which §14.2 permits it. Multipart
 * responses cost more than they save, and overlapping ranges are a known attack.
 *
 * @param field the value of Range
 * @param size bytes of the selected representation
 */
export function parseRange(field: string, size: number): ByteRange | 'unsatisfiable' | undefined {
  const [, start = '', end = ''] = BYTE_RANGE.exec(field) ?? [];
  if (start === '') return end === '' ? undefined : suffix(Number(end), size);
  const first = Number(start);
  const last = end === '' ? Number.POSITIVE_INFINITY : Number(end);
  if (last < first) return undefined;
  return first < size ? { first, last: Math.min(last, size - 1) } : 'unsatisfiable';
}

/** The last `length` bytes. An empty file is sent whole, since Content-Range can't describe it. */
function suffix(length: number, size: number): ByteRange | 'unsatisfiable' | undefined {
  if (length === 0) return 'unsatisfiable';
  return size === 0 ? undefined : { first: Math.max(0, size - length), last: size - 1 };
}
