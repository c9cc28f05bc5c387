/**
 * What a snapshot.json of this format may say. What passes can be written into a header, a
 * configuration or a terminal without further checks, and the proxy takes it into service. The
 * proxy has a check of its own, since it trusts no generator.
 */
import { z } from 'zod';
import { Failure } from '../errors.js';
import { BUCKETS, CACHE_CLASSES } from '../routes/index.js';
import { areRoutable } from './routable.js';
import {
  LIST_MOST,
  PATH_LENGTH,
  count,
  headers,
  listOf,
  printable,
  servicePath,
  sha256,
  text,
  time,
  treeId,
} from './values.js';

/** The version of the tree's layout and of snapshot.json. */
export const FORMAT = 4;

/** The table of this version has some 130 routes, and an operator 200 files. */
const ROUTES_MOST = 1000;
/** 4 TiB, more than any tree has. */
const TREE_BYTES = 2 ** 42;
const KEYS_MOST = 16;

const parameterName = z.string().regex(/^[a-z][a-z_]{0,30}$/);

const pathParameter = <Type extends string, Name extends z.ZodType>(type: Type, name: Name) =>
  z.object({ name, in: z.literal('path'), type: z.literal(type), description: text });

const query = z
  .object({
    // The only one that has an error for values that are not valid.
    name: z.literal('limit'),
    in: z.literal('query'),
    type: z.literal('integer'),
    minimum: count,
    maximum: count,
    default: count,
    description: text,
  })
  .refine(({ minimum, default: byDefault, maximum }) => minimum <= byDefault && byDefault <= maximum);

const parameter = z.discriminatedUnion('in', [
  z.discriminatedUnion('type', [
    pathParameter('id', parameterName),
    pathParameter('month', z.literal('month')),
    pathParameter('prefix', z.literal('prefix')),
    pathParameter('asset', z.literal('asset')),
    pathParameter('tree', z.literal('tree')),
    pathParameter('path', z.literal('path')),
  ]),
  query,
]);

/** A route, in the part that locates its files: all that is read of formats before this one. */
const locatedRoute = z.looseObject({
  name: z
    .string()
    .max(PATH_LENGTH, { abort: true })
    .regex(/^[\w-]+$/),
  path: servicePath,
  // An earlier version put files into 1,000 folders: `{id:3}`.
  file: z
    .string()
    .max(PATH_LENGTH, { abort: true })
    .regex(/^[^:]*$/),
  class: z.enum(CACHE_CLASSES),
  parameters: listOf(parameter, LIST_MOST).exactOptional(),
  requires: z.string().exactOptional(),
});

/** A route, in the part that says what its responses are. */
export const describedRoute = locatedRoute.extend({
  /** A media type, perhaps with parameters. */
  type: printable.regex(/^[\w.+-]+\/[\w.+-]+(; ?[\w-]+=([\w.-]+|"[\w.:/-]+"))*$/),
  /** The name under which browsers save it. */
  attachment: z
    .string()
    .max(PATH_LENGTH, { abort: true })
    .regex(/^[\w.-]+$/)
    .exactOptional(),
});

const route = describedRoute.extend({
  bucket: z.enum(BUCKETS),
  headers: headers.default({}),
  /** The detail of the 404 for a valid URL that has no file, with parameters in braces. */
  absent: text.exactOptional(),
  /** A URL to try. */
  example: text.exactOptional(),
});

const content = z
  .object({
    record: headers,
    summary: headers,
    download: headers,
    feed: headers,
    page: headers,
    asset: headers,
    checkpoint: headers.exactOptional(),
    tile: headers.exactOptional(),
  })
  .refine((classes) => Object.values(classes).every((fields) => fields?.['Cache-Control'] !== undefined));

const limit = z.object({
  tokens: z.int().min(1).max(1_000_000),
  /** From a millisecond to a day. */
  refill_seconds: z.number().min(0.001).max(86_400),
});

const downloadLimit = limit.extend({
  /** A download of at least so many bytes counts as one, a smaller one as its share. */
  token_bytes: z.int().min(1).exactOptional(),
});

const error = z.object({
  status: z.int().min(400).max(599),
  title: text,
  detail: text,
  /** The page that browsers get instead. */
  page: servicePath.exactOptional(),
});

/** The errors that every server of a tree needs. */
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

