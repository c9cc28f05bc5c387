import { LRUCache } from 'lru-cache';

import type { BucketName } from '../limiter/gcra.js';
import {
  malformed,
  type CacheClass,
  type ErrorCode,
  type PathParameter,
  type QueryParameter,
  type RouteDeclaration,
  type Snapshot,
} from './schema.js';
import { NOTHING_HERE, parseTarget, type RedirectedTarget, type RefusedTarget } from './target.js';

/**
 * Resolves a request target to a file, by the route table of a snapshot. Pure: no file is accessed,
 * and only the files of routes can result. The schema has rejected those outside the tree.
 */

/** A flat list of name, value, name, value …, which response.writeHead does not inspect. */
export type HeaderList = readonly string[];

/** The values of a route's parameters, by name. */
type ParameterValues = ReadonlyMap<string, string>;
type Template = (values: ParameterValues) => string;

/** A compiled route. */
export interface Route {
  readonly name: string;
  readonly class: CacheClass;
  readonly bucket: BucketName;
  /** Whether people open it. */
  readonly isPage: boolean;
  /** All that is known of the headers of its 200, 206 and 304 before a request arrives. */
  readonly headers: HeaderList;
  /** Those that describe the content itself, which a 304 lacks. */
  readonly contentHeaders: HeaderList;
  readonly pathParameters: readonly PathParameter[];
  readonly queryParameters: readonly QueryParameter[];
  readonly file: Template;
  readonly required: { readonly file: Template; readonly link: Template } | undefined;
  readonly absent: Template;
}

/** A file of the tree, which may not exist. */
export interface FileMatch {
  readonly kind: 'file';
  readonly path: string;
  readonly route: Route;
  /** Relative to the tree's root. */
  readonly file: string;
  /** The file of the document that must exist as well, and the headers that name it. */
  readonly required: { readonly file: string; readonly headers: HeaderList } | undefined;
  /** The detail of a 404 without that document, or without the file if the route needs none. */
  readonly absent: string;
}

export interface Refusal extends RefusedTarget {
  /** The route whose parameter was invalid, if one matched. */
  readonly route?: Route;
}

/** A path that leads to another one. */
export interface Redirect {
  readonly kind: 'redirect';
  readonly path: string;
  /** The path, and what it takes of the query. */
  readonly location: string;
  readonly takesToken: boolean;
}

/** The result for a request target. `path` is the path as received, for the error's `instance`. */
export type RouteMatch = FileMatch | Refusal | Redirect;

const MAX_MATCHES = 4_000;
const KEPT_TARGET_MAX_LENGTH = 256;

/** The routes of a snapshot. */
export class Router {
  readonly #literals = new Map<string, Route>();
  /** In the order in which they are tried: those with the most literal text first. */
  readonly #patterns: { readonly path: RegExp; readonly route: Route }[] = [];
  /** Paths that lead to others, at no cost. */
  readonly #redirects: ReadonlyMap<string, string>;
  /**
   * Recent matches, since parsing a target costs a tenth of a request. Errors, which clients can
   * produce in any number, and long targets are not kept.
   */
  readonly #matches = new LRUCache<string, FileMatch>({ max: MAX_MATCHES });

  /**
   * @param headersFor the headers of a route's content
   * @throws SnapshotError for a table that names a file outside the tree, or is ambiguous
   */
  constructor(
    { routes, redirects, errors }: Pick<Snapshot, 'routes' | 'redirects' | 'errors'>,
    headersFor: (route: RouteDeclaration) => HeaderList = () => [],
  ) {
    this.#redirects = new Map(redirects.map(({ path, to }) => [path, to]));
    for (const declaration of routes) {
      // The page of a 404 has that status at its own path, too.
      if (declaration.path === errors.not_found.page) continue;
      try {
        this.#add(declaration, compileRoute(declaration, routes, headersFor(declaration)));
      } catch (error) {
        const problem = error instanceof Error ? error.message : String(error);
        throw malformed(`: route "${declaration.name}": ${problem}`);
      }
    }
    this.#patterns.sort((a, b) => literalLength(b.path) - literalLength(a.path));
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
    if (parsed.kind === 'redirect') return this.#redirect(parsed);
    const { path, decoded, query } = parsed;
    const location = this.#redirects.get(path);
    if (location !== undefined) return { kind: 'redirect', path, location, takesToken: false };
    const literal = this.#literals.get(decoded);
    if (literal !== undefined) return resolveValues(literal, path, [], query);
    for (const { path: pattern, route } of this.#patterns) {
      const values = pattern.exec(decoded);
      if (values !== null) return resolveValues(route, path, values.slice(1), query);
    }
    return { kind: 'refusal', path, code: 'not_found', detail: NOTHING_HERE };
  }

