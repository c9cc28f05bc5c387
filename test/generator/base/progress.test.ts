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

describe('plain lines', () => {
  it('say how much is done, and from ten seconds and a tenth of the work on how long the rest takes', async () => {
    const { lines, pass, progress } = lined();
    progress.start('rendering', 4000, 'files');
    for (const steps of [500, 500, 2000]) {
      pass(6);
      await progress.advance(steps);
    }
    pass(4);
    await progress.advance(1000);
    progress.finish();
    expect(lines).toEqual([
      'rendering: 500 of 4,000 files',
      'rendering: 1,000 of 4,000 files, 36 s left',
      'rendering: 3,000 of 4,000 files, 6 s left',
      'rendering: 4,000 files in 22.0 s',
    ]);
  });

  it('estimate nothing from less than a tenth of the work', async () => {
    const { lines, pass, progress } = lined();
    progress.start('rendering', 10_000, 'files');
    for (const steps of [499, 500, 501]) {
      pass(6);
      await progress.advance(steps);
    }
    expect(lines).toEqual([
      'rendering: 499 of 10,000 files',
      'rendering: 999 of 10,000 files',
      'rendering: 1,500 of 10,000 files, 102 s left',
    ]);
  });

  it('estimate nothing from steps of which some take much longer than others', async () => {
    const { lines, pass, progress } = lined();
    progress.start('checking the register', 31, 'steps');
    for (const [seconds, steps] of [
      [1, 29],
      [20, 0],
      [20, 1],
    ] as const) {
      pass(seconds);
      await progress.advance(steps);
    }
    expect(lines).toEqual(['checking the register: 29 of 31 steps', 'checking the register: 30 of 31 steps']);
  });

  it('are not repeated while nothing is done', async () => {
    const { lines, pass, progress } = lined();
    progress.start('exporting', 0, 'rows');
    for (const steps of [0, 5, 0, 0]) {
      pass(6);
      await progress.advance(steps);
    }
    expect(lines).toEqual(['exporting: 5 rows']);
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
