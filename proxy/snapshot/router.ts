import { LRUCache } from 'lru-cache';

import type { BucketName } from '../limiter/gcra.js';
import type { PathParameter, QueryParameter, RouteDeclaration } from './snapshot.js';
import type { CacheClass, ErrorCode, HeaderList } from './headers.js';
import { PATH_VALUES, expectedInteger, readInteger } from './parameters.js';
import { NOTHING_HERE, parseTarget, type RedirectedTarget } from './request-target.js';
import {
  compileFile,
  compileRequired,
  compileTemplate,
  isSafe,
  type ParameterValues,
  type RequiredDocument,
  type Template,
} from './templates.js';

/**
 * Resolves a request target to a file, by the route table of a snapshot. Pure: no file is accessed,
 * and only the files of routes can result. A table with a file outside the tree is rejected.
 */

/** A parameter, and the error if its value is invalid. */
type Coded<P> = P & { readonly code: ErrorCode };

/** The literal text around a parameter in its segment. */
interface Affixes {
  readonly prefix: string;
  readonly suffix: string;
}

/** A compiled route. */
export interface Route {
  readonly name: string;
  readonly class: CacheClass;
  readonly bucket: BucketName;
  /** Headers that describe the content itself. */
  readonly contentHeaders: HeaderList;
  /** The parameters in the path, and their segments (from 0). */
  readonly pathParameters: readonly (Coded<PathParameter> & Affixes & { readonly segment: number })[];
  readonly queryParameters: readonly Coded<QueryParameter>[];
  /** The file for some parameter values, relative to the tree's root. */
  readonly file: Template;
  /** The document that must exist as well: its file, and its URL as the value of a Link. */
  readonly required: RequiredDocument | undefined;
  /** The detail of a 404 if that document, or the file of a route without one, does not exist. */
  readonly absent: Template;
}

/** A file of the tree, which may not exist. */
export interface FileMatch {
  readonly kind: 'file';
  readonly path: string;
  readonly route: Route;
  readonly values: ParameterValues;
  /** Relative to the tree's root. */
  readonly file: string;
  /** The file of the document that must exist as well, and the headers that name it. */
  readonly required: { readonly file: string; readonly headers: HeaderList } | undefined;
}

export interface Refusal {
  readonly kind: 'refusal';
  readonly path: string;
  /** The route whose parameter was invalid, if one matched. */
  readonly route?: Route;
  readonly code: ErrorCode;
  readonly detail: string;
}

/** The result for a request target. `path` is the path as received, for the error's `instance`. */
export type RouteMatch = FileMatch | Refusal | RedirectedTarget;

/** The routes of a snapshot. */
export interface Router {
  readonly root: RouteNode;
  /** Paths that lead to others, at no cost. */
  readonly redirects: ReadonlyMap<string, string>;
  /**
   * Recent matches, since parsing a target costs a tenth of a request. Errors, which clients can
   * produce in any number, and long targets are not kept.
   */
  readonly matches: LRUCache<string, FileMatch>;
}

/** A tree of routes, by path segment. */
interface RouteNode {
  /** The route that ends here. */
  route: Route | undefined;
  readonly literals: Map<string, RouteNode>;
  /** Segments with a parameter; those with the most literal text come first. */
  readonly parameters: (Affixes & { readonly node: RouteNode })[];
  /** The route of all other paths below. */
  rest: Route | undefined;
}

const MAX_MATCHES = 4_000;
const KEPT_TARGET_MAX_LENGTH = 256;

/** @param target request.url, raw */
export function matchRoute(target: string, { root, matches, redirects }: Router): RouteMatch {
  const known = matches.get(target);
  if (known !== undefined) return known;
  const match = resolveTarget(target, root, redirects);
  if (match.kind === 'file' && target.length <= KEPT_TARGET_MAX_LENGTH) matches.set(target, match);
  return match;
}

function resolveTarget(target: string, root: RouteNode, redirects: Router['redirects']): RouteMatch {
  const parsed = parseTarget(target);
  if (parsed.kind !== 'target') return parsed;
  const { path, segments, query } = parsed;
  const location = redirects.get(path);
  if (location !== undefined) return { kind: 'redirect', path, location, isFree: true };
  const route = findRoute(root, segments, 0);
  if (route === undefined) return { kind: 'refusal', path, code: 'not_found', detail: NOTHING_HERE };
  const values = new Map<string, string>();
  for (const parameter of route.pathParameters) {
    const { segment, prefix, suffix, name, type, code } = parameter;
    const whole = type === 'path' ? segments.slice(segment).join('/') : (segments[segment] ?? '');
    const value = whole.slice(prefix.length, whole.length - suffix.length);
    const { isValid, expected } = PATH_VALUES[type];
    if (!isValid(value)) return { kind: 'refusal', path, route, code, detail: expected(name, value) };
    values.set(name, value);
  }
  if (route.queryParameters.length > 0) {
    // URLSearchParams drops one leading "?"; any other belongs to the first name.
    const given = new URLSearchParams(`?${query ?? ''}`);
    for (const parameter of route.queryParameters) {
      const { name, code } = parameter;
      const texts = given.getAll(name);
      const value = readInteger(parameter, texts);
      if (value === undefined) {
        return { kind: 'refusal', path, route, code, detail: expectedInteger(parameter, texts) };
      }
      values.set(name, value);
    }
  }
  const required = route.required && {
    file: route.required.file(values),
    headers: ['Link', route.required.link(values)],
  };
  return { kind: 'file', path, route, values, file: route.file(values), required };
}

