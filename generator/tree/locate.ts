/** Finds the route and key of a file, by the templates of the routes. */
import { filler } from '../routes/index.js';
import { keyForm } from '../routes/keys.js';
import { CODINGS } from './codings.js';
import { isLog } from './published-routes.js';
import type { PublishedRoute } from './published-routes.js';

interface Matcher {
  readonly route: PublishedRoute;
  readonly pattern: RegExp;
  readonly keyOf: (text: string) => number;
  readonly fileOf: (key: number) => string;
}

/** `group/{id}.json` -> a pattern whose group `key` is the text of the key. */
function patternOf(file: string): RegExp {
  const escaped = file.replaceAll(/[.*+?^$()[\]\\|]/g, String.raw`\$&`);
  const pattern = escaped.replaceAll(
    /\{(\w+)\}/g,
    (_, parameter: string) => `(?<key>${keyForm(parameter).pattern})`,
  );
  return new RegExp(`^${pattern}$`);
}

/** The function from the text of a key in a file's name to the key. */
const keyReader = (file: string): ((text: string) => number) =>
  keyForm(/\{(\w+)\}/.exec(file)?.[1] ?? '').keyOf;

/** `group/{id}/history.json` -> patterns of `group` and of `group/{id}`. */
export function folderPatterns(routes: readonly PublishedRoute[]): readonly RegExp[] {
  const folders = routes.flatMap(({ file }) => {
    const parts = file.split('/').slice(0, -1);
    return parts.map((_, index) => parts.slice(0, index + 1).join('/'));
  });
  return [...new Set(folders)].map(patternOf);
}

/** Where a file belongs: a route, a key of it, and the suffix of a compressed sibling. */
export interface Place {
  readonly route: PublishedRoute;
  readonly suffix: string;
  readonly key: number;
}

/** A file belongs to a route if the route's template, or a sibling's, yields exactly its path. */
export function locator(routes: readonly PublishedRoute[]): (file: string) => Place | undefined {
  const literals = new Map(routes.map((route) => [route.file, route]));
  const matchers = routes
    .filter((route) => route.file.includes('{') && !isLog(route))
    .map((route): Matcher => {
      const { file } = route;
      return { route, pattern: patternOf(file), keyOf: keyReader(file), fileOf: filler(file) };
    });
  return (name) => {
    for (const [file, suffix] of namesOfDocuments(name)) {
      const literal = literals.get(file);
      if (literal !== undefined) return { route: literal, suffix, key: 0 };
      for (const { route, pattern, keyOf, fileOf } of matchers) {
        const text = pattern.exec(file)?.groups?.['key'];
        if (text === undefined) continue;
        const key = keyOf(text);
        if (Number.isSafeInteger(key) && fileOf(key) === file) return { route, suffix, key };
      }
    }
    return undefined;
  };
}

/** The documents a file may belong to: itself, or the one whose compressed sibling it is. */
export function namesOfDocuments(name: string): (readonly [file: string, suffix: string])[] {
  const coding = CODINGS.find(({ suffix }) => name.endsWith(suffix));
  if (coding === undefined) return [[name, '']];
  return [
    [name, ''],
    [name.slice(0, -coding.suffix.length), coding.suffix],
  ];
}
