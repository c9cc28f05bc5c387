/** Builds in this process, with a clock of the test's own. */
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { writeSample } from '../../data/sample.js';
import { build, type Effects, type Published, type Refused } from '../../generator/pipeline/build.js';
import { buildConfig } from '../../generator/config/config.js';
import { progressFor, type Progress } from '../../generator/base/progress.js';
import { ThreadPool, type Pool, type Options as PoolOptions } from '../../generator/pipeline/workers/pool.js';
import type { Input, JobName, JobOutput } from '../../generator/pipeline/workers/jobs.js';
import { InlinePool } from './inline-pool.js';
import { PROJECT } from './project.js';
import { LOOKUP_SECTIONS } from '../../generator/outputs/lookup/lookup.js';

export const OPERATOR = join(PROJECT, 'test/system/golden/operator.json');

export const quiet = () => progressFor('quiet', { signal: new AbortController().signal }, () => undefined);

/** Threads can't be started from TypeScript. */
export const WORKER = pathToFileURL(join(PROJECT, 'build/generator/pipeline/workers/worker.js'));

/** Real threads, for tests that are about them. */
export const startThreads = (register: string, notMeasured: readonly string[] = []): Pool =>
  new ThreadPool(WORKER, register, notMeasured);

/** Effects that print nothing and know only this time. */
export const effectsAt = (time: string): Effects => ({
  progress: quiet(),
  warn: () => undefined,
  now: () => new Date(time),
  generator: { name: 'test', version: '0.0.0', code: 'test' },
  startPool: (register, notMeasured) => new InlinePool(register, notMeasured),
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
  readonly keepDownloads?: boolean;
  /** The time of the build. */
  readonly at?: string;
}

/** Builds, and returns what came of it. */
export function run({ at = '2026-12-01T00:00:00Z', ...flags }: Options): Promise<Published | Refused> {
  return build(buildConfig({ operator: OPERATOR, ...flags }), effectsAt(at));
}

/** Builds a register that must be publishable. */
export async function published(options: Options): Promise<Published> {
  const result = await run(options);
  if (!result.published) throw new Error(`refused: ${JSON.stringify(result.report)}`);
  return result;
}

/** Publishes a small fictional register. */
export async function publishedSample(register: string, out: string, records = 50): Promise<void> {
  await writeSample({ file: register, records, seed: 3 });
  await published({ register, out });
}

const LOOKUP = new Set(LOOKUP_SECTIONS.map(({ name }) => name));

/**
 * Counts the documents of records, and reports no steps of those for finding records, all of which
 * are rendered if a record changed.
 */
export class CountedPool extends InlinePool {
  /** The jobs that were run, and how many documents of records each rendered. */
  readonly jobs: { readonly name: JobName; documents: number }[] = [];

  override run<Name extends JobName>(
    name: Name,
    input: Input<Name>,
    options?: PoolOptions,
  ): Promise<JobOutput<Name>> {
    const job = { name, documents: 0 };
    this.jobs.push(job);
    const isLookup = 'section' in Object(input) && LOOKUP.has(String(Reflect.get(Object(input), 'section')));
    if (name !== 'shard') return super.run(name, input, isLookup ? {} : options);
    return super.run(name, input, { ...options, onProgress: (steps) => (job.documents += steps) });
  }
}

/** A build, and how many documents it rendered. */
export async function counted(options: Options, code = 'test'): Promise<Published & { rendered: number }> {
  let rendered = 0;
  let title = '';
  const silent = quiet();
  const progress: Progress = {
    start: (next, total, unit) => {
      title = next;
      silent.start(next, total, unit);
    },
    advance: (steps) => {
      if (title === 'rendering') rendered += steps;
      return silent.advance(steps);
    },
    blocking: (work) => silent.blocking(work),
    note: (line) => silent.note(line),
    finish: () => silent.finish(),
    stop: () => silent.stop(),
  };
  let pool: CountedPool | undefined;
  const effects = {
    ...effectsAt('2026-12-01T00:00:00Z'),
    startPool: (file: string, notMeasured: readonly string[]) => (pool = new CountedPool(file, notMeasured)),
  };
  const generator = { ...effects.generator, code };
  const result = await build(buildConfig({ operator: OPERATOR, ...options }), {
    ...effects,
    progress,
    generator,
  });
  if (!result.published) throw new Error(`refused: ${JSON.stringify(result.report)}`);
  return {
    ...result,
    rendered: (pool?.jobs ?? []).reduce((sum, { documents }) => sum + documents, rendered),
  };
}
