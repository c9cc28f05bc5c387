/** The story of a build: open, check, render, stage, commit, report. */
import type { BuildConfig } from './config.js';
import { Failure, isInterrupt, messageOf } from './errors.js';
import { Exporter } from './exports/exporter.js';
import { Exports, makings } from './exports/exports.js';
import type { Exported } from './exports/exports.js';
import { snapshotTeller } from './outputs/feeds/snapshots.js';
import { manifest } from './outputs/manifest.js';
import { Samples, descriptions, documents } from './outputs/index.js';
import type { Sources } from './outputs/index.js';
import type { Progress } from './progress.js';
import type { Outcome } from './publish/comparison.js';
import { writeLists } from './publish/lists.js';
import { Publisher } from './publish/publisher.js';
import type { Announcement, Plan } from './publish/publisher.js';
import type { Changes } from './publish/series.js';
import { completeCommit } from './publish/settle.js';
import { check, isPublishable } from './register/check.js';
import type { CheckReport } from './register/check.js';
import { Register } from './register/open.js';
import { markWithheld, overview as measure } from './register/published.js';
import type { Overview } from './register/published.js';
import { beginTogether, identityOf } from './register/together.js';
import { RESOURCES } from './resources/index.js';
import { routes } from './routes.js';
import type { Route } from './routes.js';

/** What a build does to the world outside its files, passed in. */
export interface Effects {
  /** Also carries the wish to stop: its pauses then reject. */
  readonly progress: Progress;
  readonly warn: (line: string) => void;
  /** The time of the build, read once. */
  readonly now: () => Date;
  readonly generator: { readonly name: string; readonly version: string };
  /** The module of the thread that writes the exports (exports/worker.js). */
  readonly exportThread: URL;
}

/** A register that must not be published as it is, with what is wrong. */
export interface Refused {
  readonly published: false;
  readonly report: CheckReport;
}

export interface Published {
  readonly published: true;
  readonly report: CheckReport;
  readonly sequence: number;
  readonly asOf: string | null;
  /** Records published, per kind. */
  readonly records: Readonly<Record<string, number>>;
  /** The tables of the bulk downloads, and whether this build wrote them: what did not change is left as it is. */
  readonly exports: Readonly<Record<string, { readonly rows: number; readonly written: boolean }>>;
  readonly files: number;
  readonly bytes: number;
  readonly changes: Readonly<Changes>;
}

/**
 * Builds the tree from the register. A refused register, an error or an abort before the commit leaves the
 * published tree as it was.
 * @throws Failure with one line for the operator and an exit code
 */
