/** The story of a build: open, check, render, stage, commit, report. */
import type { BuildConfig } from './config.js';
import { Failure, asFailure, isInterrupt, messageOf } from './errors.js';
import { examine } from './examine.js';
import type { Examined } from './examine.js';
import { Exports } from './exports/exports.js';
import type { Downloads } from './exports/exports.js';
import { makings } from './exports/makings.js';
import { summaryOf } from './exports/summary.js';
import type { DownloadsSummary } from './exports/summary.js';
import { FEEDS, routeNames } from './feed-routes.js';
import type { Job } from './jobs.js';
import { snapshotTeller } from './outputs/feeds/snapshots.js';
import { manifest } from './outputs/manifest.js';
import { Samples, descriptions, summaries } from './outputs/index.js';
import type { Sources } from './outputs/index.js';
import { Placing } from './placing.js';
import { RECORD_ROUTES, implausible, implausibleList } from './plausible.js';
import type { Progress } from './progress.js';
import type { Discard } from './publish/commit.js';
import { writeLists } from './publish/lists.js';
import { Publisher } from './publish/publisher.js';
import type { Announcement, Plan } from './publish/plan.js';
import type { Changes } from './publish/series.js';
import { completeCommit } from './publish/settle.js';
import { Tree } from './publish/tree.js';
import { isPublishable } from './register/check.js';
import type { CheckReport } from './register/check.js';
import { Register } from './register/open.js';
import { recordsChanged } from './register/published.js';
import type { Overview } from './register/published.js';
import { beginTogether, identityOf } from './register/together.js';
import { Renderer } from './rendering/renderer.js';
import { routes } from './routes.js';
import type { Route } from './routes.js';
import { Pool } from './threads/pool.js';
import { newTurns } from './threads/turns.js';
import { keepUnchanged } from './unchanged.js';
import { withheldOf } from './withheld.js';

/** What a build does to the world outside its files, passed in. */
export interface Effects {
  /** Also carries the wish to stop: its pauses then reject. */
  readonly progress: Progress;
  readonly warn: (line: string) => void;
  /** The time of the build, read once. */
  readonly now: () => Date;
  readonly generator: {
    readonly name: string;
    readonly version: string;
    /** Identifies the code and what it runs on: another may render the same rows in another way. */
    readonly code: string;
  };
  /** The module that threads run (worker.js). */
  readonly worker: URL;
}

/** A register that must not be published as it is, with what is wrong. */
export interface Refused {
  readonly published: false;
  readonly report: CheckReport;
}

export interface Published extends DownloadsSummary {
  readonly published: true;
  readonly report: CheckReport;
  readonly sequence: number;
  readonly asOf: string | null;
  /** Records published, per kind. */
  readonly records: Readonly<Record<string, number>>;
  readonly files: number;
  readonly bytes: number;
  readonly changes: Readonly<Changes>;
}

/** The connections and threads of a build. */
interface Readers {
  readonly register: Register;
  readonly pool: Pool<Job>;
}

/**
 * Builds the tree from the register. A refused register, an error or an abort before the commit leaves the
 * published tree as it was.
 * @throws Failure with one line for the operator and an exit code
 */
export async function build(config: BuildConfig, effects: Effects): Promise<Refused | Published> {
  const { progress, worker } = effects;
  // Whatever the register is like, a tree between two snapshots can't wait.
  const tree = new Tree(config.out, config.state);
  await completeCommit(tree, progress);
  const identity = identityOf(config.register);
  const register = Register.open(config.register);
  const pool = new Pool<Job>(worker, config.register);
  const readers = { register, pool };
  const close = async (): Promise<void> => {
    await pool.close();
    register.close();
  };
  try {
    const prepared = await untouched(prepare(config, tree, identity, readers, effects, close));
    if ('findings' in prepared) return { published: false, report: prepared };
    const { publisher, overview, table, plan, downloads, report } = prepared;
    const announcement = announce(config, overview, downloads, table, plan, effects);
    const discard: Discard = (folders) => pool.share({ do: 'discard', folders, turns: newTurns() });
    await publisher.commit(announcement, progress, discard);
    const { sequence, files, bytes, changes } = plan;
    writeLists(tree, config.operator.baseUrl, config.lists);
    return {
      published: true,
      report,
      sequence,
      asOf: overview.asOf,
      records: Object.fromEntries(
        overview.populations.map(({ resource, records }) => [resource.plural, records]),
      ),
      ...summaryOf(downloads),
      files,
      bytes,
      changes,
    };
  } finally {
    await close();
  }
}

/** Whatever goes wrong before the commit, the operator learns that nothing came of it. */
export async function untouched<T>(work: Promise<T>): Promise<T> {
  try {
    return await work;
  } catch (error) {
    throw error instanceof Failure ? error.adding('the published tree is what it was') : error;
  }
}

/** A build that is ready to be committed. */
interface Prepared {
  readonly publisher: Publisher;
  readonly report: CheckReport;
  readonly overview: Overview;
  readonly table: readonly Route[];
  readonly plan: Plan;
  readonly downloads: Downloads;
}

