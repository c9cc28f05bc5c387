/** The register before anything is rendered: what changed since the last snapshot, and whether it keeps the contract. */
import type { BuildConfig } from './config.js';
import { madeOf } from './identity.js';
import type { Progress } from './progress.js';
import type { Folders, Made } from './publish/inputs.js';
import type { Publisher } from './publish/publisher.js';
import { check, isPublishable } from './register/check.js';
import type { CheckReport } from './register/check.js';
import type { Register } from './register/open.js';
import { markWithheld } from './register/published.js';
import type { IdRange } from './register/sql.js';
import type { Renderer } from './rendering/renderer.js';
import { NOT_SURVEYED, isSurveyable, survey } from './rendering/survey.js';
import type { Surveyed } from './rendering/survey.js';

/** What is known of the register before anything is rendered. */
export interface Examined {
  readonly report: CheckReport;
  /** The ids to render; undefined for all. */
  readonly ranges: readonly IdRange[] | undefined;
  /** What all documents are made of, beside the rows. */
  readonly made: Made;
  readonly folders: Folders;
  /** The checksums of what the next build can compare with; undefined where it can't. */
  readonly sums: () => Promise<Surveyed['sums']>;
}

/**
 * Finds out what changed, and checks that: the rest was found in order when it was published.
 * @param code identifies the code that renders
 */
export async function examine(
  config: BuildConfig,
  register: Register,
  renderer: Renderer,
  publisher: Publisher,
  code: string,
  progress: Progress,
): Promise<Examined> {
  const canSurvey = isSurveyable(register);
  if (canSurvey) markWithheld(register);
  const made = madeOf(code, config, register.hidden());
  const folders = publisher.reuse.folders(made);
  const surveying = canSurvey ? survey(register, renderer, folders) : Promise.resolve(NOT_SURVEYED);
  // Where there is nothing to compare with, it goes on meanwhile.
  surveying.catch(() => undefined);
  const { ranges } = folders.old === undefined ? NOT_SURVEYED : await surveying;
  register.scope('changed', ranges ?? []);
  let report = await check(register, progress, config.skipInvalid, ranges === undefined ? 'all' : 'changed');
  // What is wrong is told of the whole register.
  const isPartial = ranges !== undefined && report.total === 0;
  if (ranges !== undefined && !isPartial) report = await check(register, progress, config.skipInvalid);
  if (!canSurvey && isPublishable(report, config.skipInvalid)) markWithheld(register);
  return {
    report,
    ranges: isPartial ? ranges : undefined,
    made,
    folders,
    // Records that were left out must be found and told of again.
    sums: async () => (report.total > 0 ? undefined : (await surveying).sums),
  };
}
