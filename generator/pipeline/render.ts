/** Renders all of a snapshot but the documents of records: other documents, then what follows from all of them. */
import { setImmediate } from 'node:timers/promises';
import { isDeepStrictEqual } from 'node:util';
import type { BuildConfig } from '../config/config.js';
import { RECORD_DOCUMENTS, startSections } from './documents.js';
import type { RenderedRecords } from './records.js';
import { Exports, type Downloads } from '../exports/exports.js';
import { isOther } from '../exports/documents.js';
import { otherPart, registerParts, type DownloadJob } from '../exports/parts.js';
import type { BuildKey } from './incremental/build-key.js';
import { FINGERPRINTS, sourceId } from './incremental/sources.js';
import { Samples, descriptions, summaries, type Sources } from '../outputs/outputs.js';
import { securityText } from '../outputs/pages/well-known.js';
import type { PublishedRoute } from '../tree/published-routes.js';
import { isDocument } from '../routes/route.js';
import { deferRejection, follow, type Progress } from '../base/progress.js';
import { totalOf } from '../state/next.js';
import { treeDigest } from '../tree/digest.js';
import { nextRoutes } from '../publish/compared-routes.js';
import type { Publisher } from '../publish/publisher.js';
import type { Register } from '../register/database.js';
import type { Overview } from '../register/overview.js';
import { tableFor, ROUTES } from '../routes/routes.js';
import { contentOf, isSiteFile, replacedBy } from '../config/site-files.js';
import type { Pool } from './workers/pool.js';
import { INPUTS } from './workers/section.js';

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

/** What the rest of a snapshot follows from. */
export interface Documents {
  readonly sources: Sources;
  readonly samples: Samples;
  /** The downloads, of which those that are due are being written. */
  readonly exports: Exports;
  /** Resolved once what threads have found is in the state. */
  readonly applying: Promise<unknown>;
}

/** Puts the documents that belong to no record, and starts to write the downloads. */
export async function renderDocuments(work: RenderWork): Promise<Documents> {
  const { config, register, pool, publisher, overview, buildKey, records, now, progress } = work;
  const { changed, changedTables } = records;
  const { last, spec, previous, takedown } = publisher;
  const table = tableFor(ROUTES, overview.measured);
  const sources = { register, config, overview, table, now };
  const isSameBuild = isDeepStrictEqual(last?.buildKey, buildKey);
  const rendered = startSections(pool, {
    operator: config.operator,
    overview,
    records,
    stage: spec,
    isSameBuild,
    asOfBefore: previous?.as_of ?? null,
  });
  // A newly withheld record must not stay in a download.
  const keep = config.keepDownloads && changed !== undefined && !takedown.withholdsMore;
  const exports = new Exports(pool, publisher, changedTables, register.measured, keep);
  const { rangesOf } = work.records;
  exports.start(registerParts(config.operator, { overview, rangesOf, code: buildKey.code }));
  const samples = await progress.blocking(() => new Samples(sources), 'choosing examples for documentation');
  progress.start('rendering', rendered.expected, 'files');
  const outputs = await progress.blocking(() => [...samples.watch(summaries(sources))]);
  for (const { route, key, body } of outputs) publisher.writer.route(route).put(key, body);
  await progress.advance(outputs.length);
  for (const file of config.files) publisher.writer.route(file.route.name).put(0, contentOf(file));
  await follow(rendered.end, rendered.done, progress);
  progress.finish();
  exports.start([await otherDocuments(publisher, buildKey.code, progress)]);
  const applying = deferRejection(applySources(work, isSameBuild));
  return { sources, samples, exports, applying };
}

/** Applies the differences of records' documents and of fingerprints, while threads write the downloads. */
async function applySources(
  { publisher, records: { changedTables, hasFingerprints } }: RenderWork,
  isSameBuild: boolean,
): Promise<void> {
  const { next, isDryRun, spec } = publisher;
  if (isDryRun) return;
  for (const name of RECORD_DOCUMENTS) {
    // Threads that are done get their next job in between.
    await setImmediate();
    const route = spec.routes.get(name);
    if (route !== undefined) next.apply(route);
  }
  for (const { id, name } of INPUTS) next.applySource(id, name, isSameBuild);
  for (const name of hasFingerprints ? FINGERPRINTS : []) {
    await setImmediate();
    next.applySource(sourceId(name), name, changedTables !== undefined);
  }
}

/** Puts descriptions, pages and downloads. @returns the bulk downloads */
export async function renderDerived(
  { publisher, overview, progress }: RenderWork,
  { sources, samples, exports, applying }: Documents,
): Promise<Downloads> {
  const downloads = await exports.finish(overview, progress);
  await applying;
  const described = descriptions(sources, samples, downloads, publisher.firstKey, publisher.read);
  // The front page looks for the newest records, which a slow view may take long to tell.
  await progress.blocking(() => {
    for (const { route, key, body } of described) publisher.writer.route(route).put(key, body);
  });
  return downloads;
}

/** The same in a dry run, which leaves all of these as they are. @returns the downloads that a build would write */
export async function dueDownloads(
  { config, publisher }: RenderWork,
  { sources: { table, now }, exports, applying }: Documents,
): Promise<readonly string[]> {
  await applying;
  const { due } = exports;
  // The only page that follows from something else: the month.
  publisher.writer.route(SECURITY).put(0, securityText(config.operator, table, now));
  const all = [...publisher.spec.routes.values()].map(({ route }) => route);
  publisher.writer.leave(all.filter((route) => isDerived(route, config)).map(({ name }) => name));
  return due;
}

const SECURITY = 'security-contact';

/** Whether what is at a route follows from documents, so that a dry run doesn't render it. */
export const isDerived = (route: PublishedRoute, { files }: Pick<BuildConfig, 'files'>): boolean =>
  !isDocument(route) && !isSiteFile(route) && !replacedBy(files).has(route.name) && route.name !== SECURITY;

/** The download with all documents that belong to no record, once all of them are staged. */
async function otherDocuments(publisher: Publisher, code: string, progress: Progress): Promise<DownloadJob> {
  const { spec: stage } = publisher;
  const routes = nextRoutes(stage.routes).filter(isOther);
  const names = routes.map(({ name }) => name);
  publisher.writer.complete(names);
  await publisher.apply(names, progress);
  const { added, changed, removed, unchanged } = totalOf(names.map((name) => publisher.changesOf(name)));
  // A dry run applies nothing: what it has is of the last snapshot.
  const isLast = publisher.isDryRun && added + changed + removed > 0;
  const content = isLast ? '' : treeDigest(routes, ({ name }) => publisher.summaryOf(name));
  return otherPart({ routes, stage }, added + changed + unchanged, content, code);
}
