/** What is shown of long work where there is no terminal, by a clock that the test sets. */
import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { progressFor } from '../../../generator/base/progress.js';
import { PROJECT } from '../../support/project.js';

const stop = new AbortController();

/** Progress whose lines are kept. */
function lined() {
  const lines: string[] = [];
  let now = 1_000_000;
  vi.spyOn(performance, 'now').mockImplementation(() => now);
  const pass = (seconds: number): void => void (now += seconds * 1000);
  return { lines, pass, progress: progressFor('plain', stop, (line) => lines.push(line)) };
}

afterEach(() => vi.restoreAllMocks());

type Steps = readonly (readonly [seconds: number, steps: number])[];

describe('plain lines', () => {
  it.each<[string, total: number, Steps, readonly string[]]>([
    [
      'say how much is done',
      4000,
      [
        [6, 399],
        [6, 601],
        [6, 2000],
        [4, 1000],
      ],
      [': 399 of 4,000 files', ': 1,000 of 4,000 files', ': 3,000 of 4,000 files', ' in 22.0 s'],
    ],
    [
      'are not repeated while nothing is done',
      0,
      [
        [6, 0],
        [6, 5],
        [6, 0],
      ],
      [': 5 files'],
    ],
  ])('%s', async (_, total, all, said) => {
    const { lines, pass, progress } = lined();
    progress.start('rendering', total, 'files');
    for (const [seconds, steps] of all) {
      pass(seconds);
      await progress.advance(steps);
    }
    if (total === 4000) progress.finish();
    expect(lines).toEqual(said.map((line) => `rendering${line.replace(/^ in/, ': 4,000 files in')}`));
  });

  it('name what blocks the thread for more than two seconds', async () => {
    const { lines, pass, progress } = lined();
    await progress.blocking(() => pass(3.5), 'writing to the disk');
    await progress.blocking(() => pass(1), 'adding up the tree');
    await progress.blocking(() => pass(9));
    expect(lines).toEqual(['writing to the disk: 3.5 s']);
  });
});

describe('work that may block', () => {
  // As the command line does, with a signal that comes while nothing can be handled.
  const script = `
    const { progressFor } = await import(${JSON.stringify(join(PROJECT, 'build/generator/base/progress.js'))});
    const stop = new AbortController();
    const listener = () => stop.abort(new Error('stopped'));
    process.on('SIGINT', listener);
    const unheard = async (work) => {
      process.off('SIGINT', listener);
      return await work();
    };
    const progress = progressFor('quiet', { signal: stop.signal, unheard }, () => undefined);
    setImmediate(async () => {
      process.kill(process.pid, 'SIGINT');
      await progress.blocking(() => console.log('begun')).catch(({ message }) => console.log(message));
    });`;

  it('is not begun if a signal has come that nobody could handle yet', () => {
    const args = ['--input-type=module', '--eval', script];
    const { stdout, stderr } = spawnSync(process.execPath, args, { encoding: 'utf8' });
    expect([stdout, stderr]).toEqual(['stopped\n', '']);
  });
});
