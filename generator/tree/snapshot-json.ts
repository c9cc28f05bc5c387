/**
 * What a snapshot.json of this format may say. What passes can be written into a header, a
 * configuration or a terminal without further checks, and the proxy takes it into service. The
 * proxy checks again that no file is outside of the tree, and that no value splits a header.
 */
import * as z from 'zod';
import { Failure } from '../base/errors.js';
import { PATHS } from '../routes/paths.js';
import { areRoutable, locatedRoute, routeSchema } from './snapshot-route.js';
import { ERROR_CODES, contentHeaders, downloadLimit, error, limit, service } from './snapshot-service.js';
import {
  LIST_MOST,
  count,
  described,
  headers,
  listOf,
  publishedFile,
  servicePath,
  sha256,
  text,
  time,
  treeId,
} from './values.js';

/** The version of the tree's layout and of snapshot.json. */
export const FORMAT = 5;

/** This version has some 130 routes, and an operator at most 200 files. */
const ROUTES_MOST = 1000;
/** 4 TiB, more than any tree has. */
const TREE_BYTES = 2 ** 42;

export const snapshotMembers = described(
  z.looseObject({
    format: described(z.literal(FORMAT), 'Version of this format.', FORMAT),
    sequence: described(
      z.int().min(1),
      'Number of the snapshot. It grows by one with every snapshot that changes something.',
      118,
    ),
    as_of: described(time.nullable(), 'Time of the newest measurement in the register; null if it is empty.'),
    built_at: described(time, 'When the snapshot was last built.', '2026-11-20T09:00:00Z'),
    generator: described(
      z.looseObject({
        name: described(text, 'Name of the program.', 'register-api'),
        version: described(text, 'Version of the program.', '1.0.0'),
      }),
      'The program that built the snapshot.',
    ),
    service: described(service, 'The service and its terms.'),
    limits: described(
      z.object({
        api: described(limit(60, 1), 'All requests.'),
        download: described(downloadLimit, 'Bulk downloads, which count as requests as well.'),
        page: described(limit(240, 0.25), 'Pages and their assets.'),
      }),
      'Rate limits for each client.',
    ),
    headers: described(
      z.object({
        all: described(headers, 'On every response.'),
        options: described(headers, 'On 204, the response to OPTIONS. A 405 has the same Allow.'),
        not_found: described(headers, 'On 404 and 308.'),
        error: described(headers, 'On every other error.'),
        content: contentHeaders,
      }),
      'Names and values of headers, by type of response.',
    ),
    errors: described(
      z
        .record(z.string(), error)
        .refine((errors) => ERROR_CODES.every((code) => Object.hasOwn(errors, code))),
      'Errors by code.',
    ),
    problems_below: described(
      listOf(described(servicePath, 'A path.', '/api', { name: '{path}' }), LIST_MOST).default([]),
      'At and below these paths, errors are always problem documents.',
    ),
    /** Published records of each kind, in the plural; null for one that is not measured. */
    counts: z.record(z.string(), count.nullable()).default({}),
    digest: described(
      sha256,
      'SHA-256 of the list of documents: a line "SHA256  PATH" for each, as sha256sum writes it (/downloads/documents.sha256.gz).',
    ),
    tree: described(
      z.looseObject({
        id: described(treeId, 'Identifies the tree. One that starts over counts from 1 and has another.'),
        files: described(
          count,
          'Files, excluding compressed copies, snapshot.json and what is below /changes.',
          96_841,
          { unit: 'files' },
        ),
        bytes: described(count.max(TREE_BYTES), 'Their total size.', 61_203_377, { unit: 'bytes' }),
      }),
      'Size of the published tree.',
    ),
    downloads: described(
      z.looseObject({
        as_of: described(time.nullable(), 'Time of the newest measurement in them; null if there is none.'),
        sequence: described(
          z.int().min(1),
          'The snapshot that the downloads belong to. The bundles after it, if they are kept, bring them up to date.',
          117,
        ),
        digest: described(sha256, 'Digest of that snapshot.'),
        files: described(
          listOf(publishedFile('file', '/downloads/groups.csv.gz', 9_437_184), ROUTES_MOST).default([]),
          'Every file below /downloads. What a cache has with another SHA-256 is of another snapshot.',
        ),
      }),
      'The state of the bulk downloads, which may be older than the rest.',
    ),
    files: described(
      z.array(publishedFile('file', '/changes/118.ndjson.gz', 901_120)).default([]),
      'Every other file that the digest leaves out, and every document above 1 MiB.',
    ),
    compressed_from: described(
      count,
      'Documents of at least this size are also stored compressed, except downloads, snapshot.json, and documents for other than the default value of a query parameter.',
      4096,
      { unit: 'bytes' },
    ),
    routes: described(
      listOf(routeSchema, ROUTES_MOST).refine(areRoutable, {
        error: 'expected paths and files of their own, with declared parameters',
      }),
      'Every URL of the service.',
    ),
    redirects: described(
      listOf(
        z.object({
          path: described(servicePath, 'The path.', '/docs'),
          to: described(servicePath, 'The path to which it leads.', PATHS.docs),
        }),
        LIST_MOST,
      ).default([]),
      'Paths that respond with 308, at no cost.',
    ),
  }),
  'The published snapshot: its number, time, contents and size.',
);

export const snapshotSchema = snapshotMembers
  .refine(({ headers: sent, routes }) => routes.every((each) => sent.content[each.class] !== undefined), {
    path: ['headers', 'content'],
  })
  .refine(
    ({ routes, redirects }) => redirects.every(({ path }) => routes.every((each) => each.path !== path)),
    { path: ['redirects'] },
  );

/** What a build reads of the snapshot.json before it. */
export const publishedSchema = snapshotMembers
  .pick({
    sequence: true,
    as_of: true,
    built_at: true,
    digest: true,
    tree: true,
    counts: true,
    downloads: true,
    compressed_from: true,
  })
  .extend({
    // After format 4, every file is written again, so no more than this is read of it.
    format: z.union([z.literal(FORMAT), z.literal(4)]),
    // Parameters of a type that this version doesn't know are left out.
    routes: z.array(locatedRoute.extend({ parameters: locatedRoute.shape.parameters.catch([]) })),
  });
export type PublishedSnapshot = z.infer<typeof publishedSchema>;

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

/** ` (see "headers.all.X-Y")`, in printable characters. */
export function placeOf(problem: z.ZodError): string {
  const place = (problem.issues[0]?.path ?? []).join('.').slice(0, 100);
  return place === '' ? '' : ` (see ${JSON.stringify(place).replaceAll(/[^ -~]/g, '?')})`;
}
