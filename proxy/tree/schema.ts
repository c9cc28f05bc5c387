import * as z from 'zod';

import { BUCKETS } from '../limiter/gcra.js';

/**
 * The part of snapshot.json, the contract with the generator, that the proxy reads. The generator checks
 * all of it; what is checked again here is that every file is in the tree, that no value splits a header,
 * and that the proxy can compute with the numbers. Pure.
 */

/** Relative to the tree's root; published last, so everything it names exists. */
export const SNAPSHOT_FILE = 'snapshot.json';

/** The supported format. Unknown keys are ignored; changed meanings get a new number. */
const SNAPSHOT_FORMAT = 5;

/** The errors of this proxy. snapshot.json has a status and a title for each. */
export const ERROR_CODES = [
  'invalid_id',
  'invalid_limit',
  'invalid_prefix',
  'invalid_path',
  'invalid_request',
  'not_found',
  'method_not_allowed',
  'precondition_failed',
  'uri_too_long',
  'range_not_satisfiable',
  'rate_limited',
  'internal',
  'no_snapshot',
  'version_not_supported',
] as const;
export type ErrorCode = (typeof ERROR_CODES)[number];

/** Why a request is answered with an error. */
export interface RequestError {
  readonly code: ErrorCode;
  /** What was requested and what was expected. */
  readonly detail: string;
}

/** An unusable snapshot.json. */
export class SnapshotError extends Error {
  override name = 'SnapshotError';
}

/** Values end up in headers, where other characters would break or split the response. */
const printable = z.string().regex(/^[ -~]+$/, 'expected printable ASCII');
/** The server sets these itself: a second one would contradict the body or the connection. */
const FRAMING =
  /^(?:connection|content-(?:encoding|length|range)|date|keep-alive|trailer|transfer-encoding|upgrade)$/i;
const fieldName = z
  .string()
  .regex(/^[A-Za-z][A-Za-z-]*$/)
  .refine((name) => !FRAMING.test(name));
const fields = z.record(fieldName, printable);
/** The classes of routes, each of which has its headers of 200, 206 and 304. */
const CACHE_CLASSES = ['record', 'summary', 'download', 'feed', 'page', 'asset'] as const;
export type CacheClass = (typeof CACHE_CLASSES)[number];

