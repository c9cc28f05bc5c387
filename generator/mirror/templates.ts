/** Whether templates of files keep apart. Each has one parameter at most, or `{path}` at its end. */
import { CODINGS, siblingsFrom } from '../tree/codings.js';
import type { PublishedRoute } from '../tree/published-routes.js';

/** What the texts of keys consist of: decimal or hexadecimal digits, and the hyphens of months. */
const isKey = (text: string): boolean => /^[\da-f-]*$/.test(text);

/** A segment of a path: what is before its parameter, and what is after it, if it has one. */
interface Segment {
  readonly start: string;
  readonly end: string | undefined;
}

const segmentsOf = (file: string): readonly Segment[] =>
  file.split('/').map((text) => {
    const [start = '', end] = text.split(/\{\w+\}/);
    return { start, end };
  });

/** Whether two segments can be the same text. Some that can't be are taken for such that can. */
function canEqual(one: Segment, other: Segment): boolean {
  if (one.end === undefined && other.end === undefined) return one.start === other.start;
  if (one.end === undefined || (other.end !== undefined && one.start.length < other.start.length))
    return canEqual(other, one);
  if (other.end === undefined) {
    const key = other.start.slice(one.start.length, other.start.length - one.end.length);
    return key !== '' && isKey(key) && other.start === one.start + key + one.end;
  }
  // The longer start is that of the first. Its key begins within the other's.
  if (!one.start.startsWith(other.start)) return false;
  const [longer, shorter] = one.end.length < other.end.length ? [other.end, one.end] : [one.end, other.end];
  if (!longer.endsWith(shorter)) return false;
  const isWithin = one.end.length >= other.end.length || one.start === other.start;
  const more = one.start.slice(other.start.length) + longer.slice(0, longer.length - shorter.length);
  return !isWithin || isKey(more);
}

type Located = Pick<PublishedRoute, 'file' | 'class'>;

/**
 * Whether no file of a route can be one of another, or a compressed sibling or folder of it.
 * @param others compared with the routes, and not among themselves
 */
export function areApart(routes: readonly Located[], others: readonly Located[]): boolean {
  const all = [...routes, ...others].map((route) => {
    // `{path}` stands for anything in a folder, which must be apart as a whole.
    const file = route.file.replace(/\/\{path\}$/, '');
    const suffixes = Number.isFinite(siblingsFrom(route)) ? CODINGS.map(({ suffix }) => suffix) : [];
    return { file: segmentsOf(file), files: ['', ...suffixes].map((suffix) => segmentsOf(file + suffix)) };
  });
  return all.every(({ files }, index) =>
    all.every(
      ({ file }, at) =>
        at === index ||
        (index >= routes.length && at >= routes.length) ||
        // A file is in the way of the same file, and of files in a folder of its name.
        !files.some(
          (segments) =>
            segments.length <= file.length &&
            segments.every((segment, depth) => canEqual(segment, file[depth] ?? segment)),
        ),
    ),
  );
}
