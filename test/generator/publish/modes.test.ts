/** What is published can be read by everyone, whatever the umask; the state by nobody else. */
import { spawn } from 'node:child_process';
import { readdirSync, rmSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect } from 'vitest';
import { inputs } from '../../support/cli.js';
import { PROJECT } from '../../support/project.js';
import { changeRegister, writeRegister } from '../../support/register.js';
import { ROWS, STEP } from '../../support/site.js';
import { always, isThorough, some } from '../../support/thorough.js';
import { inState } from '../../support/tree.js';
import { temporary } from '../../support/folder.js';

const path = temporary();

/** Runs the real command line with a umask. */
function withUmask(umask: string, ...args: readonly string[]): Promise<number | null> {
  const command = [process.execPath, join(PROJECT, 'build/generator/cli.js'), ...args, '--quiet'];
  const script = 'umask "$1" && shift && exec "$@"';
  const child = spawn('sh', ['-c', script, 'sh', umask, ...command], {
    stdio: ['ignore', 'ignore', 'inherit'],
  });
  return new Promise((resolve, reject) => {
    child.on('error', reject);
    child.on('close', resolve);
  });
}

/** The paths below a folder, and its own, whose mode is not that of a published file or folder. */
const odd = (folder: string): string[] =>
  ['', ...readdirSync(folder, { recursive: true, encoding: 'utf8' })].flatMap((name) => {
    const found = statSync(join(folder, name));
    const mode = found.mode & 0o777;
    return mode === (found.isDirectory() ? 0o755 : 0o644) ? [] : [`${name} ${mode.toString(8)}`];
  });

describe.each(some(['077', '000'], 1))('with the umask %s', (umask) => {
  always('all of a tree is readable, whatever made it, and its state is closed', async () => {
    const [register, out] = [writeRegister(path('register.sqlite'), ROWS), path('dist')];
    const run = async (...args: string[]): Promise<void> => {
      expect(await withUmask(umask, ...args, ...inputs(register, out))).toBe(0);
      expect(odd(out)).toEqual([]);
      expect(statSync(inState(out)).mode & 0o777).toBe(0o700);
    };
    await run('build');
    if (!isThorough) return;
    changeRegister(register, STEP);
    await run('build', '--accept-removals');
    for (const part of ['api', 'downloads', 'feeds', 'changes/2.ndjson.gz'])
      rmSync(join(out, part), { recursive: true });
    await run('verify', '--repair');
  });
});
