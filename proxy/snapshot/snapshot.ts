import * as v from 'valibot';

import { CACHE_CLASSES, ERROR_CODES, type ErrorCode } from './headers.js';
import { createRouter, type Router } from './router.js';
import { BUCKETS } from '../limiter/gcra.js';

/** The part of snapshot.json, the contract with the generator, that the proxy reads. Pure. */

/** Relative to the tree's root; published last, so everything it names exists. */
export const SNAPSHOT_FILE = 'snapshot.json';

/** The supported format. Unknown keys are ignored; changed meanings get a new number. */
export const SNAPSHOT_FORMAT = 4;

/** Of a message: names in the file may have megabytes. */
const MESSAGE_LENGTH = 500;

/** An unusable snapshot.json. The message is one line for the operator, whatever the file says. */
export class SnapshotError extends Error {
  override name = 'SnapshotError';

  constructor(message: string, options?: ErrorOptions) {
    super(message.slice(0, MESSAGE_LENGTH).replaceAll(/[^ -~]/g, '?'), options);
  }
}

/** Values end up in headers, where other characters would break or split the response. */
const printable = v.pipe(v.string(), v.regex(/^[ -~]+$/, 'expected printable ASCII'));
/**
 * Fields that Node or the proxy sets, that frame a message, or that concern a connection or a
 * client (RFC 9110 §7.6.1, RFC 6265): from a table they would break the response or the next one.
 */
