/** The main sequence of a build: open, check, render, stage, commit, report. */
import type { BuildConfig } from '../config/config.js';
import { Failure, addUnchangedNote, asFailure, isInterrupt, messageOf } from '../errors.js';
import { THREADED_ROUTES } from './documents.js';
import { summaryOf } from '../exports/exports.js';
import type { Downloads, DownloadsSummary } from '../exports/exports.js';
import { buildKeyOf } from './incremental/build-key.js';
import { snapshotFeed } from '../outputs/feeds/snapshots.js';
import { manifest } from '../outputs/snapshot.js';
import {
  RECORD_ROUTES,
  implausible,
  implausibleRemovals,
  measuredInFuture,
  rewritten,
} from './removal-guard.js';
import type { Progress } from '../progress.js';
import { isCopy } from '../publish/copied.js';
import type { Changes } from '../publish/index-route.js';
import { writeLists } from '../publish/lists.js';
import { Publisher } from '../publish/publisher.js';
import { renderRecords } from './records.js';
import type { RenderedRecords } from './records.js';
import { renderRest } from './render.js';
import type { Announcement, AroundCommit, Plan } from '../publish/plan.js';
import { completeCommit } from '../publish/recover.js';
import { Tree } from '../tree/tree.js';
import type { CheckReport, Warning } from '../register/findings.js';
import { Register } from '../register/database.js';
import type { Overview } from '../register/overview.js';
import { identityOf, openConsistentSnapshot } from '../register/snapshot.js';
import { timeAt } from '../schema/time.js';
import { tableFor } from '../routes/index.js';
import { measuredKinds } from '../schema/measured.js';
import { routesOf } from '../config/site-files.js';
import { withheldOf } from './withheld.js';
import type { Pool } from './workers/pool.js';

/** The side effects of a build besides its files; passed in. */
export interface Effects {
  /** Also handles the request to stop: its pauses then reject. */
  readonly progress: Progress;
  readonly warn: (line: string) => void;
  /** The time of the build, read once. */
  readonly now: () => Date;
  readonly generator: {
    readonly name: string;
    readonly version: string;
    /** Identifies code and runtime: different code may render the same rows differently. */
    readonly code: string;
  };
  /** Starts the pool that runs the jobs of a build. @param notMeasured see `Register.open` */
  readonly startPool: (register: string, notMeasured: readonly string[]) => Pool;
}

/** The register must not be published as it is; the report says why. */
export interface Refused {
  readonly published: false;
  readonly report: CheckReport;
}

export interface Published extends DownloadsSummary {
  readonly published: true;
  readonly report: CheckReport;
  readonly sequence: number;
  readonly asOf: string | null;
  /** Published records, per kind that is measured. */
  readonly records: Readonly<Record<string, number>>;
  /** Records that are left out as invalid, per kind; empty if none is. */
  readonly excluded: Readonly<Record<string, number>>;
  /** What the register lacks, so that it counts as not measured (see absent.ts). */
  readonly absent: readonly string[];
  /** Why everything was rendered; null if not, or in a first build. */
  readonly fullRender: string | null;
  /** What may be a mistake in the register. */
  readonly warnings: readonly Warning[];
  /** Kinds that this build rewrote without a new measurement. */
  readonly rewritten: readonly Warning[];
  readonly files: number;
  readonly bytes: number;
  readonly changes: Readonly<Changes>;
  /** The signed log and its number of entries; null if the tree is not signed. */
  readonly log: { readonly origin: string; readonly size: number } | null;
}

/** What is done around the commit, and what came of it. */
export interface BuildLog extends AroundCommit {
  /** Null if nothing is signed here. */
  readonly summary: () => Published['log'];
}

/**
 * Builds the tree from the register. If the register is refused, or on an error or abort before the
 * commit, the published tree stays as it was.
 * @throws Failure with a one-line message and an exit code
 */
export async function build(
  config: BuildConfig,
  effects: Effects,
  log: BuildLog = NO_LOG,
): Promise<Refused | Published> {
  const { progress } = effects;
  // Completes an interrupted commit first, whatever the state of the register.
  const tree = new Tree(config.out, config.state);
  await completeCommit(tree, progress);
  if (isCopy(tree)) {
    throw Failure.environment(
      `"${config.out}" is a copy, whose snapshots are numbered by its origin: choose another folder with --out`,
    );
  }
  const identity = identityOf(config.register);
  const register = Register.open(config.register, config.notMeasured);
  const pool = effects.startPool(config.register, config.notMeasured);
  let closing: Promise<void> | undefined;
  const close = (): Promise<void> =>
    (closing ??= (async () => {
      await pool.close();
      register.close();
    })());
  try {
    const prepared = await addUnchangedNote(
      prepare({ config, tree, identity, register, pool, effects, log, close }),
    );
    if ('findings' in prepared) return { published: false, report: prepared };
    const { publisher, records, overview, plan, downloads } = prepared;
    const announcement = announce(prepared, config, effects);
    const committed = await publisher.commit(plan, announcement, progress, (folder) =>
      pool.run('discard', folder),
    );
    const { sequence, files, bytes, changes } = committed;
    return {
      published: true,
      report: records.report,
      sequence,
      asOf: overview.asOf,
      records: Object.fromEntries(
        overview.populations
          .filter(({ resource }) => overview.measured.has(resource.plural))
          .map(({ resource, records }) => [resource.plural, records]),
      ),
      excluded: records.excluded,
      absent: register.absent,
      fullRender: records.fullRender,
      warnings: prepared.warnings,
      rewritten: prepared.rewritten,
      ...summaryOf(downloads),
      files,
      bytes,
      changes,
      log: log.summary(),
    };
  } finally {
    await close();
  }
}

