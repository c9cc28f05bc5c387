/**
 * Range requests (RFC 9110 §14) as far as this proxy answers them: one range of bytes. Pure.
 */

/** A part of a representation, both ends included, counted from 0. */
export interface ByteRange {
  readonly first: number;
  readonly last: number;
}

/** Range units are named in any case (RFC 9110 §14.1). */
const BYTES = /^bytes=(.*)$/i;
const RANGE = /^(\d*)-(\d*)$/;

/**
 * The part that a Range field asks for. Undefined means the whole: for another unit or anything malformed,
 * which a server has to ignore or may, and for several ranges, which §14.2 lets a server answer by the whole;
 * parts in multipart/byteranges cost more than they save, and overlapping ones are an old attack.
 *
 * @param field the value of Range
 * @param size bytes of the selected representation
 */
export function parseRange(field: string, size: number): ByteRange | 'unsatisfiable' | undefined {
  // A list may have empty elements (RFC 9110 §5.6.1.2).
  const ranges = BYTES.exec(field)?.[1]
    ?.split(',')
    .filter((range) => /[^ \t]/.test(range));
  if (ranges?.length !== 1) return undefined;
  const [, start = '', end = ''] = RANGE.exec(ranges[0]?.replace(/^[ \t]+|[ \t]+$/g, '') ?? '') ?? [];
  if (start === '') return end === '' ? undefined : suffix(Number(end), size);
  const first = Number(start);
  const last = end === '' ? Number.POSITIVE_INFINITY : Number(end);
  if (last < first) return undefined;
  return first < size ? { first, last: Math.min(last, size - 1) } : 'unsatisfiable';
}

/** The last `length` bytes. Of an empty file they are the whole, which no Content-Range could name. */
function suffix(length: number, size: number): ByteRange | 'unsatisfiable' | undefined {
  if (length === 0) return 'unsatisfiable';
  return size === 0 ? undefined : { first: Math.max(0, size - length), last: size - 1 };
}
