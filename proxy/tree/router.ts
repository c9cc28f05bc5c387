import { LRUCache } from 'lru-cache';

import type {
  ErrorCode,
  PathParameter,
  QueryParameter,
  RequestError,
  RouteDeclaration,
  Snapshot,
} from './schema.js';
import { NOTHING_HERE, parseTarget, type Refusal } from './target.js';

/**
 * Resolves a request target to a file, by the route table of a snapshot. Pure: no file is accessed,
 * and only the files of routes can result. The schema has rejected those outside the tree.
 */

/** A flat list of name, value, name, value …, which response.writeHead does not inspect. */
export type HeaderList = readonly string[];

/** A route, with the headers of its 200, 206 and 304, and those of the content, which a 304 lacks. */
export interface Route {
  readonly declaration: RouteDeclaration;
  readonly headers: HeaderList;
  readonly contentHeaders: HeaderList;
  /** The route whose document, with the same parameters, must exist as well. */
  readonly required: RouteDeclaration | undefined;
}

/** A file of the tree, which may not exist. */
export interface FileMatch {
  readonly kind: 'file';
  readonly path: string;
  readonly route: Route;
  /** Relative to the tree's root. */
  readonly file: string;
  /** Whether it has compressed siblings if it is large: of the values of a query parameter, only for the default. */
  readonly isCompressed: boolean;
  /** The file of the document that must exist as well, and the headers that name it. */
  readonly required: { readonly file: string; readonly headers: HeaderList } | undefined;
  /** The detail of a 404 without that document, or without the file if the route needs none. */
  readonly absent: string;
}

interface RouteRefusal extends Refusal {
  /** The route that matched, but for a parameter. */
  readonly route?: Route;
}

interface Redirect {
  readonly kind: 'redirect';
  readonly path: string;
  /** The other path, with those parameters of the query that it takes. */
  readonly location: string;
  readonly takesToken: boolean;
}

/** The result for a request target. `path` is the path as received, for the error's `instance`. */
export type RouteMatch = FileMatch | RouteRefusal | Redirect;

const MAX_MATCHES = 4_000;
const KEPT_TARGET_MAX_LENGTH = 256;

const PLACEHOLDER = /\{([a-z_]+)\}/g;
/** The length of a path without its parameters. */
const literalLength = ({ path }: RouteDeclaration): number => path.replaceAll(PLACEHOLDER, '').length;

/** The routes of a snapshot. */
export class Router {
  readonly #literals = new Map<string, Route>();
  /** In the order in which they are tried: the most literal text first. */
  readonly #patterns: { readonly pattern: RegExp; readonly route: Route }[] = [];
  /** Paths that lead to others, at no cost. */
  readonly #redirects: ReadonlyMap<string, string>;
  /** Recent matches, since parsing costs a tenth of a request; no errors, since clients can make any number. */
  readonly #matches = new LRUCache<string, FileMatch>({ max: MAX_MATCHES });

  /** @param headersFor the headers of a route's content */
  constructor(
    { routes, redirects, errors }: Pick<Snapshot, 'routes' | 'redirects' | 'errors'>,
    headersFor: (route: RouteDeclaration) => HeaderList = () => [],
  ) {
    this.#redirects = new Map(redirects.map(({ path, to }) => [path, to]));
    for (const declaration of routes.toSorted((a, b) => literalLength(b) - literalLength(a))) {
      const { path, type, attachment, headers, requires } = declaration;
      // The page of a 404 has that status at its own path, too.
      if (path === errors.not_found.page) continue;
      const disposition =
        attachment === undefined ? [] : ['Content-Disposition', `attachment; filename="${attachment}"`];
      const route = {
        declaration,
        headers: headersFor(declaration),
        contentHeaders: ['Content-Type', type, ...disposition, ...Object.entries(headers).flat()],
        required: routes.find(({ name }) => name === requires),
      };
      const source = path.replaceAll('.', String.raw`\.`).replaceAll(PLACEHOLDER, '(?<$1>[^/]*)');
      if (path.includes('{')) this.#patterns.push({ pattern: new RegExp(`^${source}$`), route });
      else this.#literals.set(path, route);
    }
  }

  /** @param target request.url, raw */
  match(target: string): RouteMatch {
    const known = this.#matches.get(target);
    if (known !== undefined) return known;
    const match = this.#resolve(target);
    if (match.kind === 'file' && target.length <= KEPT_TARGET_MAX_LENGTH) this.#matches.set(target, match);
    return match;
  }

