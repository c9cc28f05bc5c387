/** The threads of a build: what reaches them, and what becomes of a build whose thread fails or dies. */
import { readFileSync, writeFileSync } from 'node:fs';
import { pathToFileURL } from 'node:url';
import { expect, it, onTestFinished, vi } from 'vitest';
import { WorkerThreads } from '../../../generator/pipeline/threads.js';
import { EXPORT_FORMATS } from '../../../generator/routes/exports.js';
import { WORKER } from '../../support/build.js';
import { temporary } from '../../support/folder.js';
import { changeRegister, writeRegister } from '../../support/register.js';
import { failureOf } from '../../support/site.js';
import { containing } from '../../support/values.js';

const path = temporary();

/**
 * A thread whose jobs wait until a file of the job's name is next to the register; `all` needs none. It notes the jobs
 * that are done, and `all` by its number. Jobs of some names end in another way.
 */
const PATIENT = `
import { appendFileSync, existsSync } from 'node:fs';
import { setTimeout } from 'node:timers/promises';
import { parentPort, threadId, workerData } from 'node:worker_threads';
parentPort.on('message', async ({ input: { named: [input] } }) => {
  if (input === 'ends') process.exit(0);
  if (input === 'throws') throw new Error('broken thread');
  if (input === 'fills its heap') throw Object.assign(new Error('heap'), { code: 'ERR_WORKER_OUT_OF_MEMORY' });
  while (input !== 'all' && !existsSync(workerData.file + input)) await setTimeout(2);
  appendFileSync(workerData.file + 'done', (input === 'all' ? threadId : input) + '\\n');
  for (const steps of [1, 2, 3]) parentPort.postMessage({ is: 'progress', steps });
  parentPort.postMessage({ is: 'done' });
});`;

const module = path('patient.mjs');
writeFileSync(module, PATIENT);

const named = (job: string) => ({ named: [job] });

/** Such threads, more than one, for a register that is large enough. */
function poolOf() {
  const file = path('register');
  writeFileSync(file, Buffer.alloc(2_000_000));
  const pool = new WorkerThreads(pathToFileURL(module), { file, notMeasured: [] });
  onTestFinished(() => pool.close());
  expect(pool.connections.length).toBeGreaterThan(1);
  return { file, pool, threads: pool.connections.length };
}

it('a job for all threads is done once by each, after what it is at', async () => {
  const { file, pool, threads } = poolOf();
  const done = (): string[] => readFileSync(`${file}done`, 'utf8').trimEnd().split('\n');
  const first = pool.run('exclude', named('first'));
  const all = pool.all('exclude', named('all'));
  await vi.waitFor(() => expect(done()).toHaveLength(threads - 1));
  writeFileSync(`${file}first`, '');
  await Promise.all([first, all]);
  expect(done()[threads - 1]).toBe('first');
  expect(new Set(done()).size).toBe(threads + 1);
});

it('a job that fails rejects with its failure, and the thread goes on', async () => {
  const register = writeRegister(path('register.sqlite'), { items: [{ id: 1 }] });
  changeRegister(register, 'DROP TABLE games; CREATE VIEW games AS SELECT * FROM nowhere');
  const pool = new WorkerThreads(WORKER, { file: register, notMeasured: [] });
  onTestFinished(() => pool.close());
  const write = (table: string, folder: string) => pool.run('writeTable', { table, folder });
  const [noFolder, folder] = [path('file'), path('export')];
  writeFileSync(noFolder, '');
  for (let times = 0; times < 2 * pool.connections.length; times += 1) {
    const unwritten = await failureOf(write('items', noFolder));
    expect(unwritten).toMatchObject({ exitCode: 3, message: containing(`the downloads can't`) });
    expect(await failureOf(write('games', folder))).toMatchObject({ exitCode: 1, cause: 'SQLITE_ERROR' });
    expect(Object.values(await write('items', folder))).toMatchObject(
      EXPORT_FORMATS.map(() => ({ rows: 1 })),
    );
  }
});

it.each([
  ['ends', { message: 'a thread ended' }],
  ['throws', { message: 'broken thread' }],
  ['fills its heap', { exitCode: 3, message: containing('--max-old-space-size') }],
])('a thread that dies because it %s rejects what it was at, and what it is given', async (how, error) => {
  const { file, pool } = poolOf();
  await expect(pool.run('exclude', named(how))).rejects.toMatchObject(error);
  // One of as many jobs as there are threads is for that one.
  writeFileSync(`${file}job`, '');
  const settled = await Promise.allSettled(pool.connections.map(() => pool.run('exclude', named('job'))));
  expect(settled.filter(({ status }) => status === 'rejected')).toMatchObject([{ reason: error }]);
  await expect(pool.all('exclude', named('all'))).rejects.toMatchObject(error);
});
