/** The story of a build: open, check, render, stage, commit, report. */
import type { BuildConfig } from './config.js';
import { messageOf } from './errors.js';
import { manifest } from './outputs/manifest.js';
import { outputs } from './outputs/index.js';
import type { Progress } from './progress.js';
import { Publisher } from './publish/publisher.js';
import type { Plan } from './publish/publisher.js';
import type { Changes } from './publish/series.js';
import { check } from './register/check.js';
import type { CheckReport } from './register/check.js';
import { Register } from './register/open.js';
import { markWithheld, overview as measure } from './register/published.js';
import type { Overview } from './register/published.js';
import { RESOURCES } from './resources/index.js';
import { routes } from './routes.js';

/** What a build does to the world outside its files, passed in. */
export interface Effects {
  /** Also carries the wish to stop: its pauses then reject. */
  readonly progress: Progress;
  readonly warn: (line: string) => void;
  /** The time of the build, read once. */
  readonly now: () => Date;
  readonly generator: { readonly name: string; readonly version: string };
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
  const register = Register.open(config.register);
  try {
    const report = await check(register, effects.progress, config.skipInvalid);
    if (report.total > 0 && !(config.skipInvalid && report.skippable)) return { published: false, report };
    markWithheld(register);
    const overview = measure(register);
    return { published: true, report, ...(await publish(register, config, overview, effects)) };
  } finally {
    register.close();
  }
}

async function publish(
  register: Register,
  config: BuildConfig,
  overview: Overview,
  { progress, warn, now, generator }: Effects,
): Promise<Omit<Published, 'published' | 'report'>> {
  const table = routes(config.layout);
  const publisher = await Publisher.open(config.out, table, progress);
  let plan: Plan;
  try {
    progress.start('rendering', expectedFiles(overview), 'files');
    for (const { route, key, body } of outputs(register, config, overview, table)) {
      publisher.put(route, key, body);
      const pause = progress.advance(1);
      if (pause !== undefined) await pause;
    }
    progress.finish();
    plan = publisher.plan();
  } catch (error) {
    cleanUp(publisher, warn);
    throw error;
  }
  const builtAt = wholeSeconds(now());
  const announcement = {
    manifest: manifest({ config, overview, table, plan, builtAt, generator }),
    asOf: overview.asOf,
    builtAt,
    kinds: Object.fromEntries(RESOURCES.map(({ plural, record }) => [plural, record.route])),
  };
  await publisher.commit(announcement, progress);
  const { sequence, files, bytes, changes } = plan;
  const records = Object.fromEntries(
    overview.populations.map(({ resource, records }) => [resource.plural, records]),
  );
  return { sequence, asOf: overview.asOf, records, files, bytes, changes };
}

const expectedFiles = ({ populations }: Overview): number =>
  populations.reduce(
    (sum, { resource, records }) => sum + records * (resource.history === undefined ? 1 : 2),
    FIXED_FILES,
  );

/** The index, the statistics and the 200 lists of the largest: files there are whatever the register holds. */
const FIXED_FILES = 202;

/** The error that stopped the build matters more than one of cleaning up after it. */
function cleanUp(publisher: Publisher, warn: Effects['warn']): void {
  try {
    publisher.abort();
  } catch (error) {
    warn(`the stage could not be removed: ${messageOf(error)}`);
  }
}

const wholeSeconds = (time: Date): string => time.toISOString().replace(/\.\d+Z$/, 'Z');
