/** The main sequence of a build: open, check, render, stage, commit, report. */
import type { BuildConfig } from '../config/config.js';
import { Failure, addUnchangedNote, asFailure, isInterrupt, messageOf } from '../base/errors.js';
import { THREADED_ROUTES } from './documents.js';
import { summaryOf, type Downloads, type DownloadsSummary } from '../exports/exports.js';
import { buildKeyOf } from './incremental/build-key.js';
import { snapshotFeed } from '../outputs/feeds/snapshots.js';
import { manifest } from '../outputs/snapshot.js';
import { RECORD_ROUTES, doubtsOf, implausibleRemovals, rewritten } from './removal-guard.js';
import type { Progress } from '../base/progress.js';
import { totalOf, type Changes } from '../state/next.js';
import { writeLists } from '../publish/lists.js';
import { Publisher } from '../publish/publisher.js';
import { renderRecords, type RenderedRecords } from './records.js';
import { examplesIn, type ExampleChange } from './examples.js';
import {
  dueDownloads,
  isDerived,
  renderDerived,
  renderDocuments,
  type Documents,
  type RenderWork,
} from './render.js';
import { completeCommit } from '../publish/commit.js';
import { distrustState, isCommitting } from '../state/published.js';
import { readManifest } from '../tree/manifest.js';
import type { Route } from '../routes/route.js';
import type { Announcement, Plan } from '../publish/plan.js';
import { isDamagedState, type Described } from '../state/schema.js';
import { Tree } from '../tree/tree.js';
import type { CheckReport, Warning } from '../register/findings.js';
import { Register } from '../register/database.js';
import type { Overview } from '../register/overview.js';
import { identityOf, openConsistentSnapshot } from '../register/snapshot.js';
import { timeAt } from '../schema/time.js';
import { tableFor } from '../routes/routes.js';
import { measuredKinds } from '../schema/measured.js';
import { routesOf } from '../config/site-files.js';
import { withheldOf } from './takedown.js';
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
}

/**
 * Builds the tree from the register. If the register is refused, or on an error or abort before the
 * commit, the published tree stays as it was.
 * @throws Failure with a one-line message and an exit code
 */
export async function build(config: BuildConfig, effects: Effects): Promise<Refused | Published> {
  try {
    return await buildOnce(config, effects);
  } catch (error) {
    if (!isDamagedState(error)) throw error;
    effects.warn(`warning: ${messageOf(error)}; the state is rebuilt from the published files now`);
    distrustState(new Tree(config.out, config.state));
    return buildOnce(config, effects);
  }
}

async function buildOnce(config: BuildConfig, effects: Effects): Promise<Refused | Published> {
  const { progress } = effects;
  // Completes an interrupted commit first, whatever the state of the register.
  const tree = new Tree(config.out, config.state);
  await completeCommit(tree, progress);
  return withRegister(config, effects, tree, async (work) => {
    const planned = await addUnchangedNote(
      plan(work, {
        open: (table) =>
          Publisher.open(
            tree,
            { routes: table, after: () => writeLists(tree, config.operator.baseUrl, config.lists) },
            progress,
          ),
        doubt: (why) => {
          throw Failure.invalid(why);
        },
        derive: renderDerived,
      }),
    );
    if ('findings' in planned) return { published: false, report: planned };
    const { publisher, records, overview, derived: downloads } = planned;
    const announcement = announce(planned, work);
    const committed = await publisher.commit(planned.plan, announcement, progress);
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
      absent: work.register.absent,
      fullRender: records.fullRender,
      warnings: records.warnings,
      rewritten: planned.rewritten,
      ...summaryOf(downloads),
      files,
      bytes,
      changes,
    };
  });
}

/** What a build would change. */
export interface Difference {
  readonly report: CheckReport;
  /** The published snapshot; null if there is none. */
  readonly sequence: number | null;
  /** Documents, feeds and the operator's files: pages and descriptions are derived from them. */
  readonly changes: Readonly<Changes>;
  readonly byRoute: Readonly<Record<string, Readonly<Changes>>>;
  /** The tables whose bulk downloads a build would write. */
  readonly exports: readonly string[];
  /** Why a build would be refused; null if it would not. */
  readonly implausible: string | null;
  /** What a build would warn of. */
  readonly warnings: readonly Warning[];
  readonly rewritten: readonly Warning[];
  readonly examples: readonly ExampleChange[];
}

/**
 * Does what a build does up to its plan, and says what that would change. The tree is only read.
 * @throws Failure as a build would; invalid: the tree has no sound state to compare with
 */
export async function dryRun(config: BuildConfig, effects: Effects): Promise<Difference> {
  const tree = new Tree(config.out, config.state);
  return withRegister(config, effects, tree, async (work) => {
    let doubt: string | undefined;
    const planned = await plan(work, {
      open: async (table) => Publisher.dryRun(tree, table),
      doubt: (why) => (doubt ??= why),
      derive: dueDownloads,
    });
    if ('findings' in planned) {
      throw Failure.invalid(
        `the register has ${planned.total} findings, so a build would publish nothing (see check)`,
      );
    }
    const { publisher, records, rewritten, derived: exports } = planned;
    const { previous, next, spec } = publisher;
    try {
      if (isCommitting(tree) || readManifest(tree.manifest)?.built_at !== previous?.built_at) {
        throw Failure.environment(`"${tree.out}" was published while it was compared: compare again`);
      }
      const compared = [...spec.routes.values()].filter(({ route }) => !isDerived(route, config));
      const byRoute = compared.map((route) => [route.route.name, next.changesOf(route)] as const);
      return {
        report: records.report,
        sequence: previous?.sequence ?? null,
        changes: totalOf(byRoute.map(([, counts]) => counts)),
        byRoute: Object.fromEntries(byRoute),
        exports,
        implausible: doubt ?? null,
        warnings: records.warnings,
        rewritten,
        examples: examplesIn(spec, next, compared),
      };
    } finally {
      publisher.abort();
    }
  });
}

