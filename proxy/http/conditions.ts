import type { IncomingHttpHeaders } from 'node:http';

import type { PublishedFile } from '../tree/files.js';

/** Conditional requests (RFC 9110 §13) and ranges (§14). Pure. */

type Validators = Pick<PublishedFile, 'etag' | 'lastModified'>;

/** A part of a representation, from 0, both ends inclusive. */
export interface ByteRange {
  readonly first: number;
  readonly last: number;
}

/**
 * The result of the preconditions of a GET or HEAD, in the order of RFC 9110 §13.2.2. A malformed
 * list of entity tags matches nothing, but dates are then still ignored: a needless 200 is better
 * than a wrong 304.
 */
export function evaluatePreconditions(
  request: IncomingHttpHeaders,
  { etag, lastModified }: Validators,
): 'proceed' | 'not_modified' | 'failed' {
  const match = request['if-match'];
  if (match !== undefined) {
    if (!anyTagMatches(match, etag, 'strong')) return 'failed';
  } else if (isModifiedAfter(request['if-unmodified-since'], lastModified)) {
    return 'failed';
  }
  const noneMatch = request['if-none-match'];
  if (noneMatch !== undefined) {
    return anyTagMatches(noneMatch, etag, 'weak') ? 'not_modified' : 'proceed';
  }
  // Only our own date matches, although any later one does in §13.1.3: a backup restores an older
  // date, and must not confirm the withdrawn version to clients that have it.
  return request['if-modified-since'] === lastModified ? 'not_modified' : 'proceed';
}

/** Dates that are not as we write them are ignored: clients send back what they got. */
function isModifiedAfter(since: string | undefined, lastModified: string): boolean {
  if (since === undefined) return false;
  const sinceMs = Date.parse(since);
  const isDate = !Number.isNaN(sinceMs) && new Date(sinceMs).toUTCString() === since;
  return isDate && Date.parse(lastModified) > sinceMs;
}

/**
 * Whether If-Range permits a range (RFC 9110 §13.1.5). Comparison is strong, so a weak tag never
 * matches. Neither does a date: Last-Modified is not a strong validator here (§8.8.2.2), since two
 * snapshots may be published within a second, and all forms of a file share it.
 */
export function isRangeCurrent(request: IncomingHttpHeaders, { etag }: Validators): boolean {
  const validator = request['if-range'];
  return validator === undefined || (validator === etag && !etag.startsWith('W/'));
}

/** A list element: an entity tag (RFC 9110 §8.8.3) or nothing, with the comma or the end. */
const LIST_ELEMENT = /[ \t]*(?:((?:W\/)?"[\x21\x23-\x7e\x80-\xff]*")[ \t]*)?(?:,|$)/y;

/**
 * Whether a list contains an entity tag (RFC 9110 §8.8.3.2). By strong comparison, a tag with W/
 * matches nothing; by weak comparison, W/ is ignored.
 */
function anyTagMatches(list: string, etag: string, comparison: 'strong' | 'weak'): boolean {
  if (list.trim() === '*') return true;
  const opaque = etag.replace('W/', '');
  const matching = comparison === 'weak' ? [opaque, `W/${opaque}`] : [opaque].filter((tag) => tag === etag);
  let isMatch = false;
  LIST_ELEMENT.lastIndex = 0;
  while (LIST_ELEMENT.lastIndex < list.length) {
    const element = LIST_ELEMENT.exec(list);
    if (element === null) return false;
    if (matching.includes(element[1] ?? '')) isMatch = true;
  }
  return isMatch;
}

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
  if (start === '') {
    // The last bytes. An empty file is sent whole, since Content-Range can't describe it.
    if (end !== '' && Number(end) === 0) return 'unsatisfiable';
    if (end === '' || size === 0) return undefined;
    return { first: Math.max(0, size - Number(end)), last: size - 1 };
  }
  const first = Number(start);
  const last = end === '' ? Number.POSITIVE_INFINITY : Number(end);
  if (last < first) return undefined;
  return first < size ? { first, last: Math.min(last, size - 1) } : 'unsatisfiable';
}
