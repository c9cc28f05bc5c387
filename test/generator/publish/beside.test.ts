/** What lies next to a tree: nobody else can hold its lock, and nothing is written through a link or waits on a pipe. */
import { spawnSync } from 'node:child_process';
import { chmodSync, lstatSync, readFileSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { Tree } from '../../../generator/tree/tree.js';
import { inputs } from '../../support/cli.js';
import { temporary } from '../../support/folder.js';
import { inProcess } from '../../support/in-process.js';
import { writeRegister } from '../../support/register.js';
import { ROWS } from '../../support/site.js';
import { containing } from '../../support/values.js';

const path = temporary();
const register = writeRegister(path('register.sqlite'), ROWS);

const build = (out: string, ...more: readonly string[]) =>
  inProcess('build', '--quiet', ...inputs(register, out), ...more);
const modeOf = (file: string): number => statSync(file).mode & 0o777;

/** A pipe that nobody reads or writes. */
function makePipe(file: string): undefined {
  spawnSync('mkfifo', [file]);
}

/** A file of the user who builds, to which somebody else has made a link. */
function victimOf(link: string): string {
  const victim = path('victim');
  writeFileSync(victim, 'mine', { mode: 0o644 });
  symlinkSync(victim, link);
  return victim;
}

it('the lock is closed to others, who could keep it locked by reading it, and so is one that is there', async () => {
  const out = path('dist');
  const { lock } = new Tree(out);
  expect(await build(out)).toMatchObject({ code: 0 });
  expect(modeOf(lock)).toBe(0o600);
  chmodSync(lock, 0o644);
  expect(await build(out)).toMatchObject({ code: 0 });
  expect(modeOf(lock)).toBe(0o600);
});

const list = path('list');
const PLACES: readonly (readonly [string, (lock: string) => string])[] = [
  ['the process that has the lock', (lock) => `${lock}.pid`],
  ['the same while it is written', (lock) => `${lock}.pid.partial`],
  ['a list while it is written', () => `${list}.partial`],
];

describe.each([
  ['a link', victimOf],
  ['a pipe', makePipe],
] as const)('%s', (_, make) => {
  it('in the place of the lock is refused, and left as it is', async () => {
    const out = path('dist');
    const { lock } = new Tree(out);
    const victim = make(lock);
    const refused = { code: 3, stderr: containing(`lock "${lock}" is not a regular file`) };
    expect(await build(out)).toMatchObject(refused);
    expect(victim === undefined ? 0o644 : modeOf(victim)).toBe(0o644);
  });

  it.each(PLACES)('in the place of %s is replaced', async (_what, placeOf) => {
    const out = path('dist');
    const place = placeOf(new Tree(out).lock);
    const victim = make(place);
    expect(await build(out, '--files-from', list)).toMatchObject({ code: 0 });
    expect(victim === undefined ? 'mine' : readFileSync(victim, 'utf8')).toBe('mine');
    expect(lstatSync(place, { throwIfNoEntry: false })?.isFile() ?? true).toBe(true);
  });
});
