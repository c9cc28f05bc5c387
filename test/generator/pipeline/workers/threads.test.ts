/** The queue of a build's jobs, and the threads that do them. */
import { existsSync, mkdirSync, readFileSync, readdirSync, writeFileSync } from 'node:fs';
import { getPriority } from 'node:os';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { pathToFileURL } from 'node:url';
import { describe, expect, it } from 'vitest';
import { Failure } from '../../../../generator/base/errors.js';
import { ThreadPool } from '../../../../generator/pipeline/workers/pool.js';
import { EXPORT_FORMATS } from '../../../../generator/routes/exports.js';
import { WORKER } from '../../../support/build.js';
import { temporary } from '../../../support/folder.js';
import { changeRegister, writeRegister } from '../../../support/register.js';
import { containing } from '../../../support/values.js';

const path = temporary();

/** How nice the threads of this process are, as far as they are nicer than the first. */
function nicer(): readonly number[] {
  return readdirSync(`/proc/${process.pid}/task`)
    .flatMap((task) => statOf(task) ?? [])
    .map((stat) => Number(stat.slice(stat.lastIndexOf(')') + 2).split(' ')[16]) - getPriority(process.pid))
    .filter((difference) => difference !== 0);
}

/** Field 19 tells how nice it is (proc_pid_stat(5)). A thread may have ended since it was listed. */
function statOf(task: string): string | undefined {
  try {
    return readFileSync(`/proc/${process.pid}/task/${task}/stat`, 'utf8');
  } catch {
    return undefined;
  }
}

/**
 * A thread that notes which job it began, and waits until a file of the job's name is there; `all` needs none. Jobs of
 * some names end in another way.
 */
const PATIENT = `
import { appendFileSync, existsSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { parentPort, threadId, workerData } from 'node:worker_threads';
parentPort.on('message', async ({ input: { named: [input] } }) => {
  appendFileSync(join(workerData.file, 'begun'), input + '\\n');
  if (input === 'ends') process.exit(0);
  if (input === 'throws') throw new Error('broken thread');
  if (input === 'fills its heap') throw Object.assign(new Error('heap'), { code: 'ERR_WORKER_OUT_OF_MEMORY' });
  if (input === 'all') appendFileSync(join(workerData.file, 'threads'), threadId + '\\n');
  else while (!existsSync(join(workerData.file, input))) await setTimeout(2);
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
  readonly pool: ThreadPool;

  constructor() {
    mkdirSync(this.folder);
    this.pool = new ThreadPool(pathToFileURL(module), this.folder);
  }

  /** Asks for a job by its name. */
  run(job: string, folder?: string): Promise<void> {
    return this.pool.run('exclude', named(job), folder === undefined ? {} : { folder });
  }

  /** Keeps all threads but the first busy, and the first with this job. */
  fill(first: string, folder?: string): Promise<void>[] {
    return [
      this.run(first, folder),
      ...this.pool.threads.slice(1).map((_, index) => this.run(`busy ${index}`)),
    ];
  }

  /** Lets jobs end. */
  end(...jobs: readonly string[]): void {
    for (const job of jobs) writeFileSync(join(this.folder, job), '');
  }

  endBusy(): void {
    this.end(...this.pool.threads.map((_, index) => `busy ${index}`));
  }

  /** The jobs that were begun, when there are this many, and a moment later. */
  async begun(count: number): Promise<readonly string[]> {
    const begun = (): readonly string[] => this.#lines('begun');
    while (begun().length < count) await setTimeout(2);
    await setTimeout(30);
    return begun();
  }

  get threads(): readonly string[] {
    return this.#lines('threads');
  }

  #lines(name: string): readonly string[] {
    const file = join(this.folder, name);
    return existsSync(file) ? readFileSync(file, 'utf8').trimEnd().split('\n') : [];
  }
}

async function withThreads(test: (patient: Patient, threads: number) => Promise<void>): Promise<void> {
  const patient = new Patient();
  try {
    await test(patient, patient.pool.threads.length);
  } finally {
    await patient.pool.close();
  }
}

describe('the jobs of a build', () => {
  it('are begun in the order in which they were asked for, as threads become free', () =>
    withThreads(async (patient, threads) => {
      const running = [...patient.fill('first'), ...['a', 'b', 'c'].map((job) => patient.run(job))];
      const filled = await patient.begun(threads);
      expect(filled).toHaveLength(threads);
      expect(filled).toContain('first');
      for (const [index, ending] of ['first', 'a', 'b'].entries()) {
        patient.end(ending);
        const begun = await patient.begun(threads + index + 1);
        expect(begun.slice(threads)).toEqual(['a', 'b', 'c'].slice(0, index + 1));
      }
      patient.end('c');
      patient.endBusy();
      await Promise.all(running);
    }));

  it('can come before those that wait', () =>
    withThreads(async (patient, threads) => {
      const running = [
        ...patient.fill('first'),
        patient.run('waiting'),
        patient.pool.run('exclude', named('next'), { isNext: true }),
      ];
      await patient.begun(threads);
      patient.end('first');
      expect((await patient.begun(threads + 1)).slice(threads)).toEqual(['next']);
      patient.end('next', 'waiting');
      patient.endBusy();
      await Promise.all(running);
    }));

  it('that write into one folder are not done at once while there is another to do', () =>
    withThreads(async (patient, threads) => {
      const running = [
        ...patient.fill('items', 'item'),
        patient.run('more items', 'item'),
        patient.run('users', 'user'),
        patient.run('no folder'),
      ];
      await patient.begun(threads);
      patient.end('busy 0');
      expect((await patient.begun(threads + 1)).slice(threads)).toEqual(['users']);
      patient.end('users');
      expect((await patient.begun(threads + 2)).slice(threads)).toEqual(['users', 'no folder']);
      patient.end('items');
      expect((await patient.begun(threads + 3)).at(-1)).toBe('more items');
      patient.end('more items', 'no folder');
      patient.endBusy();
      await Promise.all(running);
    }));

  it('that write into one folder are done at once where a thread would have nothing to do', () =>
    withThreads(async (patient, threads) => {
      const running = [...patient.fill('items', 'item'), patient.run('more items', 'item')];
      await patient.begun(threads);
      patient.end('busy 0');
      expect((await patient.begun(threads + 1)).at(-1)).toBe('more items');
      patient.end('items', 'more items');
      patient.endBusy();
      await Promise.all(running);
    }));

  it('for all threads are done once by each, after what it is at', () =>
    withThreads(async (patient, threads) => {
      const first = patient.run('first');
      await patient.begun(1);
      const all = patient.pool.all('exclude', named('all'));
      expect(await patient.begun(threads)).toHaveLength(threads);
      expect(patient.threads).toHaveLength(threads - 1);
      patient.end('first');
      await Promise.all([first, all]);
      expect(new Set(patient.threads).size).toBe(threads);
      expect(patient.threads).toHaveLength(threads);
    }));
});

describe('a job that fails', () => {
  it('rejects with its failure, and the thread goes on', async () => {
    const register = writeRegister(path('register.sqlite'), { items: [{ id: 1 }] });
    changeRegister(register, 'DROP TABLE games; CREATE VIEW games AS SELECT * FROM nowhere');
    const pool = new ThreadPool(WORKER, register);
    try {
      const noFolder = path('file');
      writeFileSync(noFolder, '');
      for (let times = 0; times < 2 * pool.threads.length; times += 1) {
        for (const [input, failure] of [
          [
            { table: 'items', folder: noFolder },
            { exitCode: 3, message: containing(`the exports can't`) },
          ],
          [
            { table: 'games', folder: path('export') },
            { exitCode: 1, cause: 'SQLITE_ERROR' },
          ],
        ] as const) {
          const failing = pool.run('export', input);
          await expect(failing).rejects.toBeInstanceOf(Failure);
          await expect(failing).rejects.toMatchObject(failure);
        }
        const exported = await pool.run('export', { table: 'items', folder: path('export') });
        expect(exported).toMatchObject(EXPORT_FORMATS.map(() => ({ rows: 1 })));
      }
      await expect(pool.all('export', { table: 'items', folder: noFolder })).rejects.toBeInstanceOf(Failure);
    } finally {
      await pool.close();
    }
  });
});

