/** What a route is: a URL template, the template of its files, and how its responses are cached and counted. */
import type { Without } from '../schema/measured.js';
import { keyForm } from './keys.js';

/** The classes of responses with different cache lifetimes. */
export const CACHE_CLASSES = ['record', 'summary', 'download', 'feed', 'page', 'asset'] as const;
export type CacheClass = (typeof CACHE_CLASSES)[number];

/** The ends of the names of compressed siblings, after the name of their document. */
export const SIBLING_SUFFIXES = ['.gz', '.br'] as const;

/** Whether larger files of a class have compressed siblings. */
export const isCompressed = (cacheClass: string): boolean => cacheClass !== 'download';

/** The rate limits that a request may count against. */
export const BUCKETS = ['api', 'download', 'page'] as const;
export type Bucket = (typeof BUCKETS)[number];

/** The limits that a request counts against, by the bucket of its route. */
export const countedBy = (bucket: Bucket): readonly Bucket[] =>
  bucket === 'download' ? ['download', 'api'] : [bucket];

/** A download of at least so many bytes costs a token of its limit, a smaller one its share. 4 MiB. */
export const DOWNLOAD_TOKEN_BYTES = 4 * 1024 * 1024;
/** The least that a download costs, however small it is, or a range of it. */
const LEAST_DOWNLOAD_COST = 0.01;

/** The cost of a download in tokens. @param bytes what is sent of its `size` bytes */
export const downloadCost = (bytes: number, size = bytes, tokenBytes = DOWNLOAD_TOKEN_BYTES): number =>
  Math.max(LEAST_DOWNLOAD_COST, bytes / Math.max(size, tokenBytes));

/** Whether browsers save a route's file under a dated name: bundles have a number instead. */
export const isDated = ({ bucket, parameters }: Pick<Route, 'bucket' | 'parameters'>): boolean =>
  bucket === 'download' && parameters === undefined;

/** A parameter in a path (see keys.ts). In every template, the name of any but an id is its type. */
export interface PathParameter {
  readonly name: string;
  readonly in: 'path';
  readonly type: 'id' | 'prefix' | 'platform_id' | 'asset';
  readonly description: string;
}

interface QueryParameter {
  readonly name: string;
  readonly in: 'query';
  readonly type: 'integer';
  readonly minimum: number;
  readonly maximum: number;
  readonly default: number;
  readonly description: string;
}

export type Parameter = PathParameter | QueryParameter;

/** A URL template and the template of the files it serves; both use `{parameter}`. */
export interface Route {
  readonly name: string;
  readonly path: string;
  readonly file: string;
  readonly class: CacheClass;
  /** The limit that a request counts against; a download counts against `api` as well. */
  readonly bucket: Bucket;
  readonly type: string;
  /** The tag by which a CDN can purge it together with others; its class by default. */
  readonly tag?: string;
  readonly description: string;
  /** What the OpenAPI description calls its operation; `get` and its name by default. */
  readonly operation?: string;
  readonly parameters?: readonly Parameter[];
  /** A URL to try; a route by id gets one from the register. */
  readonly example?: string;
  /** The detail of a 404 for a valid URL without a file, with parameters in braces. */
  readonly absent?: string;
  /**
   * The tables and columns of the register that the route publishes. If a register measures none of
   * them, the route keeps its URL and has no files. Missing if it depends on none.
   */
  readonly measures?: readonly string[];
  /** What each of `measures` adds, for a register that measures only some. */
  readonly contents?: Readonly<Record<string, string>>;
  readonly without?: Without;
  /**
   * The name of a route by id. The document of that route and of the same id must be published;
   * otherwise the response is a 404. A route with it has no files of its own: it serves another
   * route's.
   */
  readonly requires?: string;
  /**
   * The name of a route of records. The files of this one are further names of some of that route's
   * documents, by a parameter of its own: aliases.
   */
  readonly aliases?: string;
}

/** A route that is no endpoint; its bucket is `api` by default. */
export type UnlistedRoute = Omit<Route, 'bucket'> & Partial<Pick<Route, 'bucket'>>;

/** A route with a JSON response; its file has the name of its path by default. */
export type Endpoint = Omit<Route, 'file' | 'type' | 'bucket'> & Partial<Pick<Route, 'file'>>;

/** Whether a route has files of its own, as opposed to serving those of another one. */
export const hasFiles = ({ requires, aliases }: Pick<Route, 'requires' | 'aliases'>): boolean =>
  requires === undefined && aliases === undefined;

/** Whether a route serves an API document or a feed, as opposed to anything derived from them. */
export const isDocument = ({ path, class: cacheClass }: Pick<Route, 'path' | 'class'>): boolean =>
  !['page', 'asset'].includes(cacheClass) && !/^\/(downloads|\.well-known)\//.test(path);

/** `123456` in `group/{id}` -> `group/123456`; `511` in `{prefix}` -> `ff`. */
export function filler(template: string): (value: number) => string {
  const [start = '', ...rest] = template.split(/(\{\w+\})/);
  // Parsed once, filled millions of times.
  const pieces: readonly ((value: number) => string)[] = rest.map((piece) => {
    return piece.startsWith('{') ? keyForm(piece.slice(1, -1)).textOf : () => piece;
  });
  return (value) => {
    let filled = start;
    for (const piece of pieces) filled += piece(value);
    return filled;
  };
}

/** A route's URL template, with any query parameter: `/api/v1/largest?limit={limit}`. */
export function urlTemplate({ path, parameters = [] }: Pick<Route, 'path' | 'parameters'>): string {
  const query = parameters.filter((parameter) => parameter.in === 'query');
  return query.length === 0 ? path : `${path}?${query.map(({ name }) => `${name}={${name}}`).join('&')}`;
}

/** The URL path of a document, and its alias if a parameter has the default value. */
export function urlsOf(
  route: Pick<Route, 'path' | 'parameters'>,
): (key: number) => readonly [string, ...string[]] {
  const url = filler(urlTemplate(route));
  const fallback = route.parameters?.find((parameter) => parameter.in === 'query')?.default;
  return (key) => (key === fallback ? [url(key), route.path] : [url(key)]);
}

/** Splits a path template around its only parameter. */
export function halves(template: string): readonly [string, string] {
  const [before, after, ...more] = template.split(/\{\w+\}/);
  if (before === undefined || after === undefined || more.length > 0) {
    throw new TypeError(`expected one parameter in the template "${template}"`);
  }
  return [before, after];
}
