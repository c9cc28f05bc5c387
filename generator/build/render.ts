/** Renders a snapshot: distributes the work to the threads and puts the results. */
import { isDeepStrictEqual } from 'node:util';
import type { BuildConfig } from '../config/config.js';
import { shardsToRender } from './examine.js';
import type { Examined } from './examine.js';
import { Exports } from '../exports/exports.js';
import type { Downloads } from '../exports/exports.js';
import { isOther } from '../exports/other-documents.js';
import { LastDownloads } from '../exports/last.js';
import { otherPart, registerParts } from '../exports/parts.js';
import type { Part } from '../exports/parts.js';
import type { BuildKey } from './incremental/build-key.js';
import { FINGERPRINT_FILES } from './incremental/detect.js';
import { RENDERED_FEEDS, inputsFile, stayingFeeds } from '../outputs/feeds/contents.js';
import { LOOKUP_ROUTES, dueSections } from '../outputs/lookup/index.js';
import type { DueSection } from '../outputs/lookup/index.js';
import { Samples, descriptions, summaries } from '../outputs/index.js';
import { LIST_ROUTES, stayingLists } from '../outputs/lists/index.js';
import { follow } from '../progress.js';
import type { Progress } from '../progress.js';
import { treeDigest } from '../tree/digest.js';
import type { Indexer } from '../publish/next-index.js';
import type { Publisher } from '../publish/publisher.js';
import type { StagePaths } from '../publish/stage.js';
import type { Register } from '../register/database.js';
import { populationOf } from '../register/overview.js';
import type { Overview } from '../register/overview.js';
import { isRendered } from '../tree/published-routes.js';
import { routeNames } from '../routes/feeds.js';
import { tableFor, tableOf } from '../routes/index.js';
import type { Kind } from '../schema/field.js';
import { RESOURCES, documentsOf } from '../schema/index.js';
import { contentOf, routesOf } from '../config/site-files.js';
import type { Pool } from './workers/pool.js';

export interface Rendering {
  readonly config: BuildConfig;
  readonly register: Register;
  readonly pool: Pool;
  readonly publisher: Publisher;
  readonly overview: Overview;
  readonly buildKey: BuildKey;
}

/** Puts every document of a snapshot. @returns its bulk downloads */
export async function renderAll(
  { config, register, pool, publisher, overview, buildKey }: Rendering,
  examined: Examined,
  progress: Progress,
): Promise<Downloads> {
  const { changed, changedTables, hasFingerprints } = examined;
  const { index, next, tree, paths, spec: stage, previous, takedown } = publisher;
  const sources = { register, config, overview, table: tableFor(tableOf(config), overview.measured) };
  const routes = [
    ...RECORD_DOCUMENTS,
    ...RENDERED_FEEDS.flatMap(routeNames),
    ...LIST_ROUTES,
    ...LOOKUP_ROUTES,
  ];
  publisher.delegate(routes);
  let done = 0;
  const onProgress = (steps: number): void => void (done += steps);
  const rendering: Promise<void>[] = [];
  const isSameBuild = isDeepStrictEqual(index?.buildKey, buildKey);
  const asOf = [overview.asOf, previous?.as_of ?? null] as const;
  // Without these, everything is rendered.
  const tables = changed && changedTables;
  const staying = stayingFeeds(tables, asOf);
  if (staying.length < RENDERED_FEEDS.length) {
    const feeds = {
      operator: config.operator,
      asOf: overview.asOf,
      staying,
      old: isSameBuild ? tree.index : undefined,
      patches: paths.patches,
      stage,
    };
    // First, since it is the longest job.
    rendering.push(pool.run('feeds', feeds, { onProgress }));
  }
  const lists = { asOf: overview.asOf, staying: stayingLists(tables, asOf) };
  if (lists.staying.length < LIST_ROUTES.length)
    rendering.push(pool.run('lists', { ...lists, stage }, { onProgress }));
  const lookup = dueSections(overview, changed && changedTables);
  for (const due of lookup) rendering.push(pool.run('lookup', { ...due, stage }, { onProgress }));
  for (const render of shardsToRender(examined, paths.patches))
    rendering.push(pool.run('render', { ...render, stage }, { onProgress, folder: render.shard.kind }));
  const rendered = deferRejection(Promise.all(rendering));
  // A newly withheld record must not stay in a download.
  const keep = config.keepDownloads && changed !== undefined && !takedown.isOne;
  const exports = new Exports(pool, publisher, changedTables, register.measured, keep);
  const last = new LastDownloads(publisher, buildKey.code, (kind) =>
    fewChanges(kind, examined, overview, paths),
  );
  exports.start(registerParts(config.operator, overview, buildKey.code, last));
  const samples = new Samples(sources);
  progress.start('rendering', expectedFiles(overview, changed, lookup), 'files');
  for (const { route, key, body } of samples.watch(summaries(sources))) {
    publisher.put(route, key, body);
    await progress.advance(1);
  }
  for (const file of config.files) publisher.put(file.route.name, 0, contentOf(file));
  await follow(rendered, () => done, progress);
  progress.finish();
  const indexer: Indexer = {
    index: (indexing) => pool.run('index', indexing),
    patch: (patching) => pool.run('patch', patching),
  };
  const inputs = RENDERED_FEEDS.flatMap(routeNames).map(inputsFile);
  const indexing = deferRejection(
    Promise.all([
      next.indexRoutes(RECORD_DOCUMENTS, takedown, indexer),
      next.indexFiles(inputs, isSameBuild, indexer),
      hasFingerprints && next.indexFiles(FINGERPRINT_FILES, changedTables !== undefined, indexer),
    ]),
  );
  exports.start([await otherDocuments(config, publisher, buildKey.code)]);
  const downloads = await exports.finish(overview, progress);
  await indexing;
  const firstKeys = next.firstKeys();
  const described = descriptions(sources, samples, downloads, (name) => firstKeys.get(name), publisher.read);
  for (const { route, key, body } of described) publisher.put(route, key, body);
  return downloads;
}

