import type { CacheClass, HeaderList } from './headers.js';
import { isProblemCode, type ProblemCode } from './problems.js';
import { WELL_KNOWN } from './target.js';

/**
 * The route table of a snapshot, checked and made ready to be searched. Pure; a table that could name a file
 * outside the tree throws.
 */

/**
 * A parameter in the path. `id`: a decimal id without sign or leading zero, up to 2^53-1. `month`: a month such
 * as 2026-11, or a numbered part of one such as 2026-11-00001.
 */
export interface PathParameter {
  readonly in: 'path';
  readonly name: string;
  readonly type: 'id' | 'month';
}

/** A parameter in the query: one plain decimal integer, bounds included. */
export interface QueryParameter {
  readonly in: 'query';
  readonly name: string;
  readonly type: 'integer';
  readonly minimum: number;
  readonly maximum: number;
  readonly default: number;
}

/** A route as snapshot.json declares it. */
export interface RouteDeclaration {
  readonly name: string;
  /** URL path; a segment is literal or holds one `{parameter}`, as in `{id}` and `{id}.json`. */
  readonly path: string;
  /**
   * File below the tree's root; `{id}` is the value, `{id:bucket}` its last three digits, padded to three.
   */
  readonly file: string;
  readonly class: CacheClass;
  readonly type: string;
  /** A file name: the answer is saved under it instead of shown. */
  readonly attachment?: string | undefined;
  readonly parameters: readonly (PathParameter | QueryParameter)[];
  readonly example?: string | undefined;
}

/** A parameter with the error its refusal answers. */
export type Coded<P> = P & { readonly code: ProblemCode };

/** What stands around a parameter in its segment. */
interface Affixes {
  readonly prefix: string;
  readonly suffix: string;
}

/** A route ready for use. */
export interface Route {
  readonly name: string;
  readonly class: CacheClass;
  /** What the headers say of the content itself. */
  readonly contentHeaders: HeaderList;
  /** Which segment of the path (counted from 0) is which parameter. */
  readonly pathParameters: readonly (Coded<PathParameter> & Affixes & { readonly segment: number })[];
  readonly queryParameters: readonly Coded<QueryParameter>[];
  /** The file of a set of values, relative to the tree's root. */
  readonly file: (values: ReadonlyMap<string, string>) => string;
}

/** A tree of segments. */
export interface RouteTable {
  /** The route that ends here. */
  route: Route | undefined;
  readonly literals: Map<string, RouteTable>;
  /** Where a parameter stands in the segment, those with the most literal text around it first. */
  readonly parameters: (Affixes & { readonly table: RouteTable })[];
}

const PARAMETER = /^([^{}]*)\{([a-z][a-z_]*)\}([^{}]*)$/;
const PLACEHOLDER = /\{([a-z][a-z_]*)(:bucket)?\}/g;
/** A path literal or, with its placeholders taken out, a segment of a file name. */
const SAFE_SEGMENT = /^[A-Za-z0-9_~.-]+$/;

/** Builds the table. Throws an Error naming the route and what is wrong with it. */
export function compileRoutes(declarations: readonly RouteDeclaration[]): RouteTable {
  const root = emptyTable();
  for (const declaration of declarations) {
    try {
      addRoute(root, declaration);
    } catch (error) {
      throw new Error(
        `route "${declaration.name}": ${error instanceof Error ? error.message : String(error)}`,
        {
          cause: error,
        },
      );
    }
  }
  return root;
}

/** A table without routes, as before the first snapshot. */
export function emptyTable(): RouteTable {
  return { route: undefined, literals: new Map(), parameters: [] };
}