const fileName = z.string().regex(/^[\w.-]+$/, 'expected a plain file name');
/** A path on this host, for Location. */
const urlPath = z
  .string()
  .regex(/^\/(?!\/)[!#-;=?-Z_a-z~]*$/, 'expected a path of a URL that starts with one "/"');
/** A segment that is plain and not hidden, with one parameter at most, as in `{id}` and `{id}.json`. */
const SEGMENT = String.raw`(?![./]|$)[\w~.-]*(?:\{[a-z][a-z_]*\}[\w~.-]*)?`;
const SEGMENTS = String.raw`(?:\.well-known\/)?${SEGMENT}(?:\/${SEGMENT})*`;
const routePath = z
  .string()
  .regex(new RegExp(String.raw`^\/(?:${SEGMENTS})?$`), 'expected plain segments')
  .regex(/^(?!.*(\{\w+\}).*\1)/, 'expected each parameter once');
/**
 * The values of parameters are plain segments as well, so this determines which files can be read:
 * relative, no "..", no dotfile except /.well-known.
 */
const treeFile = z
  .string()
  .regex(new RegExp(`^${SEGMENTS}$`), 'expected a relative path of plain segments, none of them hidden');
/**
 * A download of at least `token_bytes` costs a token, a smaller one its share. With these bounds, the
 * milliseconds that refill all tokens are exact, even when added to the time of day.
 */
const limit = z
  .object({
    tokens: z.int().min(1).max(1_000_000),
    refill_seconds: z.number().min(0.001).max(86_400),
    token_bytes: z
      .int()
      .positive()
      .default(4 * 1024 * 1024),
  })
  .transform(({ tokens, refill_seconds: seconds, token_bytes: tokenBytes }) => ({
    burst: tokens,
    emissionIntervalMs: Math.round(seconds * 1000),
    tokenBytes,
  }));

const parameter = z.discriminatedUnion('in', [
  // `id`: a decimal id without sign or leading zero, up to 2^53-1. `prefix`: 1 to 16 lower-case
  // hexadecimal digits. `platform_id`: a plain text. `asset`: a name that ends in 10 such digits.
  z.object({
    in: z.literal('path'),
    name: z.string().regex(/^[a-z][a-z_]*$/),
    type: z.enum(['id', 'prefix', 'platform_id', 'asset']),
  }),
  // A plain decimal integer, bounds inclusive. Only `limit` has an error code for other values.
  z.object({
    in: z.literal('query'),
    name: z.literal('limit'),
    type: z.literal('integer'),
    minimum: z.int(),
    maximum: z.int(),
    default: z.int(),
  }),
]);

const route = z.object({
  name: z.string(),
  path: routePath,
  file: treeFile,
  class: z.enum(CACHE_CLASSES),
  bucket: z.enum(BUCKETS),
  type: printable,
  /** On 200 and 206, besides those of the class. */
  headers: fields.default({}),
  /** A suggested file name: the response is saved instead of displayed. */
  attachment: fileName.optional(),
  /** The detail of a 404 if this route matched but has no file, with parameters in braces. */
  absent: z.string().optional(),
  parameters: z.array(parameter).default([]),
  /** The name of the route whose document, with the same parameters, must exist: otherwise 404. */
  requires: z.string().optional(),
});

const error = z.object({
  status: z.int().min(400).max(599),
  title: z.string(),
  /** The detail by default. */
  detail: z.string().optional(),
  /** Path of the page that browsers get instead of the problem document. */
  page: z.string().optional(),
});

/** A file whose SHA-256 is known without reading it. */
const hashed = z.object({ file: z.string(), bytes: z.int(), sha256: z.string().regex(/^[0-9a-f]{64}$/) });

const schema = z.object({
  sequence: z.int(),
  digest: z.string().default(''),
  /** Time of the newest measurement; null for an empty register. */
  as_of: z.iso.datetime().nullable(),
  built_at: z.iso.datetime(),
  service: z.object({
    // With or without a trailing slash; paths are appended to it.
    base_url: z.string().transform((url) => url.replace(/\/$/, '')),
    docs: z.string(),
  }),
  limits: z.object({ api: limit, download: limit, page: limit }),
  headers: z.object({
    all: fields,
    options: fields,
    /** 404 and 308. */
    not_found: fields,
    /** All other errors. */
    error: fields,
    content: z.looseRecord(z.enum(CACHE_CLASSES), fields),
  }),
  errors: z.looseRecord(z.enum(ERROR_CODES), error),
  /** At and below these paths, all errors are problem documents. */
  problems_below: z.array(z.string()).default([]),
  /** Files of at least this many bytes have compressed siblings, with exceptions (see `FileMatch`). */
  compressed_from: z.int().optional(),
  downloads: z.object({ files: z.array(hashed).default([]) }).default({ files: [] }),
  /** Other files that are not in the digest, and documents above 1 MiB. */
  files: z.array(hashed).default([]),
  routes: z.array(route).min(1),
  /** Paths that lead to others, at no cost. */
  redirects: z.array(z.object({ path: urlPath, to: urlPath })).default([]),
});

/** A route; see the schema for the keys. */
export type RouteDeclaration = z.infer<typeof route>;
export type PathParameter = Extract<RouteDeclaration['parameters'][number], { in: 'path' }>;
export type QueryParameter = Extract<RouteDeclaration['parameters'][number], { in: 'query' }>;
export type Snapshot = Readonly<z.infer<typeof schema>>;

/** For a file that was altered after the generator wrote it. */
const REMEDY = ' (see verify --repair)';

/** Reads the text of snapshot.json. @throws SnapshotError if it has another format or is malformed */
export function parseSnapshot(text: string): Snapshot {
  let json: unknown;
  try {
    json = JSON.parse(text);
  } catch {
    throw new SnapshotError(`${SNAPSHOT_FILE} is not JSON${REMEDY}`);
  }
  const format = z.object({ format: z.int() }).safeParse(json).data?.format;
  if (format === undefined) throw new SnapshotError(`${SNAPSHOT_FILE} has no format number${REMEDY}`);
  if (format !== SNAPSHOT_FORMAT) {
    throw new SnapshotError(
      `the tree is of format ${format}, this proxy reads format ${SNAPSHOT_FORMAT}: build it again`,
    );
  }
  const parsed = schema.safeParse(json);
  if (parsed.success) return parsed.data;
  const [{ path, message } = { path: [], message: '' }] = parsed.error.issues;
  // A key may be any text, and the message goes to a terminal.
  const place = path
    .join('.')
    .slice(0, 100)
    .replaceAll(/[^ -~]/g, '?');
  throw new SnapshotError(`${SNAPSHOT_FILE} is malformed at ${place}: ${message}${REMEDY}`);
}

/** "snapshot 3, as of 2026-11-20T08:00:00Z". */
export function describeSnapshot({ sequence, as_of: asOf }: Snapshot): string {
  return `snapshot ${sequence}, ${asOf === null ? 'of an empty register' : `as of ${asOf}`}`;
}