/** The download with all documents that belong to no record, once all of them are staged. */
async function otherDocuments(config: BuildConfig, publisher: Publisher, code: string): Promise<Part> {
  const { next, takedown, spec: stage } = publisher;
  const routes = routesOf(config)
    .filter((route) => isRendered(route) && isOther(route))
    .map(({ name, path, file, class: cacheClass, parameters }) => ({
      name,
      path,
      file,
      class: cacheClass,
      ...(parameters && { parameters }),
    }));
  const names = routes.map(({ name }) => name);
  publisher.complete(names);
  await next.indexRoutes(names, takedown);
  const documents = names.reduce((sum, name) => sum + next.of(name).documents, 0);
  return otherPart(
    { routes, stage },
    documents,
    treeDigest(routes, ({ name }) => next.of(name)),
    code,
  );
}

/** If a larger share of a kind's records changed, its downloads are not made from their last version. */
const FEW = 1 / 4;

/** The patches of the fingerprints of a kind's records, if few of them changed. */
function fewChanges(
  kind: Kind,
  examined: Examined,
  { populations }: Overview,
  { patches }: Pick<StagePaths, 'patches'>,
): readonly string[] | undefined {
  const { records } = populationOf(populations, { kind });
  if (examined.changed === undefined || changedRecords(examined.changed, kind) > FEW * records)
    return undefined;
  return shardsToRender(examined, patches).flatMap(({ shard, changed }) =>
    shard.kind === kind && changed !== undefined ? [changed] : [],
  );
}

/** How many records of a kind were added, changed or removed. */
const changedRecords = (changed: NonNullable<Examined['changed']>, kind: Kind): number =>
  [...changed].reduce((sum, [shard, { dirty }]) => sum + (shard.kind === kind ? dirty : 0), 0);

/** Avoids an unhandled rejection; the error surfaces where the promise is awaited. */
function deferRejection<T>(promise: Promise<T>): Promise<T> {
  promise.catch(() => undefined);
  return promise;
}

/** The routes of records' documents. */
const RECORD_DOCUMENTS = RESOURCES.flatMap(documentsOf).map(({ route }) => route);

/**
 * About how many files are rendered.
 * @param changed the changes in each shard, if only those are rendered
 */
function expectedFiles(
  { populations }: Overview,
  changed: Examined['changed'],
  lookup: readonly DueSection[],
): number {
  const records = (kind: Kind): number =>
    changed === undefined ? populationOf(populations, { kind }).records : changedRecords(changed, kind);
  return RESOURCES.reduce(
    (sum, resource) => sum + records(resource.kind) * documentsOf(resource).length,
    lookup.reduce((sum, { expected }) => sum + expected, FIXED_FILES),
  );
}

/**
 * The index, statistics, the way to look up, 200 lists of the largest, five others and ten feeds,
 * which every register has.
 */
const FIXED_FILES = 218;