function addRoute(root: RouteTable, declaration: RouteDeclaration): void {
  const { name, path, file, class: cacheClass, type, attachment, parameters } = declaration;
  const inPath = parameters.filter((parameter) => parameter.in === 'path');
  const inQuery = parameters.filter((parameter) => parameter.in === 'query');
  const pathParameters: Route['pathParameters'][number][] = [];

  if (!path.startsWith('/')) throw new Error(`path "${path}": expected one that starts with "/"`);
  let place = root;
  for (const [segment, text] of path.slice(1).split('/').entries()) {
    const [, prefix = '', parameterName, suffix = ''] = PARAMETER.exec(text) ?? [];
    const literal = parameterName === undefined ? text : `${prefix}0${suffix}`;
    if (path !== '/' && !isSafe(literal, segment)) throw new Error(`path "${path}": expected plain segments`);
    if (parameterName === undefined) {
      place = literalChild(place, text);
      continue;
    }
    const parameter = inPath.find((candidate) => candidate.name === parameterName);
    if (parameter === undefined) throw new Error(`path "${path}": "${text}" is no declared path parameter`);
    // Whatever an id is called, its error is invalid_id. What is no month is nothing that could be there.
    const code = parameter.type === 'id' ? 'invalid_id' : 'not_found';
    pathParameters.push({ ...parameter, code, prefix, suffix, segment });
    place = parameterChild(place, { prefix, suffix });
  }
  if (pathParameters.length !== inPath.length) throw new Error(`path "${path}": lacks a declared parameter`);
  if (place.route !== undefined) throw new Error(`path "${path}" is route "${place.route.name}" already`);
  const queryParameters = inQuery.map((parameter) => ({ ...parameter, code: refusalCode(parameter) }));
  const known = new Set(parameters.map((parameter) => parameter.name));
  place.route = {
    name,
    class: cacheClass,
    contentHeaders: [
      'Content-Type',
      type,
      ...(attachment === undefined ? [] : ['Content-Disposition', `attachment; filename="${attachment}"`]),
    ],
    pathParameters,
    queryParameters,
    file: compileFile(file, known),
  };
}

function literalChild(place: RouteTable, literal: string): RouteTable {
  const existing = place.literals.get(literal);
  if (existing !== undefined) return existing;
  const table = emptyTable();
  place.literals.set(literal, table);
  return table;
}

function parameterChild(place: RouteTable, { prefix, suffix }: Affixes): RouteTable {
  const existing = place.parameters.find((child) => child.prefix === prefix && child.suffix === suffix);
  if (existing !== undefined) return existing.table;
  const table = emptyTable();
  place.parameters.push({ prefix, suffix, table });
  place.parameters.sort((a, b) => b.prefix.length + b.suffix.length - a.prefix.length - a.suffix.length);
  return table;
}

/**
 * The code a query parameter's refusal answers. One without can't be served: its errors would have no name.
 */
function refusalCode({ name }: QueryParameter): ProblemCode {
  const code = `invalid_${name}`;
  if (!isProblemCode(code)) throw new Error(`parameter "${name}": this proxy knows no error "${code}"`);
  return code;
}

/**
 * A file template as a function. Parameter values are digits and hyphens only, so what may be read is decided here:
 * relative, no "..", no dotfile but /.well-known.
 */
function compileFile(template: string, known: ReadonlySet<string>): Route['file'] {
  const plain = template.replaceAll(PLACEHOLDER, (placeholder, name: string) => {
    if (!known.has(name)) throw new Error(`file "${template}": "${placeholder}" is no declared parameter`);
    return '0';
  });
  if (!plain.split('/').every(isSafe)) {
    throw new Error(`file "${template}": expected a relative path of plain segments, none of them hidden`);
  }
  if (plain === template) return () => template;
  return (values) =>
    template.replaceAll(PLACEHOLDER, (placeholder, name: string, bucket: string | undefined) => {
      const value = values.get(name) ?? placeholder;
      return bucket === undefined ? value : value.slice(-3).padStart(3, '0');
    });
}

function isSafe(segment: string, index: number): boolean {
  return SAFE_SEGMENT.test(segment) && (!segment.startsWith('.') || (index === 0 && segment === WELL_KNOWN));
}
