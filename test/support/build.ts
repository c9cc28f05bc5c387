/** Builds in this process, with a clock of the test's own. */
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { writeSample } from '../../data/sample.js';
import { build, type Effects, type Published, type Refused } from '../../generator/pipeline/build.js';
import { buildConfig } from '../../generator/config/config.js';
import { progressFor } from '../../generator/base/progress.js';
import {
  InlineThreads,
  WorkerThreads,
  type RegisterSource,
  type Threads,
} from '../../generator/pipeline/threads.js';
import { PROJECT } from './project.js';

export const OPERATOR = join(PROJECT, 'test/system/golden/operator.json');

export const quiet = () => progressFor('quiet', { signal: new AbortController().signal }, () => undefined);

/** Threads can't be started from TypeScript. */
export const WORKER = pathToFileURL(join(PROJECT, 'build/generator/pipeline/worker.js'));

/** Real threads, for tests that are about them. */
export const startThreads = (source: RegisterSource): Threads => new WorkerThreads(WORKER, source);

/** Effects that print nothing and know only this time. */
export const effectsAt = (time: string): Effects => ({
  progress: quiet(),
  warn: () => undefined,
  now: () => new Date(time),
  generator: { name: 'test', version: '0.0.0', code: 'test' },
  startThreads: (source) => new InlineThreads(source),
});

export interface Options {
  readonly register: string;
  readonly out: string;
  readonly state?: string;
  readonly operator?: string;
  readonly baseUrl?: string;
  readonly skipInvalid?: boolean;
  readonly acceptRemovals?: boolean;
  readonly acceptRepublished?: boolean;
  readonly acceptRenumbered?: boolean;
  readonly keepDownloads?: boolean;
  readonly purgeList?: string;
  readonly filesFrom?: string;
  readonly deleteFrom?: string;
  readonly at?: string;
}

export function run({ at = '2026-12-01T00:00:00Z', ...flags }: Options): Promise<Published | Refused> {
  return build(buildConfig({ operator: OPERATOR, ...flags }), effectsAt(at));
}

export async function published(options: Options): Promise<Published> {
  const result = await run(options);
  if (!result.published) throw new Error(`refused: ${JSON.stringify(result.report)}`);
  return result;
}

export async function publishedSample(register: string, out: string, records = 50): Promise<void> {
  await writeSample({ file: register, records, seed: 3 });
  await published({ register, out });
}