  /** Caches keep a redirect for everybody, so of one visitor's query it has only what its path takes. */
  #redirect({ path, location, query }: RedirectedTarget): Redirect {
    const match = this.#resolve(location);
    const taken = match.kind === 'file' ? match.route.queryParameters : [];
    const kept = new URLSearchParams();
    for (const { name } of taken)
      for (const value of new URLSearchParams(`?${query}`).getAll(name)) kept.append(name, value);
    const rest = kept.size === 0 ? '' : `?${kept.toString()}`;
    return { kind: 'redirect', path, location: location + rest, takesToken: true };
  }

  #add({ path }: RouteDeclaration, route: Route): void {
    const source = path.replaceAll('.', String.raw`\.`).replaceAll(PLACEHOLDER, ANY_VALUE);
    const pattern = new RegExp(`^${source}$`);
    const present =
      this.#literals.get(path) ?? this.#patterns.find((each) => each.path.source === pattern.source)?.route;
    if (present !== undefined) throw new Error(`path "${path}" is route "${present.name}" already`);
    if (this.#redirects.has(path)) throw new Error(`its path "${path}" is a redirect`);
    if (route.pathParameters.length === 0) this.#literals.set(path, route);
    else this.#patterns.push({ path: pattern, route });
  }
}

/** Whether a route's content is an HTML page. */
export function isPage({ class: cacheClass, type }: RouteDeclaration): boolean {
  return cacheClass === 'page' && type.startsWith('text/html');
}

const PLACEHOLDER = /\{([a-z_]+)\}/g;
const ANY_VALUE = '([^/]*)';

/** How much of a path is no parameter. */
const literalLength = ({ source }: RegExp): number => source.replaceAll(ANY_VALUE, '').length;

/** @throws Error if a template names a parameter that is not declared */
function compileRoute(
  declaration: RouteDeclaration,
  table: readonly RouteDeclaration[],
  headers: HeaderList,
): Route {
  const { path, type, attachment, parameters, requires } = declaration;
  const declared = parameters.filter((parameter) => parameter.in === 'path');
  const pathParameters = [...path.matchAll(PLACEHOLDER)].map(([placeholder, name]) => {
    const parameter = declared.find((candidate) => candidate.name === name);
    if (parameter === undefined) throw new Error(`path "${path}": "${placeholder}" is no declared parameter`);
    return parameter;
  });
  if (pathParameters.length !== declared.length)
    throw new Error(`path "${path}": lacks a declared parameter`);
  const compileFile = (template: string): Template => {
    for (const [placeholder, name] of template.matchAll(PLACEHOLDER)) {
      if (!parameters.some((parameter) => parameter.name === name))
        throw new Error(`file "${template}": "${placeholder}" is no declared parameter`);
    }
    return compileTemplate(template);
  };
  const required = table.find((candidate) => candidate.name === requires);
  if (requires !== undefined && (required === undefined || required.requires !== undefined)) {
    throw new Error(`requires "${requires}": expected a route with documents`);
  }
  const disposition =
    attachment === undefined ? [] : ['Content-Disposition', `attachment; filename="${attachment}"`];
  return {
    name: declaration.name,
    class: declaration.class,
    bucket: declaration.bucket,
    isPage: isPage(declaration),
    headers,
    contentHeaders: ['Content-Type', type, ...disposition, ...Object.entries(declaration.headers).flat()],
    pathParameters,
    queryParameters: parameters.filter((parameter) => parameter.in === 'query'),
    file: compileFile(declaration.file),
    required: required && {
      file: compileFile(required.file),
      link: compileTemplate(
        `<${required.path}>; rel="alternate"; type="${required.type.replace(/;.*/, '')}"`,
      ),
    },
    absent: compileTemplate(declaration.absent ?? NOTHING_HERE),
  };
}

