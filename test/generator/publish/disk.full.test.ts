/** Real disks without room: what `crash.test.ts` simulates for each call. */
import { spawnSync } from 'node:child_process';
import { statfsSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, expect, it } from 'vitest';
import { newFolder, temporary } from '../../support/folder.js';
import { leaveOut } from '../../support/programs.js';
import { stateOf } from '../../support/published.js';
import { buildWith, pair } from '../../support/site.js';
import { differing, removeTree } from '../../support/tree.js';
import { expectTree, isCommitting, leftovers } from './support.js';

const path = temporary();
const disk = newFolder(path('disk'));
/** Mounts a tmpfs of this many KiB. @returns whether this process is permitted to */
const mount = (kib: number, ...more: readonly string[]): boolean =>
  spawnSync('mount', ['-t', 'tmpfs', '-o', [`size=${kib}k`, ...more].join(), 'tmpfs', disk]).status === 0;
const ROOMY = 1 << 18;
const isMounted = mount(ROOMY);
if (isMounted) afterAll(() => void spawnSync('umount', ['-l', disk]));
else leaveOut('disks that are full', 'this process is not permitted to mount');

it.runIf(isMounted)('a build without room leaves the tree as it was, or to the next one', async () => {
  const both = await pair(path);
  const out = join(disk, 'dist');
  let refused = 0;
  for (const kib of [16, 256, 768, 1280, 2048, 8192]) {
    removeTree(out);
    await buildWith({ register: both.registers[0], out });
    const before = stateOf(out);
    const { blocks, bfree, bsize } = statfsSync(disk);
    expect(mount(((blocks - bfree) * bsize) / 1024 + kib, 'remount')).toBe(true);
    const building = buildWith({ register: both.registers[1], out });
    const error = await building.then(() => undefined, String);
    expect(error ?? 'the disk is full').toContain('the disk is full');
    const isRefused = error !== undefined && !isCommitting(out);
    if (isRefused) refused += 1;
    const traces = isRefused ? [...differing(stateOf(out), before), ...leftovers(out)] : [];
    expect(traces, `${kib} KiB`).toEqual([]);
    expect(mount(ROOMY, 'remount')).toBe(true);
    await buildWith({ register: both.registers[1], out });
    await expectTree(out, both.trees[1]);
  }
  expect(refused).toBeGreaterThan(1);
  expect(refused).toBeLessThan(6);
});