export async function build(config: BuildConfig, effects: Effects): Promise<Refused | Published> {
  const { progress } = effects;
  // Whatever the register is like, a tree between two snapshots can't wait.
  await completeCommit(config.out, progress);
  const identity = identityOf(config.register);
  const register = Register.open(config.register);
  let exporter: Exporter | undefined;
  try {
    exporter = await untouched(Exporter.start(effects.exportThread, config.register));
    await untouched(beginTogether(config.register, identity, [register, exporter]));
    const report = await untouched(check(register, progress, config.skipInvalid));
    if (!isPublishable(report, config.skipInvalid)) return { published: false, report };
    markWithheld(register);
    const overview = measure(register);
    const table = routes(config.layout);
    const publisher = await untouched(
      Publisher.open(config.out, () => table, progress, makings(overview, effects.generator.version)),
    );
    const rendered = await untouched(
      render({ register, exporter, config, overview, table, publisher }, effects),
    );
    const { plan, exported } = rendered;
    await publisher.commit(announce(config, overview, table, plan, effects), progress);
    const { sequence, files, bytes, changes } = plan;
    writeLists(config.out, config.operator.baseUrl, config.lists);
    const records = Object.fromEntries(
      overview.populations.map(({ resource, records }) => [resource.plural, records]),
    );
    const exports = Object.fromEntries(
      exported.map(({ table: { name }, rows, written }) => [name, { rows, written }]),
    );
    return {
      published: true,
      report,
      sequence,
      asOf: overview.asOf,
      records,
      exports,
      files,
      bytes,
      changes,
    };
  } finally {
    await exporter?.close();
    register.close();
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

/** What a build works with, once the register is found fit to be published. */
interface Work extends Sources {
  readonly exporter: Exporter;
  readonly publisher: Publisher;
}

interface Rendered {
  readonly plan: Plan;
  readonly exported: readonly Exported[];
}

/** Renders and stages everything. */
async function render(work: Work, effects: Effects): Promise<Rendered> {
  const { exporter, config, publisher } = work;
  try {
    const exported = await renderAll(work, effects);
    const plan = publisher.plan();
    const doubt = config.acceptRemovals ? undefined : implausible(plan.byRoute);
    if (doubt !== undefined) throw Failure.invalid(doubt);
    return { plan, exported };
  } catch (error) {
    // The error that stopped the build matters more than one of cleaning up after it.
    try {
      // It writes where is to be cleaned.
      await exporter.close();
      publisher.abort(isInterrupt(error));
    } catch (further) {
      effects.warn(`the stage could not be removed: ${messageOf(further)}`);
    }
    throw error;
  }
}

async function renderAll(work: Work, { progress }: Effects): Promise<readonly Exported[]> {
  const { register, exporter, overview, publisher } = work;
  await exporter.hide(register.hidden());
  const exports = new Exports(exporter, publisher);
  const samples = new Samples(work);
  progress.start('rendering', expectedFiles(overview), 'files');
  for (const { route, key, body } of samples.watch(documents(work))) {
    if (publisher.put(route, key, body)) exports.changed(route);
    const pause = progress.advance(1);
    if (pause !== undefined) await pause;
  }
  progress.finish();
  const exported = await exports.finish(overview, progress);
  for (const { route, key, body } of descriptions(work, samples, exported)) publisher.put(route, key, body);
  return exported;
}

function announce(
  config: BuildConfig,
  overview: Overview,
  table: readonly Route[],
  plan: Plan,
  { now, generator }: Effects,
): Announcement {
  const builtAt = wholeSeconds(now());
  return {
    manifest: manifest({ config, overview, table, plan, builtAt, generator }),
    asOf: overview.asOf,
    builtAt,
    kinds: RECORD_ROUTES,
    tell: snapshotTeller(config.operator),
  };
}

/** Each kind's plural, and the route with one file for each of its records. */
export const RECORD_ROUTES: Readonly<Record<string, string>> = Object.fromEntries(
  RESOURCES.map(({ plural, record }) => [plural, record.route]),
);

/** More than this share of a kind's records gone at once is more likely a broken register than the truth. */
const PLAUSIBLE_REMOVAL = 0.1;

/** Why somebody should look before a build removes so much; undefined where it is plausible. */
export function implausible(byRoute: Outcome['byRoute']): string | undefined {
  for (const [kind, route] of Object.entries(RECORD_ROUTES)) {
    const { changed = 0, removed = 0, unchanged = 0 } = byRoute.get(route) ?? {};
    const before = changed + removed + unchanged;
    if (removed === 0 || (removed < before && removed <= PLAUSIBLE_REMOVAL * before)) continue;
    return (
      `${removed} of ${before} ${kind} would be removed, expected at most ${100 * PLAUSIBLE_REMOVAL} %` +
      ` (--accept-removals publishes all the same)`
    );
  }
  return undefined;
}

const expectedFiles = ({ populations }: Overview): number =>
  populations.reduce(
    (sum, { resource, records }) => sum + records * (resource.history === undefined ? 1 : 2),
    FIXED_FILES,
  );

/** The index, the statistics, the 200 lists of the largest and ten feeds: documents there are whatever the register holds. */
const FIXED_FILES = 212;

/** RFC 3339 UTC in whole seconds. */
export const wholeSeconds = (time: Date): string => time.toISOString().replace(/\.\d+Z$/, 'Z');