function compileTemplate(template: string): Template {
  if (!template.includes('{')) return () => template;
  return (values) =>
    template.replaceAll(PLACEHOLDER, (placeholder, name: string) => values.get(name) ?? placeholder);
}

const DECIMAL = /^(?:0|[1-9][0-9]*)$/;

/** The file of a route for the values of its parameters, or what is wrong with these. */
function resolveValues(
  route: Route,
  path: string,
  texts: readonly string[],
  query: string,
): FileMatch | Refusal {
  const refuse = (code: ErrorCode, detail: string): Refusal => ({
    kind: 'refusal',
    path,
    route,
    code,
    detail,
  });
  const values = new Map<string, string>();
  for (const [index, { name, type }] of route.pathParameters.entries()) {
    const value = texts[index] ?? '';
    const { isValid, error } = PATH_VALUES[type];
    if (!isValid(value)) {
      if (error === undefined) return refuse('not_found', NOTHING_HERE);
      return refuse(error.code, `${name} ${quote(value)}: expected ${error.expected}`);
    }
    values.set(name, value);
  }
  for (const { name, minimum, maximum, default: usual } of route.queryParameters) {
    // URLSearchParams drops one leading "?"; any other belongs to the first name.
    const given = new URLSearchParams(`?${query}`).getAll(name);
    const [text = String(usual)] = given;
    if (given.length > 1 || !DECIMAL.test(text) || Number(text) < minimum || Number(text) > maximum) {
      const what = given.length > 1 ? `given ${given.length} times` : quote(text);
      const detail = `${name} ${what}: expected one integer from ${minimum} to ${maximum} in plain decimal digits`;
      return refuse('invalid_limit', detail);
    }
    values.set(name, text);
  }
  const required = route.required && {
    file: route.required.file(values),
    headers: ['Link', route.required.link(values)],
  };
  return { kind: 'file', path, route, file: route.file(values), required, absent: route.absent(values) };
}

interface PathValues {
  readonly isValid: (text: string) => boolean;
  /** The error for other values; without one, they name nothing that could be there. */
  readonly error?: { readonly code: ErrorCode; readonly expected: string };
}

/** The values of path parameters, by type. */
const PATH_VALUES: Readonly<Record<PathParameter['type'], PathValues>> = {
  id: {
    isValid: (text) => DECIMAL.test(text) && Number.isSafeInteger(Number(text)),
    error: {
      code: 'invalid_id',
      expected: `decimal digits without a sign or leading zero, at most ${Number.MAX_SAFE_INTEGER}`,
    },
  },
  prefix: {
    isValid: (text) => /^[0-9a-f]{1,16}$/.test(text),
    error: { code: 'invalid_prefix', expected: '1 to 16 lower-case hexadecimal digits' },
  },
  /** A part of a path and of a file's name as it is, so no text that hosts would take for another file. */
  platform_id: {
    isValid: (text) => /^(?!\.)[\w.-]{1,100}$/.test(text) && !/\.(?:json|gz|br|html)$/.test(text),
    error: {
      code: 'invalid_id',
      expected:
        '1 to 100 letters, digits, ".", "_" and "-", not beginning with "." or ending in .json, .gz, .br or .html',
    },
  },
  /** The name of an asset with a hash of its content. */
  asset: { isValid: (text) => /^[a-z][a-z0-9-]*-[0-9a-f]{10}$/.test(text) },
};

/** Longer values are cut in errors. */
export const QUOTED_MAX_LENGTH = 100;

function quote(value: string): string {
  if (value.length <= QUOTED_MAX_LENGTH) return `"${value}"`;
  // Removes half a surrogate pair.
  return `"${value.slice(0, QUOTED_MAX_LENGTH).replace(/[\ud800-\udbff]$/, '')}…"`;
}
