/** The register before anything is rendered: what changed since the last snapshot, and whether it keeps the contract. */
import type { BuildConfig } from './config.js';
import { madeOf } from './identity.js';
import type { Job } from './jobs.js';
import type { Progress } from './progress.js';
import type { Folders, Made } from './publish/inputs.js';
import type { Publisher } from './publish/publisher.js';
import { check, isPublishable } from './register/check.js';
import type { CheckReport } from './register/check.js';
import type { Register } from './register/open.js';
import { lookIn } from './register/shared-check.js';
import {
  entriesOf,
  markWithheld,
  overview,
  overviewOf,
  publishedEntries,
  recordsOf,
} from './register/published.js';
import type { Overview } from './register/published.js';
import type { IdRange } from './register/sql.js';
import { NOT_SURVEYED, isSurveyable, survey } from './rendering/survey.js';
import type { Surveyed } from './rendering/survey.js';
import type { Pool } from './threads/pool.js';

/** What changed since the last snapshot. */
export interface Changed {
  /** The ids of the records concerned, and some beside. */
  readonly ranges: readonly IdRange[];
  /** The tables concerned. */
  readonly tables: ReadonlySet<string>;
}

/** What is known of the register before anything is rendered. */
export interface Examined {
  readonly report: CheckReport;
  /** What changed since the last snapshot; undefined where that is not known, and all is rendered. */
  readonly changed: Changed | undefined;
  /** What all documents are made of, beside the rows. */
  readonly made: Made;
  readonly folders: Folders;
  /** The register as a whole. @throws Failure as `overview` does */
  readonly measured: () => Overview;
  /**
   * Finds out what the next build can compare with, unless that is known. @returns the checksums; undefined where it
   * can't compare
   */
  readonly survey: () => Promise<Surveyed['sums']>;
}

/**
 * Finds out what changed, and checks that: the rest was found in order when it was published.
 * @param code identifies the code that renders
 */
export async function examine(
  config: BuildConfig,
  register: Register,
  pool: Pool<Job>,
  publisher: Publisher,
  code: string,
  progress: Progress,
): Promise<Examined> {
  const { skipInvalid } = config;
  const canSurvey = isSurveyable(register);
  if (canSurvey) markWithheld(register);
  const made = madeOf(code, config, register.schema(), register.hidden());
  const folders = publisher.reuse.folders(made);
  const isKnown = canSurvey && folders.old !== undefined;
  const surveying = isKnown ? survey(register, pool, folders, progress) : undefined;
  // Thrown below; meanwhile there is something to do here.
  surveying?.catch(() => undefined);
  const checking = isKnown ? undefined : check(register, progress, skipInvalid, 'all', lookIn(pool));
  checking?.catch(() => undefined);
  const records = canSurvey ? attempted(() => recordsOf(register)) : undefined;
  const { ranges, tables, counted } = (await surveying) ?? NOT_SURVEYED;
  register.scope('changed', ranges ?? []);
  await pool.scope(ranges ?? []);
  const scope = ranges === undefined ? 'all' : 'changed';
  let report = await (checking ?? check(register, progress, skipInvalid, scope, lookIn(pool)));
  // What is wrong is told of the whole register.
  const isPartial = ranges !== undefined && report.total === 0;
  if (ranges !== undefined && !isPartial)
    report = await check(register, progress, skipInvalid, 'all', lookIn(pool));
  if (!canSurvey && isPublishable(report, skipInvalid)) markWithheld(register);
  return {
    report,
    changed: isPartial ? { ranges, tables } : undefined,
    made,
    folders,
    measured: () => {
      // Records that are left out are not measured.
      if (report.total > 0 || records === undefined) return overview(register);
      const published = counted === undefined ? entriesOf(register) : publishedEntries(register, counted);
      return overviewOf(records(), published);
    },
    survey: async () => {
      // Records that were left out must be found and told of again.
      if (!canSurvey || report.total > 0) return undefined;
      return (await (surveying ?? survey(register, pool, folders))).sums;
    },
  };
}

/** Acts at once; what goes wrong is thrown when the result is asked for. */
function attempted<T>(action: () => T): () => T {
  try {
    const result = action();
    return () => result;
  } catch (error) {
    return () => {
      throw error;
    };
  }
}