  #resolve(target: string): RouteMatch {
    const parsed = parseTarget(target);
    if (parsed.kind === 'refusal') return parsed;
    const { path, query } = parsed;
    if (parsed.kind === 'redirect') {
      const location = parsed.location + this.#keptQuery(parsed.location, query);
      return { kind: 'redirect', path, location, takesToken: true };
    }
    const { decoded } = parsed;
    const location = this.#redirects.get(path);
    if (location !== undefined) return { kind: 'redirect', path, location, takesToken: false };
    const literal = this.#literals.get(decoded);
    if (literal !== undefined) return resolveParameters(literal, path, {}, query);
    for (const { pattern, route } of this.#patterns) {
      const match = pattern.exec(decoded);
      if (match !== null) return resolveParameters(route, path, match.groups ?? {}, query);
    }
    return { kind: 'refusal', path, code: 'not_found', detail: NOTHING_HERE };
  }

  /** The parameters of a query that a path takes. Caches keep a redirect for everybody, so it has no others. */
  #keptQuery(location: string, query: string): string {
    const match = this.#resolve(location);
    const kept = new URLSearchParams();
    for (const { in: place, name } of match.kind === 'file' ? match.route.declaration.parameters : [])
      if (place === 'query')
        for (const value of new URLSearchParams(`?${query}`).getAll(name)) kept.append(name, value);
    return kept.size === 0 ? '' : `?${kept.toString()}`;
  }
}

/** The file of a route for the values of its parameters, or what is wrong with one of them. */
function resolveParameters(
  route: Route,
  path: string,
  groups: Readonly<Record<string, string>>,
  query: string,
): FileMatch | RouteRefusal {
  const { declaration, required } = route;
  const values = new Map<string, string>();
  // Downloads are published compressed as well, at URLs of their own.
  let isCompressed = declaration.class !== 'download';
  for (const parameter of declaration.parameters) {
    const value = parameter.in === 'path' ? readPath(parameter, groups) : readQuery(parameter, query);
    if (typeof value !== 'string') return { kind: 'refusal', path, route, ...value };
    values.set(parameter.name, value);
    if (parameter.in === 'query' && value !== String(parameter.default)) isCompressed = false;
  }
  const fill = (template: string): string =>
    values.size === 0
      ? template
      : template.replaceAll(PLACEHOLDER, (placeholder, name: string) => values.get(name) ?? placeholder);
  const link = (to: RouteDeclaration): string =>
    `<${fill(to.path)}>; rel="alternate"; type="${to.type.replace(/;.*/, '')}"`;
  return {
    kind: 'file',
    path,
    route,
    file: fill(declaration.file),
    isCompressed,
    required: required && { file: fill(required.file), headers: ['Link', link(required)] },
    absent: fill(declaration.absent ?? NOTHING_HERE),
  };
}

/** A parameter's value, or what is wrong with it. */
type Value = string | RequestError;

const DECIMAL = /^(?:0|[1-9][0-9]*)$/;
const PREFIX = /^[0-9a-f]{1,16}$/;
/** A part of a file's name as it is, so it has no ending that static hosts would take for another file. */
const PLATFORM_ID = /^(?!\.)(?!.*\.(?:json|gz|br|html)$)[\w.-]{1,100}$/;
const ASSET = /^[a-z][a-z0-9-]*-[0-9a-f]{10}$/;

/** Reads a value that becomes part of a file's name: only these forms can lead to a file. */
function readPath({ name, type }: PathParameter, groups: Readonly<Record<string, string>>): Value {
  const value = groups[name] ?? '';
  const refuse = (code: ErrorCode, expected: string): Value => ({
    code,
    detail: `${name} ${quote(value)}: expected ${expected}`,
  });
  switch (type) {
    case 'id': {
      if (DECIMAL.test(value) && Number.isSafeInteger(Number(value))) return value;
      const expected = `decimal digits without a sign or leading zero, at most ${Number.MAX_SAFE_INTEGER}`;
      return refuse('invalid_id', expected);
    }
    case 'prefix':
      return PREFIX.test(value) ? value : refuse('invalid_prefix', '1 to 16 lower-case hexadecimal digits');
    case 'platform_id': {
      const expected =
        '1 to 100 letters, digits, ".", "_" and "-", not beginning with "." or ending in .json, .gz, .br or .html';
      return PLATFORM_ID.test(value) ? value : refuse('invalid_id', expected);
    }
    case 'asset':
      return ASSET.test(value) ? value : { code: 'not_found', detail: NOTHING_HERE };
  }
}

function readQuery({ name, minimum, maximum, default: usual }: QueryParameter, query: string): Value {
  // URLSearchParams drops one leading "?"; any other belongs to the first name.
  const given = new URLSearchParams(`?${query}`).getAll(name);
  const [text = String(usual)] = given;
  const isOne = given.length <= 1 && DECIMAL.test(text);
  if (isOne && Number(text) >= minimum && Number(text) <= maximum) return text;
  const what = given.length > 1 ? `given ${given.length} times` : quote(text);
  const detail = `${name} ${what}: expected one integer from ${minimum} to ${maximum} in plain decimal digits`;
  return { code: 'invalid_limit', detail };
}

/** Longer values are cut in errors. */
export const QUOTED_MAX_LENGTH = 100;

function quote(value: string): string {
  if (value.length <= QUOTED_MAX_LENGTH) return `"${value}"`;
  // Without half a surrogate pair.
  return `"${value.slice(0, QUOTED_MAX_LENGTH).replace(/[\ud800-\udbff]$/, '')}…"`;
}
