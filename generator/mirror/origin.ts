/** What an origin says about itself, checked: nothing of it is believed that could do harm. */
import { z } from 'zod';
import { Failure } from '../errors.js';
import { changeIndexSchema, filesIn } from '../tree/changes.js';
import { locator } from '../tree/locate.js';
import { isFormer, isOwn, isRendered } from '../tree/published-routes.js';
import { placeOf, snapshotSchema } from '../tree/snapshot-json.js';
import { count, sha256 } from '../tree/values.js';
import type { PublishedRoute } from '../tree/published-routes.js';
import { LOG_ROUTES, ROUTES, hasFiles, urlTemplate } from '../routes/index.js';
import type { Bucket } from '../routes/index.js';
import { PATHS } from '../routes/paths.js';
import type { Client } from './client.js';
import { parseJson } from '../portable.js';
import { areApart } from './templates.js';

/** JSON that is read whole: 16 MiB at most. */
export const JSON_BYTES = 16 * 1024 * 1024;
/** A snapshot.json has some 60 kB: 2 MiB at most. */
export const SNAPSHOT_BYTES = 2 * 1024 * 1024;
/** There are 30 snapshots; each may have as many bytes of documents as the tree. */
const CHANGES_MOST = 100;

/** So that tables of the most routes are compared in a second or two. */
const FOLDERS_MOST = 16;
/** How many documents the values of a query parameter can make. */
const VALUES_MOST = 10_000;

/** The origin publishes another snapshot meanwhile, or a cache is older than another. */
export class MovedOn extends Error {}

export const originSchema = snapshotSchema.refine(({ routes }) => areSafe(routes), { path: ['routes'] });
export type Origin = z.infer<typeof originSchema>;

export interface Snapshot {
  readonly origin: Origin;
  /** Of its snapshot.json. */
  readonly content: Buffer;
}

const isFile = (file: string): boolean =>
  file.split('/').length <= FOLDERS_MOST && !/^(snapshot\.json|changes)(\/|$)/.test(file);
const hasOneParameter = (template: string): boolean => template.split('{').length <= 2;

const isSafe = ({ path, file, parameters = [] }: PublishedRoute): boolean =>
  isFile(file) &&
  hasOneParameter(path) &&
  hasOneParameter(file) &&
  parameters.every((each) => each.type !== 'asset' && each.type !== 'tree' && each.type !== 'path') &&
  parameters.every((each) => each.in !== 'query' || each.maximum - each.minimum < VALUES_MOST);

/** The publisher's own routes, which are the same in all trees of this format. */
const OWN_ROUTES: readonly PublishedRoute[] = [...ROUTES.filter(isOwn), ...LOG_ROUTES];
const KNOWN_ROUTES = [...OWN_ROUTES, ...ROUTES.filter(isFormer)];
const isOurs = ({ name, path, file }: PublishedRoute): boolean =>
  KNOWN_ROUTES.some((own) => own.name === name && own.path === path && own.file === file);

const namesOf = ({ parameters = [] }: PublishedRoute): string => parameters.map(({ name }) => name).join();

/** Whether a route without files of its own has a page to serve, and a document to require. */
const isPageOfRecords = (page: PublishedRoute, rendered: readonly PublishedRoute[]): boolean =>
  rendered.some(({ file }) => file === page.file) &&
  rendered.some((route) => route.name === page.requires && namesOf(route) === namesOf(page));

/** Whether no route leads out of the tree, to the publisher's own files or to those of another route. */
function areSafe(routes: readonly PublishedRoute[]): boolean {
  const rendered = routes.filter(isRendered);
  return (
    routes.every((route) => isOurs(route) || (!isOwn(route) && !isFormer(route) && isSafe(route))) &&
    routes.every((route) => hasFiles(route) || isPageOfRecords(route, rendered)) &&
    areApart(rendered, OWN_ROUTES)
  );
}

const OWN_FILE = /^\/changes\/\d+\.(json|ndjson\.gz)$/;
const changeIndex = changeIndexSchema.refine(
  (index) =>
    index.changes.length <= CHANGES_MOST &&
    filesIn(index.changes).every(
      ({ file, sha256: sum }) => OWN_FILE.test(file) && sha256.safeParse(sum).success,
    ),
);

const dataPackage = z.looseObject({
  resources: z.array(
    z.looseObject({ path: z.string(), bytes: count, hash: z.string().regex(/^sha256:[0-9a-f]{64}$/) }),
  ),
});

/** The header of a bundle, and one of its other lines. */
export const bundleHeader = z.object({ tree: z.string(), from: z.int(), to: z.int() });
export const bundleLine = z.union([
  z.object({ path: z.string(), sha256, bytes: count, body: z.string().exactOptional() }),
  z.object({ path: z.string(), deleted: z.literal(true) }),
]);

const parser =
  <T>(schema: z.ZodType<T>, what: string) =>
  (content: Buffer): T => {
    const { data, error } = schema.safeParse(parseJson(content.toString()));
    if (data !== undefined) return data;
    const where = error === undefined ? '' : placeOf(error);
    throw Failure.invalid(`${what} of the origin can't be used${where}: expected that of a tree of format 4`);
  };

export const parseOrigin = parser(originSchema, '/snapshot.json');
export const parseChangeIndex = parser(changeIndex, PATHS.changes);
export const parseDataPackage = parser(dataPackage, '/downloads/datapackage.json');

interface BufferOptions {
  readonly headers?: Readonly<Record<string, string>>;
  /** `api` by default. */
  readonly bucket?: Bucket;
  /** The most bytes that it may have; those of JSON by default. */
  readonly most?: number;
  /** The content of the response 304, if the headers permit it. */
  readonly held?: Buffer | undefined;
}

/** Fetches a small file of the origin. @throws MovedOn: it is not there; Failure invalid: it has more bytes */
export const fetchBuffer = (
  client: Client,
  path: string,
  { headers = {}, bucket = 'api', most = JSON_BYTES, held }: BufferOptions = {},
): Promise<{ readonly content: Buffer; readonly etag: string | undefined }> =>
  client.get(
    () => ({ path, bucket, headers }),
    async ({ status, headers: { etag }, chunks }) => {
      if (status === 304 && held !== undefined) return { content: held, etag };
      if (status !== 200) throw new MovedOn(`${path} is not there (${status})`);
      const content: Buffer[] = [];
      let bytes = 0;
      for await (const chunk of chunks) {
        content.push(chunk);
        bytes += chunk.length;
        if (bytes > most) throw Failure.invalid(`${path} of the origin has more than ${most} bytes`);
      }
      return { content: Buffer.concat(content), etag };
    },
  );

/** A document's route and key. */
export interface Address {
  readonly route: PublishedRoute & { readonly bucket: Bucket };
  readonly key: number;
}

/** Finds the document of a URL path, in the form in which change lists name it. */
export function addresses({ routes }: Origin): (path: string) => Address | undefined {
  const locate = locator(routes.filter(isRendered), urlTemplate);
  return (path) => {
    const place = locate(path);
    return place?.suffix === '' ? place : undefined;
  };
}
