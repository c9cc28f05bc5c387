/**
 * Whether templates of files keep out of each other's way. Each has one parameter at most, and
 * perhaps `{path}` at its end.
 */
import { CODINGS, siblingsFrom } from '../publish/codings.js';
import type { PublishedRoute } from '../publish/snapshot-json.js';

/** Stands for a parameter: no file name has it. */
const KEY = '\0';
/** What the texts of keys consist of: decimal or hexadecimal digits, and the hyphens of months. */
const KEY_CHARACTERS = /^[\da-f-]*$/;

/** `{path}` stands for anything in a folder, so the folder must be apart. */
const marked = (template: string): string => template.replace(/\/\{path\}$/, '').replace(/\{\w+\}/, KEY);

const isKey = (text: string): boolean => KEY_CHARACTERS.test(text);

/** Whether one of two texts begins with the other, and goes on with what a key may consist of. */
const extend = (one: string, other: string): boolean =>
  one.length < other.length
    ? other.startsWith(one) && isKey(other.slice(one.length))
    : one.startsWith(other) && isKey(one.slice(other.length));

const reversed = (text: string): string => text.split('').toReversed().join('');

/** Whether two names can be the same text; a key is one or more characters. */
function canEqual(one: Name, other: Name): boolean {
  if (one.end === undefined && other.end === undefined) return one.start === other.start;
  if (one.end === undefined) return canEqual(other, one);
  if (other.end !== undefined) return extend(one.start, other.start) && extend(one.end, other.end);
  const { start } = one;
  const [text, end] = [other.start, reversed(one.end)];
  return (
    text.length > start.length + end.length &&
    text.startsWith(start) &&
    text.endsWith(end) &&
    isKey(text.slice(start.length, text.length - end.length))
  );
}

/** A marked template: what is before its parameter, and reversed what is after it, if it has one. */
interface Name {
  readonly start: string;
  readonly end: string | undefined;
}

function nameOf(text: string): Name {
  const [start = '', end] = text.split(KEY);
  return { start, end: end === undefined ? undefined : reversed(end) };
}

/** The folders above a file. */
const foldersOf = (file: string): readonly string[] => {
  const parts = file.split('/').slice(0, -1);
  return parts.map((_, index) => parts.slice(0, index + 1).join('/'));
};

type Located = Pick<PublishedRoute, 'file' | 'class'>;

const occupiedBy = (route: Located) => {
  const file = marked(route.file);
  const suffixes = Number.isFinite(siblingsFrom(route)) ? CODINGS.map(({ suffix }) => suffix) : [];
  const names = [file, ...suffixes.map((suffix) => file + suffix), ...foldersOf(file)];
  return { file: nameOf(file), names: names.map(nameOf) };
};

/**
 * Whether no file of a route can be one of another, or a compressed sibling or folder of it.
 * @param others compared with the routes, and not among themselves
 */
export function areApart(routes: readonly Located[], others: readonly Located[]): boolean {
  const occupied = [...routes, ...others].map(occupiedBy);
  const isOther = (index: number): boolean => index >= routes.length;
  return occupied.every((one, index) =>
    occupied.every(
      (two, at) =>
        at === index ||
        (isOther(index) && isOther(at)) ||
        !two.names.some((name) => canEqual(one.file, name)),
    ),
  );
}