/** Everything before the commit: what a refused register comes to is its report. */
async function prepare(
  config: BuildConfig,
  tree: Tree,
  identity: string,
  readers: Readers,
  effects: Effects,
  close: () => Promise<void>,
): Promise<Prepared | CheckReport> {
  const { register, pool } = readers;
  const table = routes(config.layout);
  const publisher = await Publisher.open(tree, () => table, effects.progress);
  try {
    await pool.opened();
    await beginTogether(config.register, identity, [register, ...pool.threads]);
    const examined = await examine(
      config,
      register,
      pool,
      publisher,
      effects.generator.code,
      effects.progress,
    );
    if (!isPublishable(examined.report, config.skipInvalid)) {
      await close();
      publisher.abort();
      return examined.report;
    }
    const hidden = register.hidden();
    await pool.hide(hidden);
    const { takedown } = publisher;
    takedown.withheld = withheldOf(hidden);
    if (!config.acceptRemovals) refuse(implausibleList(takedown.before, takedown.withheld.marks));
    const overview = examined.measured();
    publisher.reuse.make(makings(effects.generator.code));
    const placing = new Placing(pool, publisher);
    const work = { ...readers, config, overview, table, publisher, placing };
    const downloads = await renderAll(work, examined, effects);
    const plan = publisher.plan();
    // Meanwhile documents were still written.
    await placing.settled();
    await publisher.settled();
    if (!config.acceptRemovals) refuse(implausible(plan.byRoute, takedown.removed));
    return { publisher, report: examined.report, overview, table, plan, downloads };
  } catch (error) {
    // The error that stopped the build matters more than one of cleaning up after it.
    try {
      // The threads write where is to be cleaned.
      await close();
      publisher.abort(isInterrupt(error));
    } catch (further) {
      effects.warn(`the stage could not be removed: ${messageOf(further)}`);
    }
    throw asFailure(error, `state folder "${tree.state}"`);
  }
}

/** @throws Failure invalid with what is not plausible, if anything is */
function refuse(doubt: string | undefined): void {
  if (doubt !== undefined) throw Failure.invalid(doubt);
}

/** What a build works with, once the register is found fit to be published. */
interface Work extends Sources, Readers {
  readonly publisher: Publisher;
  readonly placing: Placing;
}

/** Files that may be waiting to be compressed, so that others are written meanwhile: those are what takes long. */
const COMPRESSING_AT_ONCE = 16;

async function renderAll(
  work: Work,
  { changed, made, folders, survey }: Examined,
  { progress }: Effects,
): Promise<Downloads> {
  const { register, pool, config, overview, publisher, placing } = work;
  const exports = new Exports(pool, publisher, overview, changed?.tables, config.keepDownloads);
  const renderer = new Renderer(pool);
  const staying = changed === undefined ? [] : keepUnchanged(publisher, changed, overview.asOf);
  const { operator, layout } = config;
  const scope = changed === undefined ? 'all' : 'changed';
  const feeds = staying.map(({ name }) => name);
  const rendering = { scope, imprint: operator, asOf: overview.asOf, layout, staying: feeds } as const;
  if (changed?.ranges.length !== 0) renderer.begin('records', rendering, folders);
  // Where this one stays, all do.
  if (!staying.includes(FEEDS.all)) renderer.begin('feeds', rendering, folders);
  if (publisher.previous === undefined) exports.beginAll();
  const surveying = survey();
  // Thrown when it is waited for.
  surveying.catch(() => undefined);
  const samples = new Samples(work);
  progress.start('rendering', expectedFiles(overview, changed && register), 'files');
  for (const { route, key, body } of samples.watch(summaries(work))) {
    publisher.put(route, key, body);
    await progress.advance(1);
  }
  for await (const batch of renderer.batches()) {
    placing.take(batch, (route) => exports.noteChanged(route));
    await publisher.settled(COMPRESSING_AT_ONCE);
    await progress.advance(batch.size);
  }
  progress.finish();
  const downloads = await exports.finish(progress);
  const firstKey = (route: string): number | undefined => publisher.firstKey(route);
  for (const { route, key, body } of descriptions(work, samples, downloads, firstKey))
    publisher.put(route, key, body);
  const sums = await surveying;
  if (sums !== undefined) {
    const inputs = { ...sums, ...renderer.sums };
    publisher.reuse.remember(made, inputs, staying.flatMap(routeNames));
  }
  return downloads;
}

function announce(
  config: BuildConfig,
  overview: Overview,
  downloads: Downloads,
  table: readonly Route[],
  plan: Plan,
  { now, generator }: Effects,
): Announcement {
  const builtAt = wholeSeconds(now());
  return {
    manifest: manifest({ config, overview, downloads, table, plan, builtAt, generator }),
    asOf: overview.asOf,
    builtAt,
    kinds: RECORD_ROUTES,
    tell: snapshotTeller(config.operator),
  };
}

/** @param changed where only what it calls changed is rendered */
const expectedFiles = ({ populations }: Overview, changed: Register | undefined): number =>
  populations.reduce(
    (sum, { resource, records }) =>
      sum +
      (changed === undefined ? records : recordsChanged(changed, resource)) *
        (resource.history === undefined ? 1 : 2),
    FIXED_FILES,
  );

/** The index, the statistics, the 200 lists of the largest and ten feeds: documents there are whatever the register holds. */
const FIXED_FILES = 212;

/** RFC 3339 UTC in whole seconds. */
export const wholeSeconds = (time: Date): string => time.toISOString().replace(/\.\d+Z$/, 'Z');
