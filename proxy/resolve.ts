import type { ProblemCode } from './problems.js';
import type { Coded, PathParameter, QueryParameter, Route, RouteTable } from './routes.js';
import { NOTHING_HERE, parseTarget, type ParsedTarget, type RedirectedTarget } from './target.js';

/**
 * From a request target to the file that answers it. Pure: no file is looked at, and none can be named that
 * no route names.
 */

/** A file of the tree, which may or may not exist. */
export interface ResolvedFile {
  readonly kind: 'file';
  readonly path: string;
  readonly route: Route;
  /** Relative to the tree's root. */
  readonly file: string;
}

export interface Refusal {
  readonly kind: 'refusal';
  readonly path: string;
  /** The route whose parameter was refused, if it came so far. */
  readonly route?: Route;
  readonly code: ProblemCode;
  readonly detail: string;
}

/** What a request target comes to. `path` is always the path as received, for the error's `instance`. */
export type Resolution = ResolvedFile | Refusal | RedirectedTarget;

/** An error repeats at most so many characters of a value. */
export const QUOTED_MAX_LENGTH = 100;

/**
 * @param target request.url, raw
 * @param table the routes of the snapshot in service
 */
export function resolve(target: string, table: RouteTable): Resolution {
  const parsed = parseTarget(target);
  if (parsed.kind !== 'target') return parsed;
  const route = findRoute(table, parsed.segments, 0);
  if (route === undefined)
    return { kind: 'refusal', path: parsed.path, code: 'not_found', detail: NOTHING_HERE };
  return resolveRoute(parsed, route);
}

/** The most literal route first: /changes/index.json is no change list of that number. */
function findRoute(place: RouteTable, segments: readonly string[], index: number): Route | undefined {
  const segment = segments[index];
  if (segment === undefined) return place.route;
  const literal = place.literals.get(segment);
  const found = literal && findRoute(literal, segments, index + 1);
  if (found !== undefined) return found;
  for (const { prefix, suffix, table } of place.parameters) {
    const isMatch =
      segment.length >= prefix.length + suffix.length &&
      segment.startsWith(prefix) &&
      segment.endsWith(suffix);
    const route = isMatch ? findRoute(table, segments, index + 1) : undefined;
    if (route !== undefined) return route;
  }
  return undefined;
}

function resolveRoute({ path, segments, query }: ParsedTarget, route: Route): Resolution {
  const values = new Map<string, string>();
  for (const parameter of route.pathParameters) {
    const { segment, prefix, suffix } = parameter;
    const whole = segments[segment] ?? '';
    const value = whole.slice(prefix.length, whole.length - suffix.length);
    if (parameter.type === 'month' && !MONTH.test(value))
      return { kind: 'refusal', path, route, code: parameter.code, detail: NOTHING_HERE };
    if (parameter.type === 'id' && !isId(value))
      return { kind: 'refusal', path, route, ...refuseId(parameter, value) };
    values.set(parameter.name, value);
  }
  if (route.queryParameters.length > 0) {
    const given = new URLSearchParams(query);
    for (const parameter of route.queryParameters) {
      const value = readInteger(parameter, given.getAll(parameter.name));
      if (typeof value !== 'string') return { kind: 'refusal', path, route, ...value };
      values.set(parameter.name, value);
    }
  }
  return { kind: 'file', path, route, file: route.file(values) };
}

const MONTH = /^\d{4}-(?:0[1-9]|1[0-2])(?:-\d{5})?$/;
const DECIMAL = /^(?:0|[1-9][0-9]*)$/;
const LARGEST = String(Number.MAX_SAFE_INTEGER);

function isId(text: string): boolean {
  if (text.length > LARGEST.length || !DECIMAL.test(text)) return false;
  // Of two decimals of equal length the greater one is the later one in the alphabet.
  return text.length < LARGEST.length || text <= LARGEST;
}

function refuseId({ name, code }: Coded<PathParameter>, value: string): Pick<Refusal, 'code' | 'detail'> {
  const detail = `${name} ${quote(value)}: expected decimal digits without sign or leading zero, at most ${LARGEST}`;
  return { code, detail };
}

/** One value in plain decimal within the bounds, the default if there is none, else the refusal. */
function readInteger(
  parameter: Coded<QueryParameter>,
  values: string[],
): string | Pick<Refusal, 'code' | 'detail'> {
  const { name, code, minimum, maximum } = parameter;
  const [value = String(parameter.default)] = values;
  const number = Number(value);
  if (values.length <= 1 && DECIMAL.test(value) && number >= minimum && number <= maximum) return value;
  const given = values.length > 1 ? `${name} given ${values.length} times` : `${name} ${quote(value)}`;
  return { code, detail: `${given}: expected one integer from ${minimum} to ${maximum} in plain decimal` };
}

function quote(value: string): string {
  if (value.length <= QUOTED_MAX_LENGTH) return `"${value}"`;
  // Half a surrogate pair is no text.
  return `"${value.slice(0, QUOTED_MAX_LENGTH).replace(/[\ud800-\udbff]$/, '')}…"`;
}
