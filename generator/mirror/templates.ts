/**
 * Whether templates of files keep out of each other's way. Each has one parameter at most, and
 * perhaps `{path}` at its end.
 */
import { CODINGS, siblingsFrom } from '../publish/codings.js';
import type { PublishedRoute } from '../publish/snapshot-json.js';

/** Stands for a parameter: no file name has it. */
const KEY = '\0';
/** What the texts of keys consist of: decimal or hexadecimal digits, and the hyphens of months. */
const KEY_CHARACTER = /^[\da-f-]$/;

/** `{path}` stands for anything in a folder, so the folder must be apart. */
const marked = (template: string): string => template.replace(/\/\{path\}$/, '').replace(/\{\w+\}/, KEY);

/** Whether two marked templates can be the same text; a key is one or more characters. */
function canEqual(one: string, other: string): boolean {
  const [first, second] = [one[0], other[0]];
  if (first === undefined || second === undefined) return one === other;
  if (first !== second && !isKeyOf(first, second) && !isKeyOf(second, first)) return false;
  const [rest, otherRest] = [one.slice(1), other.slice(1)];
  return (
    canEqual(rest, otherRest) ||
    (first === KEY && canEqual(one, otherRest)) ||
    (second === KEY && canEqual(rest, other))
  );
}

const isKeyOf = (mark: string, character: string): boolean => mark === KEY && KEY_CHARACTER.test(character);

/** The folders above a file. */
const foldersOf = (file: string): readonly string[] => {
  const parts = file.split('/').slice(0, -1);
  return parts.map((_, index) => parts.slice(0, index + 1).join('/'));
};

type Located = Pick<PublishedRoute, 'file' | 'class'>;

const occupiedBy = (route: Located) => {
  const file = marked(route.file);
  const suffixes = Number.isFinite(siblingsFrom(route)) ? CODINGS.map(({ suffix }) => suffix) : [];
  return { file, names: [file, ...suffixes.map((suffix) => file + suffix), ...foldersOf(file)] };
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