/** Prefers literal segments: /changes/index.json is not a change list with that number. */
function findRoute(node: RouteNode, segments: readonly string[], index: number): Route | undefined {
  const segment = segments[index];
  if (segment === undefined) return node.route;
  const literal = node.literals.get(segment);
  const found = literal && findRoute(literal, segments, index + 1);
  if (found !== undefined) return found;
  for (const { prefix, suffix, node: next } of node.parameters) {
    const isMatch =
      segment.length >= prefix.length + suffix.length &&
      segment.startsWith(prefix) &&
      segment.endsWith(suffix);
    const route = isMatch ? findRoute(next, segments, index + 1) : undefined;
    if (route !== undefined) return route;
  }
  return node.rest;
}

const PARAMETER = /^([^{}]*)\{([a-z][a-z_]*)\}([^{}]*)$/;

/** @throws Error naming the route and what is wrong with it */
export function createRouter(
  declarations: readonly RouteDeclaration[],
  redirects: readonly { readonly path: string; readonly to: string }[],
): Router {
  const router = { ...emptyRouter(), redirects: new Map(redirects.map(({ path, to }) => [path, to])) };
  for (const declaration of declarations) {
    try {
      addRoute(router.root, declaration, declarations);
    } catch (error) {
      const reason = error instanceof Error ? error.message : String(error);
      throw new Error(`route "${declaration.name}": ${reason}`, { cause: error });
    }
    if (router.redirects.has(declaration.path)) {
      throw new Error(`route "${declaration.name}": its path "${declaration.path}" is a redirect`);
    }
  }
  return router;
}

/** A table without routes, as before the first snapshot. */
export function emptyRouter(): Router {
  return { root: emptyNode(), redirects: new Map(), matches: new LRUCache({ max: MAX_MATCHES }) };
}

function emptyNode(): RouteNode {
  return { route: undefined, literals: new Map(), parameters: [], rest: undefined };
}

function addRoute(root: RouteNode, declaration: RouteDeclaration, table: readonly RouteDeclaration[]): void {
  const { name, path, type, attachment, parameters, requires } = declaration;
  const inPath = parameters.filter((parameter) => parameter.in === 'path');
  const inQuery = parameters.filter((parameter) => parameter.in === 'query');
  const pathParameters: Route['pathParameters'][number][] = [];

  if (!path.startsWith('/')) throw new Error(`path "${path}": expected one that starts with "/"`);
  let node = root;
  let end: 'route' | 'rest' = 'route';
  for (const [segment, text] of path.slice(1).split('/').entries()) {
    if (end === 'rest') throw new Error(`path "${path}": expected nothing after the rest of it`);
    const [, prefix = '', parameterName, suffix = ''] = PARAMETER.exec(text) ?? [];
    const literal = parameterName === undefined ? text : `${prefix}0${suffix}`;
    if (path !== '/' && !isSafe(literal, segment)) throw new Error(`path "${path}": expected plain segments`);
    if (parameterName === undefined) {
      node = literalChild(node, text);
      continue;
    }
    const parameter = inPath.find((candidate) => candidate.name === parameterName);
    if (parameter === undefined) throw new Error(`path "${path}": "${text}" is no declared path parameter`);
    const { code } = PATH_VALUES[parameter.type];
    pathParameters.push({ ...parameter, code, prefix, suffix, segment });
    if (parameter.type !== 'path') node = parameterChild(node, { prefix, suffix });
    else if (prefix + suffix === '') end = 'rest';
    else throw new Error(`path "${path}": expected the rest of it in place of whole segments`);
  }
  if (pathParameters.length !== inPath.length) throw new Error(`path "${path}": lacks a declared parameter`);
  const taken = node[end];
  if (taken !== undefined) throw new Error(`path "${path}" is route "${taken.name}" already`);
  const known = new Set(parameters.map((parameter) => parameter.name));
  const disposition =
    attachment === undefined ? [] : ['Content-Disposition', `attachment; filename="${attachment}"`];
  node[end] = {
    name,
    class: declaration.class,
    bucket: declaration.bucket,
    contentHeaders: ['Content-Type', type, ...disposition, ...Object.entries(declaration.headers).flat()],
    pathParameters,
    queryParameters: inQuery.map((parameter) => ({ ...parameter, code: refusalCode(parameter) })),
    file: compileFile(declaration.file, known),
    required: requires === undefined ? undefined : compileRequired(requires, table, known),
    absent: compileTemplate(declaration.absent ?? NOTHING_HERE),
  };
}

function literalChild(node: RouteNode, literal: string): RouteNode {
  const child = node.literals.get(literal) ?? emptyNode();
  node.literals.set(literal, child);
  return child;
}

function parameterChild(node: RouteNode, { prefix, suffix }: Affixes): RouteNode {
  const existing = node.parameters.find((child) => child.prefix === prefix && child.suffix === suffix);
  if (existing !== undefined) return existing.node;
  const child = emptyNode();
  node.parameters.push({ prefix, suffix, node: child });
  node.parameters.sort((a, b) => b.prefix.length + b.suffix.length - a.prefix.length - a.suffix.length);
  return child;
}

/** The error for an invalid query parameter. Only `limit` has one. */
function refusalCode({ name }: QueryParameter): ErrorCode {
  if (name === 'limit') return 'invalid_limit';
  throw new Error(`parameter "${name}": this proxy knows no error "invalid_${name}"`);
}
