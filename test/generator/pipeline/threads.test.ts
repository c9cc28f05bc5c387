/** The queue of calls, and the threads that make them. */
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setImmediate } from 'node:timers/promises';
import { pathToFileURL } from 'node:url';
import { describe, expect, it, vi } from 'vitest';
import { Failure } from '../../../generator/base/errors.js';
import { WorkerThreads } from '../../../generator/pipeline/threads.js';
import { EXPORT_FORMATS } from '../../../generator/routes/exports.js';
import { WORKER } from '../../support/build.js';
import { temporary } from '../../support/folder.js';
import { changeRegister, writeRegister } from '../../support/register.js';
import { containing } from '../../support/values.js';

const path = temporary();

/**
 * A thread whose jobs wait until a file of the job's name is there; `all` needs none. It notes the jobs that are done,
 * and `all` by its number. Jobs of some names end in another way.
 */
const PATIENT = `
import { appendFileSync, existsSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { parentPort, threadId, workerData } from 'node:worker_threads';
parentPort.on('message', async ({ input: { named: [input] } }) => {
  if (input === 'ends') process.exit(0);
  if (input === 'throws') throw new Error('broken thread');
  if (input === 'fills its heap') throw Object.assign(new Error('heap'), { code: 'ERR_WORKER_OUT_OF_MEMORY' });
  while (input !== 'all' && !existsSync(join(workerData.file, input))) await setTimeout(2);
  appendFileSync(join(workerData.file, 'done'), (input === 'all' ? threadId : input) + '\\n');
  for (const steps of [1, 2, 3]) parentPort.postMessage({ is: 'progress', steps });
  parentPort.postMessage({ is: 'done' });
});`;

const module = path('patient.mjs');
writeFileSync(module, PATIENT);

/** The input of a job of such a thread. */
const named = (job: string) => ({ named: [job] });

/** A pool of such threads. */
class Patient {
  readonly folder = path('jobs');
  readonly pool: WorkerThreads;
  /** The jobs that threads have taken, in this order. */
  readonly begun: string[] = [];
  readonly #running = new Map<string, Promise<void>>();

  constructor() {
    mkdirSync(this.folder);
    this.pool = new WorkerThreads(pathToFileURL(module), { file: this.folder, notMeasured: [] });
  }

  /** Asks for a job by its name. */
  run(job: string): Promise<void> {
    const onStart = (): void => void this.begun.push(job);
    const running = this.pool.run('./sections.js', 'exclude', named(job), { onStart });
    this.#running.set(job, running);
    return running;
  }

  /** Keeps all threads but the first busy, and the first with this job. */
  fill(first: string): Promise<void>[] {
    return [this.run(first), ...this.pool.connections.slice(1).map((_, index) => this.run(`busy ${index}`))];
  }

  /** Lets jobs end, and waits until the threads have taken others. @returns those that came after the first ones */
  async end(...jobs: readonly string[]): Promise<readonly string[]> {
    for (const job of jobs) writeFileSync(join(this.folder, job), '');
    await Promise.all(jobs.flatMap((job) => this.#running.get(job) ?? []));
    await setImmediate();
    return this.begun.slice(this.pool.connections.length);
  }

  /** What the threads have done. */
  get done(): readonly string[] {
    const file = join(this.folder, 'done');
    return existsSync(file) ? readFileSync(file, 'utf8').trimEnd().split('\n') : [];
  }
}

async function withThreads(test: (patient: Patient, threads: number) => Promise<void>): Promise<void> {
  const patient = new Patient();
  try {
    await test(patient, patient.pool.connections.length);
  } finally {
    await patient.pool.close();
  }
}

describe('the jobs of a build', () => {
  it('are begun in the order in which they were asked for, as threads become free', () =>
    withThreads(async (patient, threads) => {
      const running = [...patient.fill('first'), ...['a', 'b', 'c'].map((job) => patient.run(job))];
      expect([patient.begun.length, patient.begun.includes('first')]).toEqual([threads, true]);
      expect(await patient.end('first')).toEqual(['a']);
      expect(await patient.end('a')).toEqual(['a', 'b']);
      expect(await patient.end('b')).toEqual(['a', 'b', 'c']);
      await patient.end('c', ...patient.begun.slice(1, threads));
      await Promise.all(running);
    }));

  it('for all threads are done once by each, after what it is at', () =>
    withThreads(async (patient, threads) => {
      const first = patient.run('first');
      const all = patient.pool.all('./sections.js', 'exclude', named('all'));
      await vi.waitFor(() => expect(patient.done).toHaveLength(threads - 1));
      await patient.end('first');
      await Promise.all([first, all]);
      expect(patient.done[threads - 1]).toBe('first');
      expect(new Set(patient.done).size).toBe(threads + 1);
    }));
});

it('a job that fails rejects with its failure, and the thread goes on', async () => {
  const register = writeRegister(path('register.sqlite'), { items: [{ id: 1 }] });
  changeRegister(register, 'DROP TABLE games; CREATE VIEW games AS SELECT * FROM nowhere');
  const pool = new WorkerThreads(WORKER, { file: register, notMeasured: [] });
  try {
    const noFolder = path('file');
    writeFileSync(noFolder, '');
    for (let times = 0; times < 2 * pool.connections.length; times += 1) {
      for (const [input, failure] of [
        [
          { table: 'items', folder: noFolder },
          { exitCode: 3, message: containing(`the downloads can't`) },
        ],
        [
          { table: 'games', folder: path('export') },
          { exitCode: 1, cause: 'SQLITE_ERROR' },
        ],
      ] as const) {
        const failing = pool.run('../exports/write-table.js', 'writeTable', input);
        await expect(failing).rejects.toBeInstanceOf(Failure);
        await expect(failing).rejects.toMatchObject(failure);
      }
      const written = await pool.run('../exports/write-table.js', 'writeTable', {
        table: 'items',
        folder: path('export'),
      });
      expect(Object.values(written)).toMatchObject(EXPORT_FORMATS.map(() => ({ rows: 1 })));
    }
    await expect(
      pool.all('../exports/write-table.js', 'writeTable', { table: 'items', folder: noFolder }),
    ).rejects.toBeInstanceOf(Failure);
  } finally {
    await pool.close();
  }
});

describe('a thread that dies', () => {
  it.each([
    ['ends', { message: 'a thread ended' }],
    ['throws', { message: 'broken thread' }],
    ['fills its heap', { exitCode: 3, message: containing('--max-old-space-size') }],
  ])('and %s rejects what it was at, and what it is given', (how, error) =>
    withThreads(async (patient, threads) => {
      await expect(patient.run(how)).rejects.toMatchObject(error);
      // One of as many jobs as there are threads is for that one.
      const settling = Promise.allSettled(patient.fill('lost'));
      await patient.end(...patient.begun.filter((job) => job.startsWith('busy')));
      const settled = await settling;
      expect(settled.filter(({ status }) => status === 'rejected')).toMatchObject([{ reason: error }]);
      expect(settled).toHaveLength(threads);
      await expect(patient.pool.all('./sections.js', 'exclude', named('all'))).rejects.toMatchObject(error);
    }),
  );

  it('because the pool is closed rejects what it was at', () =>
    withThreads(async (patient) => {
      const settling = Promise.allSettled(patient.fill('first'));
      await patient.pool.close();
      for (const { status } of await settling) expect(status).toBe('rejected');
    }));
});
