/** What lies next to a tree is closed to others, and nothing is written through a link or waits on a pipe. */
import { spawnSync } from 'node:child_process';
import { lstatSync, readFileSync, readdirSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { Tree } from '../../../generator/tree/tree.js';
import { CLI, inputs } from '../../support/cli.js';
import { temporary } from '../../support/folder.js';
import { inProcess } from '../../support/in-process.js';
import { writeRegister } from '../../support/register.js';
import { ROWS } from '../../support/site.js';
import { inState } from '../../support/tree.js';
import { containing } from '../../support/values.js';

const path = temporary();
const register = writeRegister(path('register.sqlite'), ROWS);

const build = (out: string, ...more: readonly string[]) =>
  inProcess('build', '--quiet', ...inputs(register, out), ...more);
const modeOf = (file: string): number => statSync(file).mode & 0o777;

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
});

it('the lock is closed, which others could keep by reading it; links and pipes in other places are replaced', async () => {
  const [out, list, urls] = [path('dist'), path('list'), path('urls')];
  const { lock } = new Tree(out);
  writeFileSync(lock, '', { mode: 0o644 });
  // The pid of whoever has the lock, that file while it is written, and lists while they are written.
  const linked = [`${lock}.pid`, `${list}.partial`];
  const pipes = [`${lock}.pid.partial`, `${urls}.partial`];
  const victims = linked.map(victimOf);
  for (const pipe of pipes) makePipe(pipe);
  expect(await build(out, '--files-from', list, '--purge-list', urls)).toMatchObject({ code: 0 });
  expect(modeOf(lock)).toBe(0o600);
  for (const victim of victims) expect(readFileSync(victim, 'utf8')).toBe('mine');
  for (const place of [...linked, ...pipes])
    expect(lstatSync(place, { throwIfNoEntry: false })?.isFile() ?? true).toBe(true);
});

it('all of a tree is readable with the umask 077, and its state is closed', () => {
  const out = path('dist');
  const args = ['-c', 'umask 077; exec "$@"', 'sh', process.execPath, CLI, 'build', '--quiet'];
  expect(spawnSync('sh', [...args, ...inputs(register, out)], { stdio: 'inherit' }).status).toBe(0);
  // The paths below a folder, and its own, whose mode is not that of a published file or folder.
  const odd = ['', ...readdirSync(out, { recursive: true, encoding: 'utf8' })].filter((name) => {
    const found = statSync(join(out, name));
    return (found.mode & 0o777) !== (found.isDirectory() ? 0o755 : 0o644);
  });
  expect(odd).toEqual([]);
  expect(modeOf(inState(out))).toBe(0o700);
});
