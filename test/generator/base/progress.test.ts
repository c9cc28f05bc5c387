/** What is shown of long work where there is no terminal, by a clock that the test sets. */
import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { afterEach, expect, it, vi } from 'vitest';
import { progressFor } from '../../../generator/base/progress.js';
import { PROJECT } from '../../support/project.js';

const stop = new AbortController();

function lined() {
  const lines: string[] = [];
  let now = 1_000_000;
  vi.spyOn(performance, 'now').mockImplementation(() => now);
  const pass = (seconds: number): void => void (now += seconds * 1000);
  return { lines, pass, progress: progressFor('plain', stop, (line) => lines.push(line)) };
}

afterEach(() => vi.restoreAllMocks());

it('plain lines say how much is done, while something is, and how long it took', async () => {
  const { lines, pass, progress } = lined();
  progress.start('rendering', 4000, 'files');
  for (const steps of [399, 0, 601, 3000]) {
    pass(6);
    await progress.advance(steps);
  }
  progress.finish();
  const said = '399 of 4,000 files|1,000 of 4,000 files|4,000 of 4,000 files|4,000 files in 24.0 s';
  expect(lines).toEqual(said.split('|').map((line) => `rendering: ${line}`));
});

it('plain lines name what blocks the thread for more than two seconds', async () => {
  const { lines, pass, progress } = lined();
  await progress.blocking(() => pass(3.5), 'writing to the disk');
  await progress.blocking(() => pass(1), 'adding up the tree');
  await progress.blocking(() => pass(9));
  expect(lines).toEqual(['writing to the disk: 3.5 s']);
});

// As the command line does, with a signal that comes while nothing can be handled.
const script = `
    const { progressFor } = await import(${JSON.stringify(join(PROJECT, 'build/generator/base/progress.js'))});
    const stop = new AbortController();
    const listener = () => stop.abort(new Error('stopped'));
    process.on('SIGINT', listener);
    const withDefaultSignals = async (work) => {
      process.off('SIGINT', listener);
      return await work();
    };
    const progress = progressFor('quiet', { signal: stop.signal, withDefaultSignals }, () => undefined);
    setImmediate(async () => {
      process.kill(process.pid, 'SIGINT');
      await progress.blocking(() => console.log('begun')).catch(({ message }) => console.log(message));
    });`;

it('work that may block is not begun if a signal has come that nobody could handle yet', () => {
  const args = ['--input-type=module', '--eval', script];
  const { stdout, stderr } = spawnSync(process.execPath, args, { encoding: 'utf8' });
  expect([stdout, stderr]).toEqual(['stopped\n', '']);
});