describe('a thread that dies', () => {
  it.each([
    ['ends', { message: 'a thread ended' }],
    ['throws', { message: 'broken thread' }],
    ['fills its heap', { exitCode: 3, message: containing('--max-old-space-size') }],
  ])('and %s rejects what it was at, and what it is given', (how, error) =>
    withThreads(async (patient, threads) => {
      await expect(patient.run(how)).rejects.toMatchObject(error);
      const others = patient.pool.threads.slice(1).map((_, index) => `busy ${index}`);
      patient.end(...others);
      // One of as many jobs as there are threads is for that one.
      const settled = await Promise.allSettled(['lost', ...others].map((job) => patient.run(job)));
      expect(settled.filter(({ status }) => status === 'rejected')).toMatchObject([{ reason: error }]);
      expect(settled).toHaveLength(threads);
      await expect(patient.pool.all('exclude', named('all'))).rejects.toMatchObject(error);
    }),
  );

  it('because the pool is closed rejects what it was at', () =>
    withThreads(async (patient, threads) => {
      const settling = Promise.allSettled(patient.fill('first'));
      await patient.begun(threads);
      await patient.pool.close();
      for (const { status } of await settling) expect(status).toBe('rejected');
    }));
});

describe('the threads of a build', () => {
  // Niceness is that of a thread on Linux alone.
  it.runIf(process.platform === 'linux')('give way to the main one', async () => {
    expect(nicer()).toEqual([]);
    const pool = new ThreadPool(WORKER, writeRegister(path('register.sqlite'), {}));
    try {
      await pool.all('restartRead', new Date());
      expect(nicer()).toEqual(pool.threads.map(() => Math.min(5, 19 - getPriority())));
    } finally {
      await pool.close();
    }
  });
});