/** The signed log of the snapshots. */
const log = z.object({
  path: servicePath,
  origin: z.string().regex(/^[^\p{White_Space}\p{C}]{1,255}$/u),
  keys: z
    .array(z.string().regex(/^[^\p{White_Space}\p{C}]{1,1000}$/u))
    .min(1)
    .max(KEYS_MOST),
});

/** What feeds say of the operator. */
const operator = z.object({
  name: text,
  url: text,
  licence: z.object({ name: text, url: text }),
  tag_authority: text,
});

const members = z.looseObject({
  format: z.literal(FORMAT),
  sequence: z.int().min(1),
  as_of: time.nullable(),
  built_at: time,
  service: z.looseObject({
    base_url: z
      .string()
      .max(PATH_LENGTH, { abort: true })
      .regex(/^https?:\/\/[\w.~:[\]-]+(\/[\w.~/-]*)?$/),
    docs: servicePath,
    ...operator.partial().shape,
  }),
  limits: z.object({ api: limit, download: downloadLimit, page: limit }),
  headers: z.object({ all: headers, options: headers, not_found: headers, error: headers, content }),
  /** Published records of each kind, in the plural; null for one that is not measured. */
  counts: z.record(z.string(), count.nullable()).default({}),
  errors: z
    .record(z.string(), error)
    .refine((errors) => ERROR_CODES.every((code) => Object.hasOwn(errors, code))),
  problems_below: listOf(servicePath, LIST_MOST).default([]),
  digest: sha256,
  tree: z.looseObject({ id: treeId, files: count, bytes: count.max(TREE_BYTES) }),
  /** The signed log, if there is one, and the keys by which it can be verified. */
  log: log.exactOptional(),
  /** The snapshot of the bulk downloads: the last that wrote them or left none of them stale. */
  downloads: z.looseObject({ sequence: z.int().min(1), digest: sha256 }),
  /** Documents of at least this size have compressed siblings. */
  compressed_from: count,
  routes: listOf(route, ROUTES_MOST).refine(areRoutable, {
    error: 'expected paths and files of their own, with declared parameters',
  }),
  redirects: listOf(z.object({ path: servicePath, to: servicePath }), LIST_MOST).default([]),
});

export const snapshotSchema = members
  .refine(({ headers: sent, routes }) => routes.every((each) => sent.content[each.class] !== undefined), {
    path: ['headers', 'content'],
  })
  .refine(
    ({ routes, redirects }) => redirects.every(({ path }) => routes.every((each) => each.path !== path)),
    { path: ['redirects'] },
  )
  .refine(({ log: signed, tree }) => signed === undefined || signed.path === `/log/${tree.id}`, {
    path: ['log', 'path'],
  });

/** A service whose operator is known: not all snapshots of this format say who it is. */
export const knownService = members.shape.service.extend(operator.shape);

/** Formats that can be read: an older tree is upgraded, and its sequence continues. */
const READABLE = [1, 2, 3, FORMAT] as const;
const { shape } = members;

/** What is read of the snapshot.json of an earlier build, of any of these formats. */
export const manifestSchema = z.looseObject({
  format: z.literal(READABLE),
  sequence: shape.sequence,
  as_of: shape.as_of,
  built_at: shape.built_at,
  digest: shape.digest,
  tree: shape.tree.extend({ id: treeId.exactOptional() }),
  downloads: shape.downloads.extend({ digest: sha256.exactOptional() }).exactOptional(),
  compressed_from: count.exactOptional(),
  log: shape.log,
  routes: z.array(locatedRoute),
});
export type Manifest = z.infer<typeof manifestSchema>;

export type LocatedRoute = z.infer<typeof locatedRoute>;
export type Snapshot = z.infer<typeof snapshotSchema>;
export type SnapshotRoute = Snapshot['routes'][number];

/**
 * @param json what is to be a snapshot.json
 * @param what it is, for the message
 * @throws Failure invalid: it is of another format, or says what no snapshot.json may
 */
export function parseSnapshot(json: unknown, what: string): Snapshot {
  const { data, error: problem } = snapshotSchema.safeParse(json);
  if (data !== undefined) return data;
  throw Failure.invalid(`${what} is not as this version writes it${placeOf(problem)}: build the tree again`);
}

/** ` (see "headers.all.X-Y")`, without anything that would not be printed as it is. */
export function placeOf(problem: z.ZodError): string {
  const place = (problem.issues[0]?.path ?? []).join('.').slice(0, 100);
  return place === '' ? '' : ` (see ${JSON.stringify(place).replaceAll(/[^ -~]/g, '?')})`;
}
