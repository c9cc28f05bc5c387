/**
 * Whether templates of files keep out of each other's way. Each has one parameter at most, and
 * perhaps `{path}` at its end.
 */
import { CODINGS, siblingsFrom } from '../tree/codings.js';
import type { PublishedRoute } from '../tree/published-routes.js';

/** Stands for a parameter: no file name has it. */
const KEY = '\0';
/** What the texts of keys consist of: decimal or hexadecimal digits, and the hyphens of months. */
const KEY_CHARACTERS = /^[\da-f-]*$/;
const NO_KEY_CHARACTER = /[^\da-f-]/;

/** `{path}` stands for anything in a folder, so the folder must be apart. */
const marked = (template: string): string => template.replace(/\/\{path\}$/, '').replace(/\{\w+\}/, KEY);

const isKey = (text: string): boolean => KEY_CHARACTERS.test(text);

/** Whether one of two texts begins with the other, and goes on with what a key may consist of. */
const extendStart = (one: string, other: string): boolean =>
  one.length < other.length
    ? other.startsWith(one) && isKey(other.slice(one.length))
    : one.startsWith(other) && isKey(one.slice(other.length));

/** The same of their ends. */
const extendEnd = (one: string, other: string): boolean =>
  one.length < other.length
    ? other.endsWith(one) && isKey(other.slice(0, other.length - one.length))
    : one.endsWith(other) && isKey(one.slice(0, one.length - other.length));

/** A marked template: what is before its parameter, and what is after it, if it has one. */
interface Name {
  readonly start: string;
  readonly end: string | undefined;
}
type WithKey = Name & { readonly end: string };

function nameOf(text: string): Name {
  const [start = '', end] = text.split(KEY);
  return { start, end };
}

const hasKey = (name: Name): name is WithKey => name.end !== undefined;

/** Whether two names can be the same text; a key is one or more characters. */
function canEqual(one: Name, other: Name): boolean {
  if (!hasKey(one)) return hasKey(other) ? canBe(other, one.start) : one.start === other.start;
  if (!hasKey(other)) return canBe(one, other.start);
  const overlap = extendEnd(one.end, other.end) && extendStart(one.start, other.start);
  return overlap || canPrecede(one, other) || canPrecede(other, one);
}

const canBe = ({ start, end }: WithKey, text: string): boolean =>
  text.length > start.length + end.length &&
  text.endsWith(end) &&
  text.startsWith(start) &&
  isKey(text.slice(start.length, text.length - end.length));

/**
 * Whether two names can be the same text in which the key of one ends before that of the other
 * begins, as `1x2` is both `{id}x2` and `1x{id}`.
 */
function canPrecede(one: WithKey, other: WithKey): boolean {
  if (!one.end.endsWith(other.end) || !other.start.startsWith(one.start)) return false;
  const keyAndText = other.start.slice(one.start.length);
  const textAndKey = one.end.slice(0, one.end.length - other.end.length);
  // The text between the keys has a character that no key has, or the keys could overlap as well.
  const before = textAndKey.search(NO_KEY_CHARACTER);
  const at = keyAndText.search(NO_KEY_CHARACTER) - before;
  const text = keyAndText.slice(at);
  const isBetween = before >= 0 && at > 0 && textAndKey.startsWith(text);
  return isBetween && textAndKey.length > text.length && isKey(textAndKey.slice(text.length));
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