const RESERVED = new RegExp(
  `^(?:${[
    'age|alt-svc|clear-site-data|connection|content-(?:encoding|length|location|range|type)|cookie2?|date|etag',
    'expect|forwarded|host|http2-settings|keep-alive|last-modified|location|proxy-.*|ratelimit(?:-.*)?|refresh',
    'retry-after|server|set-cookie2?|te|trailer|transfer-encoding|upgrade|via|www-authenticate',
  ].join('|')})$`,
  'i',
);
const fieldName = v.pipe(
  v.string(),
  v.regex(/^[A-Za-z][A-Za-z-]*$/, 'expected a field name'),
  v.check((name) => !RESERVED.test(name), 'expected a field that a table may set'),
);
const fields = v.record(fieldName, printable);
/** The headers of a class that only the signed log has. */
const unlessSigned = v.optional(fields, { 'Cache-Control': 'no-store' });
const urlCharacters = v.regex<string, string>(/^[!#-;=?-Z_a-z~]+$/, 'expected characters of a URL');
const httpUrl = v.pipe(
  v.string(),
  urlCharacters,
  v.regex(/^https?:\/\/[^/@]+(?:\/|$)/, 'expected a http or https URL without user name and password'),
);
const urlPath = v.pipe(
  v.string(),
  urlCharacters,
  v.regex(/^\/(?!\/)/, 'expected a path that starts with one "/"'),
);
const integer = (minimum: number, maximum = Number.MAX_SAFE_INTEGER) =>
  v.pipe(v.number(), v.integer(), v.minValue(minimum), v.maxValue(maximum));

const time = v.pipe(v.string(), v.isoTimestamp());

const limit = v.object({
  tokens: integer(1, 1_000_000),
  /** To the millisecond: the limiter computes with integers. */
  refill_seconds: v.pipe(v.number(), v.minValue(0.001), v.maxValue(86_400)),
});

const downloadLimit = v.object({
  ...limit.entries,
  /** A download of at least this many bytes costs a token, a smaller one its share. */
  token_bytes: v.optional(integer(1), 4 * 1024 * 1024),
});

const parameter = v.variant('in', [
  // `id`: a decimal id without sign or leading zero, up to 2^53-1. `month`: a month such as
  // 2026-11, or a numbered part of one such as 2026-11-00001. `prefix`: 1 to 16 lower-case
  // hexadecimal digits. `asset`: a name that ends in 10 of them. `tree`: 16 of them. `path`: all further segments, each plain and not hidden.
  v.object({
    in: v.literal('path'),
    name: v.string(),
    type: v.picklist(['id', 'month', 'prefix', 'asset', 'tree', 'path']),
  }),
  // A plain decimal integer, bounds inclusive.
  v.pipe(
    v.object({
      in: v.literal('query'),
      name: v.string(),
      type: v.literal('integer'),
      minimum: integer(0),
      maximum: integer(0),
      default: integer(0),
    }),
    v.check(
      (query) => query.minimum <= query.default && query.default <= query.maximum,
      'expected minimum <= default <= maximum',
    ),
  ),
]);

const route = v.object({
  name: v.string(),
  /**
   * URL path; a segment is literal or contains one `{parameter}`, as in `{id}` and `{id}.json`. One
   * of type `path` is the last segment.
   */
  path: v.string(),
  /** File below the tree's root; `{id}` is the value. */
  file: v.string(),
  /** The cache class of its responses. */
  class: v.picklist(CACHE_CLASSES),
  /** The limit that its requests count against. */
  bucket: v.picklist(BUCKETS),
  /** Media type. */
  type: printable,
  /** On 200 and 206, besides those of the class. */
  headers: v.optional(fields, {}),
  /** A suggested file name: the response is saved instead of displayed. */
  attachment: v.optional(v.pipe(v.string(), v.regex(/^[\w.-]+$/, 'expected a plain file name'))),
  /** The detail of a 404 if this route matched but has no file, with parameters in braces. */
  absent: v.optional(v.string()),
  parameters: v.optional(v.array(parameter), []),
  example: v.optional(v.string()),
  /** The name of the route whose document, with the same parameters, must exist: otherwise 404. */
  requires: v.optional(v.string()),
});

const error = v.object({
  status: integer(400, 599),
  title: v.string(),
  /** Where no more is known about the request. */
  detail: v.optional(v.string()),
  /** Path of the page that browsers get instead of the problem document. */
  page: v.optional(urlPath),
});

const schema = v.object({
  /** Numbers the published snapshots. */
  sequence: integer(0),
  /** Time of the newest measurement; null for an empty register. */
  as_of: v.nullable(time),
  /** When it was published. */
  built_at: time,
  service: v.object({
    // With or without a trailing slash; paths are appended to it.
    base_url: v.pipe(
      httpUrl,
      v.transform((url) => url.replace(/\/$/, '')),
    ),
    /** The page for developers. */
    docs: urlPath,
  }),
  limits: v.object({ api: limit, download: downloadLimit, page: limit }),
  headers: v.object({
    all: fields,
    options: fields,
    not_found: fields,
    error: fields,
    content: v.object({
      record: fields,
      summary: fields,
      download: fields,
      feed: fields,
      page: fields,
      asset: fields,
      checkpoint: unlessSigned,
      tile: unlessSigned,
    }),
  }),
  errors: v.pipe(
    v.record(v.string(), error),
    v.check(
      (errors) => ERROR_CODES.every((code) => Object.hasOwn(errors, code)),
      `expected ${ERROR_CODES.join(', ')}`,
    ),
  ),
  /** At and below these paths, all errors are problem documents. */
  problems_below: v.optional(v.array(urlPath), []),
  /** Files of at least this many bytes, except downloads and the log, have compressed siblings. */
  compressed_from: v.optional(integer(0)),
  routes: v.pipe(v.array(route), v.minLength(1)),
  /** Paths that lead to others, at no cost. */
  redirects: v.optional(v.array(v.object({ path: urlPath, to: urlPath })), []),
});

/** A route; see the schema for the keys. */
export type RouteDeclaration = v.InferOutput<typeof route>;
export type PathParameter = Extract<RouteDeclaration['parameters'][number], { in: 'path' }>;
export type QueryParameter = Extract<RouteDeclaration['parameters'][number], { in: 'query' }>;
export type ErrorDeclaration = v.InferOutput<typeof error>;

/** A validated snapshot, with its compiled routes. */
export type Snapshot = Readonly<v.InferOutput<typeof schema>> & { readonly router: Router };

/** For a file that was altered after the generator wrote it. */
const REMEDY = ' (see verify --repair)';

/**
 * @param text the content of snapshot.json
 * @throws SnapshotError if it has another format, is malformed, or names a file outside the tree
 */
export function parseSnapshot(text: string): Snapshot {
  let json: unknown;
  try {
    json = JSON.parse(text);
  } catch {
    throw new SnapshotError(`${SNAPSHOT_FILE} is not JSON${REMEDY}`);
  }
  const format = v.safeParse(v.object({ format: v.pipe(v.number(), v.integer()) }), json);
  if (!format.success) {
    throw new SnapshotError(`${SNAPSHOT_FILE} has no format number${REMEDY}`);
  }
  if (format.output.format !== SNAPSHOT_FORMAT) {
    throw new SnapshotError(
      `the tree is of format ${format.output.format}, this proxy reads format ${SNAPSHOT_FORMAT}: build it again`,
    );
  }
  const parsed = v.safeParse(schema, json);
  if (!parsed.success) {
    const [issue] = parsed.issues;
    throw new SnapshotError(
      `${SNAPSHOT_FILE} is malformed at ${v.getDotPath(issue) ?? '?'}: ${issue.message}${REMEDY}`,
    );
  }
  try {
    return { ...parsed.output, router: createRouter(parsed.output.routes, parsed.output.redirects) };
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error);
    throw new SnapshotError(`${SNAPSHOT_FILE} is malformed: ${message}${REMEDY}`, { cause: error });
  }
}

/** Status and title of an error. Before the first snapshot, every error is a 503. */
export function errorOf(snapshot: Snapshot | undefined, code: ErrorCode): ErrorDeclaration {
  return snapshot?.errors[code] ?? { status: 503, title: 'No snapshot yet' };
}

/** "snapshot 3, as of 2026-11-20T08:00:00Z". */
export function titleOf({ sequence, as_of: asOf }: Snapshot): string {
  return `snapshot ${sequence}, ${asOf === null ? 'of an empty register' : `as of ${asOf}`}`;
}
