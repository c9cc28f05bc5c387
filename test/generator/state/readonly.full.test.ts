/** A state where nothing can be written: commands that only read work on it, a build says so. */
import { cpSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { buildArgs, errorsOf, inputs, snapshot } from '../../support/cli.js';
import { temporary } from '../../support/folder.js';
import { leaveOut } from '../../support/programs.js';
import { pair } from '../../support/site.js';
import { inState } from '../../support/tree.js';
import { matching } from '../../support/values.js';
import { did, mayMount, mountAt, unmountAfterwards } from '../publish/mount.js';
import { expectContent, filesIn, isAtRest } from './support.js';

const path = temporary();
unmountAfterwards();
const mountable = mayMount(path('mount'));
if (!mountable) leaveOut('a state that can’t be written', 'this process is not permitted to mount');

describe.skipIf(!mountable)('a tree and its state that lie on a file system that is read-only', () => {
  it('can be looked at, verified and compared with; a build or a repair ends with a sentence', async () => {
    const both = await pair(path);
    const folder = path('disk');
    expect(mountAt(folder, '-t', 'tmpfs', 'tmpfs')).toBe(folder);
    const out = join(folder, 'dist');
    const tree = both.tree();
    cpSync(tree, out, { recursive: true });
    cpSync(inState(tree), inState(out), { recursive: true });
    // It says which tree it is of.
    writeFileSync(inState(out, 'tree'), '../dist');
    expect(isAtRest(out)).toBe(true);
    expect(did('mount', '-o', 'remount,ro', folder)).toBe(true);
    const files = filesIn(out);
    const [old, next] = both.registers;
    expect(await snapshot(['status', '--out', out])).toMatchObject({ code: 0, stderr: '' });
    expect(await snapshot(['verify', '--quiet', '--out', out])).toEqual({ code: 0, stdout: '', stderr: '' });
    const same = await snapshot(['diff', '--quiet', '--json', ...inputs(old, out)]);
    expect([same.code, errorsOf(same)]).toEqual([0, []]);
    const other = await snapshot(['diff', '--quiet', '--json', ...inputs(next, out)]);
    expect(errorsOf(other)).toEqual([]);
    expect(other.stdout).toContain('"changed":');
    for (const args of [buildArgs(next, out), ['verify', '--repair', '--quiet', ...inputs(next, out)]]) {
      const { code, stderr } = await snapshot(args);
      expect([args[0], code, stderr.trimEnd().split('\n')]).toEqual([
        args[0],
        3,
        [matching(/^error: .*read-only/)],
      ]);
    }
    expect(filesIn(out)).toEqual(files);
    expect(did('mount', '-o', 'remount,rw', folder)).toBe(true);
    expect(await snapshot(buildArgs(next, out))).toMatchObject({ code: 0 });
    await expectContent(out, both.trees[1]);
  });
});
