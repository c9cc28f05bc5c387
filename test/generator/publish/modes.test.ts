/** What is published can be read by everyone, whatever the umask; the state by nobody else. */
import { spawnSync } from 'node:child_process';
import { readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { inputs } from '../../support/cli.js';
import { PROJECT, temporary } from '../../support/folder.js';
import { writeRegister } from '../../support/register.js';
import { ROWS } from '../../support/site.js';
import { inState } from '../../support/tree.js';

const path = temporary();

it('all of a tree is readable with the umask 077, and its state is closed', () => {
  const [register, out] = [writeRegister(path('register.sqlite'), ROWS), path('dist')];
  const cli = join(PROJECT, 'build/generator/cli.js');
  const args = ['-c', 'umask 077; exec "$@"', 'sh', process.execPath, cli, 'build', '--quiet'];
  expect(spawnSync('sh', [...args, ...inputs(register, out)], { stdio: 'inherit' }).status).toBe(0);
  // The paths below a folder, and its own, whose mode is not that of a published file or folder.
  const odd = ['', ...readdirSync(out, { recursive: true, encoding: 'utf8' })].filter((name) => {
    const found = statSync(join(out, name));
    return (found.mode & 0o777) !== (found.isDirectory() ? 0o755 : 0o644);
  });
  expect(odd).toEqual([]);
  expect(statSync(inState(out)).mode & 0o777).toBe(0o700);
});