const NO_LOG: BuildLog = { summary: () => null };

/** What a build works with. */
interface Work {
  readonly config: BuildConfig;
  readonly tree: Tree;
  /** Identifies the file at the register's path. */
  readonly identity: string;
  readonly register: Register;
  readonly pool: Pool;
  readonly effects: Effects;
  readonly log: BuildLog;
  /** Ends the threads and closes the register. */
  readonly close: () => Promise<void>;
}

/** A build that is ready to be committed. */
interface Prepared {
  readonly publisher: Publisher;
  readonly records: RenderedRecords;
  readonly warnings: Published['warnings'];
  readonly rewritten: Published['rewritten'];
  readonly overview: Overview;
  readonly plan: Plan;
  readonly downloads: Downloads;
}

/** Everything before the commit. @returns the report instead if the register is refused */
async function prepare(work: Work): Promise<Prepared | CheckReport> {
  const { config, tree, identity, register, pool, effects, log, close } = work;
  const { skipInvalid } = config;
  const { progress } = effects;
  const { summary: _, ...around } = log;
  const table = tableFor(routesOf(config), register.measured);
  const publisher = await Publisher.open(
    tree,
    {
      routes: () => table,
      ...around,
      after: async (committed) => {
        await around.after?.(committed);
        writeLists(committed, config.operator.baseUrl, config.lists);
      },
    },
    progress,
  );
  try {
    await openConsistentSnapshot(config.register, identity, [register, ...pool.threads]);
    const buildKey = buildKeyOf(effects.generator.code, register.schema(), config);
    const { index, takedown, spec: stage } = publisher;
    publisher.writer.leave(THREADED_ROUTES);
    const records = await renderRecords({ ...work, index, stage, buildKey, skipInvalid, progress });
    if ('findings' in records) {
      await close();
      publisher.abort();
      return records;
    }
    const { counts, hasFingerprints: fingerprints, invalid } = records;
    takedown.withheld = withheldOf(register.exclusions());
    const { absent } = register;
    const now = effects.now();
    const compared = {
      register,
      counts,
      buildKey,
      declared: config.notMeasured,
      withheld: takedown.withheld.marks,
      out: tree.out,
      index,
      asOf: publisher.previous?.as_of ?? null,
      now,
    };
    if (!config.acceptRemovals)
      refuse(await progress.blocking(() => implausible(compared), 'counting what is withheld'));
    publisher.described = { buildKey, fingerprints, exports: {}, absent: [...absent], counts, invalid };
    const overview = await progress.blocking(records.overview, 'adding up the register');
    const rest = { ...work, publisher, overview, buildKey, records, now, progress };
    const downloads = await renderRest(rest);
    const plan = await progress.blocking(() => publisher.plan(), 'adding up the tree');
    const { next } = publisher;
    const byRoute = next.changesByRoute();
    if (!config.acceptRemovals)
      refuse(implausibleRemovals(byRoute, next.withheldByRoute(), register.measured));
    return {
      publisher,
      records,
      warnings: [...measuredInFuture(compared), ...records.warnings],
      rewritten: rewritten(compared, byRoute),
      overview,
      plan,
      downloads,
    };
  } catch (error) {
    // The original error matters more than one during cleanup.
    try {
      // The threads write to the stage, so they must end before it is removed.
      await close();
      publisher.abort(isInterrupt(error));
    } catch (further) {
      effects.warn(`the stage could not be removed: ${messageOf(further)}`);
    }
    throw asFailure(error, `state folder "${tree.state}"`);
  }
}

/** @throws Failure invalid: a removal is not plausible */
function refuse(doubt: string | undefined): void {
  if (doubt !== undefined) throw Failure.invalid(doubt);
}

function announce(
  { overview, downloads }: Prepared,
  config: BuildConfig,
  { now, generator }: Effects,
): Announcement {
  const table = tableFor(routesOf(config), overview.measured);
  const builtAt = timeAt(now().getTime());
  return {
    manifest: (plan) => manifest({ config, overview, downloads, table, plan, builtAt, generator }),
    kinds: RECORD_ROUTES,
    snapshotFeed: snapshotFeed(
      config.operator,
      measuredKinds(overview.measured).map(({ plural }) => plural),
    ),
  };
}
