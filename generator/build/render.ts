/** Renders all of a snapshot but the documents of records. */
import { isDeepStrictEqual } from 'node:util';
import type { BuildConfig } from '../config/config.js';
import { RECORD_DOCUMENTS, startSections } from './documents.js';
import type { RenderedRecords } from './records.js';
import { Exports } from '../exports/exports.js';
import type { Downloads } from '../exports/exports.js';
import { isOther } from '../exports/other-documents.js';
import { LastDownloads } from '../exports/last.js';
import { otherPart, registerParts } from '../exports/parts.js';
import type { DownloadJob } from '../exports/parts.js';
import type { BuildKey } from './incremental/build-key.js';
import { FINGERPRINT_FILES, recordsFile } from './incremental/detect.js';
import { Samples, descriptions, summaries } from '../outputs/index.js';
import { INPUTS_FILES } from '../outputs/sections.js';
import { deferRejection, follow } from '../progress.js';
import type { Progress } from '../progress.js';
import { treeDigest } from '../tree/digest.js';
import type { Patching } from '../tree/patch.js';
import { nextRoutes } from '../publish/compared-routes.js';
import type { Publisher } from '../publish/publisher.js';
import { patchesOf } from '../publish/stage.js';
import type { StagePaths } from '../publish/stage.js';
import type { Register } from '../register/database.js';
import { populationOf } from '../register/overview.js';
import type { Overview } from '../register/overview.js';
import { tableFor, tableOf } from '../routes/index.js';
import type { Kind } from '../schema/field.js';
import { contentOf } from '../config/site-files.js';
import type { Pool } from './workers/pool.js';

export interface RenderWork {
  readonly config: BuildConfig;
  readonly register: Register;
  readonly pool: Pool;
  readonly publisher: Publisher;
  readonly overview: Overview;
  readonly buildKey: BuildKey;
  readonly records: RenderedRecords;
  readonly now: Date;
  readonly progress: Progress;
}

/** Puts every other document of a snapshot. @returns its bulk downloads */
export async function renderRest(work: RenderWork): Promise<Downloads> {
  const { config, register, pool, publisher, overview, buildKey, records, now, progress } = work;
  const { changed, changedTables, hasFingerprints } = records;
  const { index, next, tree, paths, spec, previous, takedown } = publisher;
  const table = tableFor(tableOf(config), overview.measured);
  const sources = { register, config, overview, table, now };
  const isSameBuild = isDeepStrictEqual(index?.buildKey, buildKey);
  const rendered = startSections(pool, {
    operator: config.operator,
    overview,
    records,
    stage: spec,
    sameBuild: isSameBuild ? tree.index : undefined,
    asOfBefore: previous?.as_of ?? null,
  });
  // A newly withheld record must not stay in a download.
  const keep = config.keepDownloads && changed !== undefined && !takedown.isOne;
  const exports = new Exports(pool, publisher, changedTables, register.measured, keep);
  const last = new LastDownloads(publisher, buildKey.code, (kind) =>
    fewChanges(kind, changed, overview, paths),
  );
  exports.start(registerParts(config.operator, overview, buildKey.code, last));
  const samples = await progress.blocking(() => new Samples(sources), 'choosing examples');
  progress.start('rendering', rendered.expected, 'files');
  const outputs = await progress.blocking(() => [...samples.watch(summaries(sources))]);
  for (const { route, key, body } of outputs) publisher.writer.route(route).put(key, body);
  await progress.advance(outputs.length);
  for (const file of config.files) publisher.writer.route(file.route.name).put(0, contentOf(file));
  await follow(rendered.end, rendered.done, progress);
  progress.finish();
  const patch = (patching: Patching): Promise<string> => pool.run('patch', patching);
  const indexing = deferRejection(
    Promise.all([
      next.indexRoutes(RECORD_DOCUMENTS, (indexing) => pool.run('index', indexing)),
      next.indexFiles(INPUTS_FILES, isSameBuild, patch),
      hasFingerprints && next.indexFiles(FINGERPRINT_FILES, changedTables !== undefined, patch),
    ]),
  );
  exports.start([await otherDocuments(publisher, buildKey.code, last)]);
  const downloads = await exports.finish(overview, progress);
  await indexing;
  const firstKeys = next.firstKeys();
  const described = descriptions(sources, samples, downloads, (name) => firstKeys.get(name), publisher.read);
  for (const { route, key, body } of described) publisher.writer.route(route).put(key, body);
  return downloads;
}

/** The download with all documents that belong to no record, once all of them are staged. */
async function otherDocuments(publisher: Publisher, code: string, last: LastDownloads): Promise<DownloadJob> {
  const { next, spec: stage } = publisher;
  const routes = nextRoutes(stage.routes).filter(isOther);
  const names = routes.map(({ name }) => name);
  publisher.writer.complete(names);
  await next.indexRoutes(names);
  const documents = names.reduce((sum, name) => sum + next.of(name).documents, 0);
  return otherPart(
    { routes, stage, last: last.other() },
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
  changed: RenderedRecords['changed'],
  { populations }: Overview,
  paths: Pick<StagePaths, 'patches'>,
): readonly string[] | undefined {
  const { records } = populationOf(populations, { kind });
  const count = changed?.get(kind);
  return count === undefined || count > FEW * records ? undefined : patchesOf(paths, recordsFile(kind));
}
