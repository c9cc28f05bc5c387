/** Finds the route and key of a file, by the templates of the routes. */
import { filler } from '../routes/route.js';
import { keyForm, templatePattern, textPattern } from '../routes/keys.js';
import { CODINGS } from './codings.js';
import { isAlias, type PublishedRoute } from './published-routes.js';

/** `group/{id}.json` -> a pattern whose group `key` is the text of the key. */
const patternOf = (file: string): RegExp =>
  new RegExp(`^${templatePattern(file, (parameter) => `(?<key>${keyForm(parameter).pattern})`)}$`);

/** `group/{id}/history.json` -> patterns of `group` and of `group/{id}`. */
export function folderPatterns(routes: readonly PublishedRoute[]): readonly RegExp[] {
  const folders = routes
    .filter((route) => !isAlias(route))
    .flatMap(({ file }) => {
      const parts = file.split('/').slice(0, -1);
      return parts.map((_, index) => parts.slice(0, index + 1).join('/'));
    });
  return [...new Set(folders)].map(patternOf);
}

/** Where a file belongs: a route, a key of it, and the suffix of a compressed sibling. */
interface Located<R extends PublishedRoute = PublishedRoute> {
  readonly route: R;
  readonly suffix: string;
  readonly key: number;
}

/** Tells whether a file is a further name of a document, or the sibling of one. */
export function aliasPatterns(routes: readonly PublishedRoute[]): (name: string) => boolean {
  const patterns = routes
    .filter(isAlias)
    .map(({ file }) => new RegExp(`^${templatePattern(file, textPattern)}$`));
  return (name) => namesOfDocuments(name).some(([text]) => patterns.some((pattern) => pattern.test(text)));
}

const fileOf = ({ file }: PublishedRoute): string => file;

/**
 * Finds the route of a file, but for aliases: its template, or a sibling's, yields exactly that path.
 * @param templateOf what is matched: with `urlTemplate`, URLs are found instead of files
 */
export function locator<R extends PublishedRoute>(
  routes: readonly R[],
  templateOf: (route: R) => string = fileOf,
): (name: string) => Located<R> | undefined {
  const literals = new Map(routes.map((route) => [templateOf(route), route]));
  const matchers = routes
    .filter((route) => !isAlias(route) && templateOf(route).includes('{'))
    .map((route) => {
      const template = templateOf(route);
      const { keyOf } = keyForm(/\{(\w+)\}/.exec(template)?.[1] ?? '');
      return { route, pattern: patternOf(template), keyOf, nameOf: filler(template) };
    });
  return (name) => {
    for (const [text, suffix] of namesOfDocuments(name)) {
      const literal = literals.get(text);
      if (literal !== undefined) return { route: literal, suffix, key: 0 };
      for (const { route, pattern, keyOf, nameOf } of matchers) {
        const found = pattern.exec(text)?.groups?.['key'];
        if (found === undefined) continue;
        const key = keyOf(found);
        if (Number.isSafeInteger(key) && nameOf(key) === text) return { route, suffix, key };
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
