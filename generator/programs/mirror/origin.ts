/** What an origin says about itself, checked: nothing of it is believed that could do harm. */
import { z } from 'zod';
import { Failure } from '../../base/errors.js';
import { parseJson } from '../../base/portable.js';
import { LOG_ROUTES, ROUTES } from '../../routes/routes.js';
import { hasFiles, urlTemplate, type Bucket } from '../../routes/route.js';
import { PATHS } from '../../routes/paths.js';
import { changeIndexSchema, bundlesIn } from '../../tree/changes.js';
import { CODINGS, siblingsFrom } from '../../tree/codings.js';
import { locator } from '../../tree/locate.js';
import { isFormer, isOwn, isRendered, type PublishedRoute } from '../../tree/published-routes.js';
import { placeOf, snapshotSchema } from '../../tree/snapshot-json.js';
import { count, sha256 } from '../../tree/values.js';

/** JSON that is read whole: 16 MiB at most. */
export const JSON_BYTES = 16 * 1024 * 1024;
/** A snapshot.json has some 60 kB: 2 MiB at most. */
export const SNAPSHOT_BYTES = 2 * 1024 * 1024;
/** There are 30 snapshots; each may have as many bytes of documents as the tree. */
const CHANGES_MOST = 100;
/** How many documents the values of a query parameter can make. */
const VALUES_MOST = 10_000;

export const originSchema = snapshotSchema.refine(({ routes }) => areSafe(routes), { path: ['routes'] });
export type Origin = z.infer<typeof originSchema>;

export interface OriginSnapshot {
  readonly origin: Origin;
  /** Of its snapshot.json. */
  readonly content: Buffer;
}

/** The publisher's own routes, which are the same in all trees of this format. */
const OWN_ROUTES: readonly PublishedRoute[] = [...ROUTES.filter(isOwn), ...LOG_ROUTES];
const KNOWN_ROUTES = [...OWN_ROUTES, ...ROUTES.filter(isFormer)];
const isOurs = ({ name, path, file }: PublishedRoute): boolean =>
  KNOWN_ROUTES.some((own) => own.name === name && own.path === path && own.file === file);

/** Whether a route of documents has one key, of a kind that is known to be one. */
const isKeyed = ({ path, file, parameters = [] }: PublishedRoute): boolean =>
  [path, file].every((template) => template.split('{').length <= 2) &&
  parameters.every((each) => each.type !== 'asset' && each.type !== 'tree' && each.type !== 'path') &&
  parameters.every((each) => each.in !== 'query' || each.maximum - each.minimum < VALUES_MOST);

const namesOf = ({ parameters = [] }: PublishedRoute): string => parameters.map(({ name }) => name).join();

/** Whether a route without files of its own has a page to serve, and a document to require. */
const isPageOfRecords = (page: PublishedRoute, rendered: readonly PublishedRoute[]): boolean =>
  rendered.some(({ file }) => file === page.file) &&
  rendered.some((route) => route.name === page.requires && namesOf(route) === namesOf(page));

/** Whether no route leads to the publisher's own files, or to those of another route. */
function areSafe(routes: readonly PublishedRoute[]): boolean {
  const rendered = routes.filter(isRendered);
  return (
    routes.every((route) => isOurs(route) || (!isOwn(route) && !isFormer(route) && isKeyed(route))) &&
    routes.every((route) => hasFiles(route) || isPageOfRecords(route, rendered)) &&
    areApart([...rendered, ...OWN_ROUTES])
  );
}

/** A name without its key, and without whatever could be of one. */
const shapeOf = (name: string): string => name.replace(/\{\w+\}/, '0').replaceAll(/[\da-f-]+/g, '*');

/**
 * Whether no file of a route is one of another, or a compressed sibling or folder of it. If one of
 * two names has a key, they count as the same if their shapes are.
 */
function areApart(routes: readonly PublishedRoute[]): boolean {
  const [names, shapes, keyed] = [new Set<string>(), new Set<string>(), new Set<string>()];
  const isFree = (name: string): boolean =>
    !keyed.has(shapeOf(name)) && !(name.includes('{') ? shapes.has(shapeOf(name)) : names.has(name));
  const take = (name: string): void => {
    if (name.includes('{')) keyed.add(shapeOf(name));
    else {
      names.add(name);
      shapes.add(shapeOf(name));
    }
  };
  const folders: string[] = [];
  const areFree = routes.every((route) => {
    // `{path}` stands for anything in a folder, which must be apart as a whole.
    const file = route.file.replace(/\/\{path\}$/, '');
    const parts = file.split('/').slice(0, -1);
    folders.push(...parts.map((_, depth) => parts.slice(0, depth + 1).join('/')));
    const suffixes = Number.isFinite(siblingsFrom(route)) ? CODINGS.map(({ suffix }) => suffix) : [];
    const all = ['', ...suffixes].map((suffix) => file + suffix);
    const isApart = all.every(isFree);
    all.forEach(take);
    return isApart;
  });
  return areFree && folders.every(isFree);
}

const OWN_FILE = /^\/changes\/\d+\.(json|ndjson\.gz)$/;
const changeIndex = changeIndexSchema.refine(
  (index) =>
    index.changes.length <= CHANGES_MOST &&
    bundlesIn(index.changes).every(
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
    throw Failure.invalid(`${what} of the origin can't be used${where}: expected that of a tree of format 5`);
  };

export const parseOrigin = parser(originSchema, '/snapshot.json');
export const parseChangeIndex = parser(changeIndex, PATHS.changes);
export const parseDataPackage = parser(dataPackage, '/downloads/datapackage.json');

/** A document's route and key. */
export interface Address {
  readonly route: PublishedRoute & { readonly bucket: Bucket };
  readonly key: number;
}

/** Finds the document of a URL path, in the form in which bundles name it. */
export function addresses({ routes }: Origin): (path: string) => Address | undefined {
  const locate = locator(routes.filter(isRendered), urlTemplate);
  return (path) => {
    const place = locate(path);
    return place?.suffix === '' ? place : undefined;
  };
}
