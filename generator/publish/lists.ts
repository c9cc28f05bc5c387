/**
 * The lists of what is published: for each route a folder of text files with a line `SHA256  path` for
 * each of its files, as sha256sum writes and checks them. A build renders everything, compares it with
 * these lists and writes the next ones. The routes are those of the published snapshot.json.
 */
import { createHash } from 'node:crypto';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { namesIn } from '../base/files.js';
import { keyForm, type KeyRange } from '../routes/keys.js';
import { halves } from '../routes/route.js';
import { aliasOf, hasDocuments, isOfCommit, pagesOf, type PublishedRoute } from '../tree/published-routes.js';

/** The range of all keys. */
export const ALL_KEYS: KeyRange = { low: 0, high: Number.MAX_SAFE_INTEGER };

/** The templates of aliases. The texts that fill them are in the lists alone. */
export interface AliasPlace {
  readonly path: string;
  readonly file: string;
}

/**
 * A route that has lists: with the paths of pages that exist only along with a document of the route, and the place
 * of aliases. An alias has a line after that of its document.
 */
export type ListedRoute = PublishedRoute & {
  readonly pages: readonly string[];
  readonly alias?: AliasPlace;
};

/** The routes whose files are listed. */
export const listedRoutes = (table: readonly PublishedRoute[]): readonly ListedRoute[] =>
  table
    .filter((route) => hasDocuments(route) || isOfCommit(route))
    .map((route) => {
      const { name, path, file, class: cacheClass, parameters } = route;
      const alias = aliasOf(route, table);
      return {
        name,
        path,
        file,
        class: cacheClass,
        ...(parameters && { parameters }),
        pages: pagesOf(route, table),
        ...(alias && { alias: { path: alias.path, file: alias.file } }),
      };
    });

const HASH_DIGITS = 64;
const SEPARATOR = '  ';

/** The name of the list that begins at a key: 16 digits have room for any. */
export const listName = (low: number): string => `${String(low).padStart(16, '0')}.sha256`;

const isList = (name: string): boolean => /^\d{16}\.sha256$/.test(name);

/** The line of a file. @param sum SHA-256 of its content, in hex */
export const lineOf = (sum: string, file: string): string => `${sum}${SEPARATOR}${file}\n`;

/** The lists of a folder of a route, in the order of their keys. */
const listsIn = (folder: string): readonly string[] => namesIn(folder).filter(isList);

/** Writes a list of a route's files. @param lines at least one */
export function writeList(lists: string, route: string, low: number, lines: readonly string[]): void {
  const folder = join(lists, route);
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, listName(low)), lines.join(''), 'latin1');
}

/** Whether the files of a route have the names that they had. */
export const isSamePlace = (now: ListedRoute, before: ListedRoute): boolean =>
  now.name === before.name &&
  now.path === before.path &&
  now.file === before.file &&
  now.class === before.class &&
  // A list from before there were aliases has no place for them.
  (before.alias === undefined || before.alias.file === now.alias?.file);

/** A file in a list. */
export interface Listed {
  readonly key: number;
  /** SHA-256 in hex. */
  readonly sum: string;
  readonly file: string;
  /** The file of its alias, if it has one. */
  readonly alias?: string;
}

/** The key of a route's file. */
export function keyIn({ file: template }: PublishedRoute): (file: string) => number {
  const [before = '', parameter, after = ''] = template.split(/\{(\w+)\}/);
  if (parameter === undefined) return () => 0;
  const { keyOf } = keyForm(parameter);
  return (file) => keyOf(file.slice(before.length, file.length - after.length));
}

/** The files of a route in a range of keys, ascending. */
export function* listedFiles(
  lists: string,
  route: PublishedRoute & Pick<ListedRoute, 'alias'>,
  { low, high }: KeyRange = ALL_KEYS,
): Generator<Listed, void, undefined> {
  const keyOf = keyIn(route);
  const folder = join(lists, route.name);
  const names = listsIn(folder);
  const start = HASH_DIGITS + SEPARATOR.length;
  const [aliasStart] = route.alias === undefined ? [] : halves(route.alias.file);
  const first = names.findLastIndex((name) => name <= listName(low));
  for (const name of names.slice(Math.max(first, 0))) {
    if (name > listName(high)) return;
    const text = readFileSync(join(folder, name), 'latin1');
    for (let at = 0; at < text.length;) {
      const sum = text.slice(at, at + HASH_DIGITS);
      let end = text.indexOf('\n', at);
      const file = text.slice(at + start, end);
      const key = keyOf(file);
      if (key > high) return;
      at = end + 1;
      if (aliasStart === undefined || !text.startsWith(aliasStart, at + start)) {
        if (key >= low) yield { key, sum, file };
        continue;
      }
      end = text.indexOf('\n', at);
      if (key >= low) yield { key, sum, file, alias: text.slice(at + start, end) };
      at = end + 1;
    }
  }
}

/** The paths of some routes' lists, in order. */
export function* listPaths(lists: string, routes: Iterable<string>): Generator<string> {
  for (const name of routes) for (const list of listsIn(join(lists, name))) yield join(lists, name, list);
}

/** The SHA-256 of some routes' lists, one after the other, in hex. Where a list ends and the next begins doesn't matter. */
export const sumOfLists = (lists: string, routes: Iterable<string>): string =>
  sumOfFiles(listPaths(lists, routes));

/** The SHA-256 of the names and contents of all lists in a folder, in hex. */
export function sumOfAll(lists: string): string {
  const paths = [...listPaths(lists, namesIn(lists))];
  return sumOfFiles(paths, paths.map((path) => relative(lists, path)).join('\n'));
}

function sumOfFiles(paths: Iterable<string>, prefix = ''): string {
  const digest = createHash('sha256').update(prefix);
  for (const path of paths) digest.update(readFileSync(path));
  return digest.digest('hex');
}
