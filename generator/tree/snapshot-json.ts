/**
 * What a snapshot.json of this format may say. What passes can be written into a header, a
 * configuration or a terminal without further checks, and the proxy takes it into service. The
 * proxy has a check of its own, since it trusts no generator.
 */
import { z } from 'zod';
import { Failure } from '../errors.js';
import { BUCKETS, CACHE_CLASSES } from '../routes/index.js';
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

/** The name of a parameter, in braces in templates. */
const PARAMETER = /\{([a-z][a-z_]{0,30})\}/g;
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
    pathParameter('tree', z.literal('tree')),
    pathParameter('path', z.literal('path')),
  ]),
  query,
]);

/** A route, in the part that locates its files: all that is read of formats before this one. */
export const locatedRoute = z.looseObject({
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

const lifetimes = z.object({ 'Cache-Control': printable }).catchall(printable);

/** The headers of responses with content, by the classes that a tree has. */
export const headersByClass = z.partialRecord(z.enum(CACHE_CLASSES), lifetimes);

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

/** A segment of a path or of a file's name, with its parameters replaced. */
const SEGMENT = /^(?!\.)[\w.~-]+$/;
const isPlain = (path: string): boolean =>
  path.split('/').every((part, index) => SEGMENT.test(part) || (index === 0 && part === '.well-known'));

/** The segments of a path, each with one parameter at most, and that in place of nothing but itself. */
function hasRoutablePath({ path, parameters = [] }: LocatedRoute): boolean {
  const declared = parameters.flatMap((each) => (each.in === 'path' ? [each] : []));
  const segments = path.slice(1).split('/');
  const used = segments.flatMap((segment, index) =>
    [...segment.matchAll(PARAMETER)].map(([whole, name = '']) => ({ name, whole, segment, index })),
  );
  return (
    (path === '/' || isPlain(path.slice(1).replaceAll(PARAMETER, '0'))) &&
    used.length === declared.length &&
    new Set(used.map(({ index }) => index)).size === used.length &&
    used.every(({ name, segment, whole, index }) => {
      const of = declared.find((each) => each.name === name);
      return of?.type === 'path' ? segment === whole && index === segments.length - 1 : of !== undefined;
    })
  );
}

/** Whether the file of a route is plain, and no parameter in it is unknown. */
const hasRoutableFile = ({ file }: Pick<LocatedRoute, 'file'>, { parameters = [] }: LocatedRoute): boolean =>
  isPlain(file.replaceAll(PARAMETER, '0')) &&
  [...file.matchAll(PARAMETER)].every(([, name]) => parameters.some((each) => each.name === name));

/** What two paths of one shape have in common: no request could tell them apart. */
const shapeOf = ({ path, parameters = [] }: LocatedRoute): string =>
  path.replaceAll(PARAMETER, (_, name: string) =>
    parameters.some((each) => each.name === name && each.type === 'path') ? '{...}' : '{}',
  );

const areUnique = (texts: readonly string[]): boolean => new Set(texts).size === texts.length;

/** Whether requests lead to one route each, and each route to plain files. */
function areRoutable(routes: readonly LocatedRoute[]): boolean {
  const byName = new Map(routes.map((each) => [each.name, each]));
  return (
    routes.length > 0 &&
    byName.size === routes.length &&
    areUnique(routes.map(shapeOf)) &&
    routes.every((each) => {
      const required = each.requires === undefined ? undefined : byName.get(each.requires);
      return (
        hasRoutablePath(each) &&
        hasRoutableFile(each, each) &&
        areUnique((each.parameters ?? []).map(({ name }) => name)) &&
        (each.requires === undefined ||
          (required !== undefined && required.requires === undefined && hasRoutableFile(required, each)))
      );
    })
  );
}

export const snapshotSchema = z
  .looseObject({
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
    }),
    limits: z.object({ api: limit, download: downloadLimit, page: limit }),
    headers: z.object({ all: headers, options: headers, not_found: headers, error: headers, content }),
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
  })
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