/** What a build works with. */
interface Work {
  readonly config: BuildConfig;
  readonly tree: Tree;
  readonly register: Register;
  /** Identifies the file at its path. */
  readonly identity: string;
  readonly pool: Pool;
  readonly effects: Effects;
  readonly progress: Progress;
  readonly now: Date;
  /** Ends the threads and closes the register. */
  readonly close: () => Promise<void>;
}

/** Opens the register, here and in threads, for as long as it is used. */
async function withRegister<T>(
  config: BuildConfig,
  effects: Effects,
  tree: Tree,
  use: (work: Work) => Promise<T>,
): Promise<T> {
  const now = effects.now();
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
    return await use({
      config,
      tree,
      register,
      identity,
      pool,
      effects,
      progress: effects.progress,
      now,
      close,
    });
  } finally {
    await close();
  }
}

/** What differs between a build and a dry run. */
interface Steps<Derived> {
  /** Opens the tree for the routes of the snapshot. */
  readonly open: (table: readonly Route[]) => Promise<Publisher>;
  /** Called with why a build is not plausible. */
  readonly doubt: (why: string) => void;
  /** What follows from the documents: downloads, descriptions and pages. */
  readonly derive: (work: RenderWork, documents: Documents) => Promise<Derived>;
}

/** A snapshot that could be committed. */
interface Planned<Derived> {
  readonly publisher: Publisher;
  readonly records: RenderedRecords;
  readonly rewritten: readonly Warning[];
  readonly overview: Overview;
  readonly plan: Plan;
  readonly derived: Derived;
}

/**
 * Renders a snapshot, and compares it with what is published.
 * @returns the report instead if the register is refused
 */
async function plan<Derived>(
  work: Work,
  { open, doubt, derive }: Steps<Derived>,
): Promise<Planned<Derived> | CheckReport> {
  const { config, tree, identity, register, pool, effects, progress, now, close } = work;
  const publisher = await open(tableFor(routesOf(config.files), register.measured));
  try {
    await openConsistentSnapshot(config.register, identity, [register, ...pool.threads], now);
    const { last, takedown, spec: stage } = publisher;
    warnOfExample(config, register, effects.warn);
    warnOfUnknown(last, effects.warn);
    const buildKey = buildKeyOf(effects.generator.code, register.schema(), config);
    publisher.writer.leave(THREADED_ROUTES);
    const records = await renderRecords({ ...work, last, stage, buildKey });
    if ('findings' in records) {
      await close();
      publisher.abort();
      return records;
    }
    const { counts, hasFingerprints: fingerprints, invalid } = records;
    takedown.withheld = withheldOf(register.exclusions());
    const { absent } = register;
    const compared = {
      register,
      counts,
      buildKey,
      declared: config.notMeasured,
      withheld: takedown.withheld.marks,
      out: tree.out,
      last,
      asOf: publisher.previous?.as_of ?? null,
    };
    const consider = (why: string | undefined): void => {
      if (why !== undefined) doubt(why);
    };
    consider(
      await progress.blocking(() => doubtsOf(compared, config), 'counting losses, for the removal guard'),
    );
    publisher.described = { buildKey, fingerprints, exports: {}, absent: [...absent], counts, invalid };
    const overview = await progress.blocking(records.overview, 'adding up the register, for statistics');
    const rendering = { ...work, publisher, overview, buildKey, records };
    const derived = await derive(rendering, await renderDocuments(rendering));
    const plan = await progress.blocking(
      () => publisher.plan(progress),
      'adding up the tree, for its digest',
    );
    const byRoute = publisher.changesByRoute();
    if (!config.acceptRemovals)
      consider(implausibleRemovals(byRoute, publisher.withheldByRoute(), register.measured));
    return { publisher, records, rewritten: rewritten(compared, byRoute), overview, plan, derived };
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

/** Warns of publishing somebody's register in the name, and under the licence, of an example. */
function warnOfExample(
  { example, operator: { name, licence } }: BuildConfig,
  register: Register,
  warn: Effects['warn'],
): void {
  if (example === undefined || register.isSample) return;
  warn(
    `warning: without --operator this register is published as "${name}" under ${licence.name}: copy` +
      ` ${example}, say in the copy who you are, and name it with --operator`,
  );
}

/** Warns that nothing holds back what was withheld before. @param last the last snapshot, if any */
function warnOfUnknown(last: Described | undefined, warn: Effects['warn']): void {
  if (last === undefined || last.withheld !== undefined) return;
  warn(
    'warning: the state was lost, so nobody can tell whether a record is published again that the last' +
      ' snapshot withheld',
  );
}

function announce(
  { overview, derived: downloads }: Planned<Downloads>,
  { config, now, effects }: Work,
): Announcement {
  const table = tableFor(routesOf(config.files), overview.measured);
  const builtAt = timeAt(now.getTime());
  const { generator } = effects;
  return {
    manifest: (plan) => manifest({ config, overview, downloads, table, plan, builtAt, generator }),
    kinds: RECORD_ROUTES,
    snapshotFeed: snapshotFeed(
      config.operator,
      measuredKinds(overview.measured).map(({ plural }) => plural),
    ),
  };
}
