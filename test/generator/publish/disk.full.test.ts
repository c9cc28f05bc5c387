/** Disks that are full or lose power, and registers that break while they are read. */
import { closeSync, cpSync, existsSync, openSync, rmSync, statSync, truncateSync, writeSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import { Failure } from '../../../generator/base/errors.js';
import { startThreads } from '../../support/build.js';
import { leaveOut } from '../../support/programs.js';
import { changeRegister, writeRegister } from '../../support/register.js';
import { fresh, pair, site, ROWS, STEP, buildWith, failureOf } from '../../support/site.js';
import { differing } from '../../support/tree.js';
import { flushing } from '../../support/without-sync.js';
import { SWEEP } from './faults.js';
import { did, empty, fillUpTo, flush, mayMount, mountAt, mountExt4, unmountAfterwards } from './mount.js';
import { temporary } from '../../support/folder.js';
import { contentOf, stateOf } from '../../support/published.js';
import {
  expectTree,
  damageOf,
  errorOf,
  expectAtRest,
  interruptCommit,
  isCommitting,
  leftovers,
  progressThat,
} from './support.js';

const path = temporary();
unmountAfterwards();
flushing();
const mountable = mayMount(path('mount'));
if (!mountable) leaveOut('small disks', 'this process is not permitted to mount');

const both = await pair(path);

const isFull = (error: unknown): boolean =>
  error instanceof Failure && error.exitCode === 3 && error.message.includes('the disk is full');

const range = (count: number): number[] => Array.from({ length: count }, (_, index) => index + 1);

describe.skipIf(!mountable)('a small disk', () => {
  it.each([1024, 4096])('of blocks of %i bytes leads from tree to tree', SWEEP, async (block) => {
    // A hundred more names of 16 digits: a folder of 1 kB blocks grows by some blocks.
    const many = range(120).map((index) => ({ id: 10 ** 15 + index, name: 'item', price: 1 }));
    const registers = [20, 120].map((count) =>
      writeRegister(path('register'), { ...ROWS, items: many.slice(0, count) }),
    );
    const [first = '', second = ''] = registers;
    const trees = [await fresh(first, path('fresh')), await fresh(second, path('fresh'))] as const;
    const disk = mountExt4(path('image'), path('disk'), 24 * block, block);
    if (disk === undefined) throw new Error('no loop device');
    const out = join(disk, 'dist');
    // Folders that have grown don't shrink again.
    const startOver = async (): Promise<void> => {
      rmSync(out, { recursive: true, force: true });
      flush(dirname(out));
      await buildWith({ register: first, out });
    };
    await startOver();
    let [tooLittle, enough] = [100, 10_000];
    const attempt = async (level: number): Promise<boolean> => {
      const before = stateOf(out);
      fillUpTo(disk, level);
      const error = await errorOf(buildWith({ register: second, out }));
      const left = leftovers(out);
      empty(disk);
      const where = `${level} blocks free`;
      const isRefused = error !== undefined && !isCommitting(out);
      expect(error === undefined || isFull(error), where).toBe(true);
      expect(isRefused ? [...differing(stateOf(out), before), ...left] : [], where).toEqual([]);
      await buildWith({ register: second, out });
      await expectTree(out, trees[1], where);
      await startOver();
      return error === undefined;
    };
    while (enough - tooLittle > 32) {
      const middle = Math.floor((tooLittle + enough) / 2);
      if (await attempt(middle)) enough = middle;
      else tooLittle = middle;
    }
    // What is enough differs by some blocks from build to build.
    for (const more of [-24, -16, -8, 0, 8]) await attempt(enough + more);
    expect(tooLittle).toBeGreaterThan(100);
  });

  it.each([
    ['that ended, what it has published', buildWith, (out: string) => existsSync(join(out, 'snapshot.json'))],
    ['that died within its commit, that it has begun', interruptCommit, isCommitting],
  ])('that loses power keeps of a first build %s', async (_, begin, kept) => {
    const [image, rest] = [path('image'), path('image')];
    const disk = mountExt4(image, path('disk'), 32768);
    if (disk === undefined) throw new Error('no loop device');
    const [register] = both.registers;
    await begin({ register, out: join(disk, 'dist') });
    // What the file system has not flushed is only in memory.
    cpSync(image, rest);
    did('e2fsck', '-fy', rest);
    const out = join(mountAt(path('disk'), '-o', 'loop', rest) ?? '', 'dist');
    expect(kept(out)).toBe(true);
    await buildWith({ register, out });
    await expectTree(out, both.trees[0]);
  });
});

describe('a register that breaks while it is rendered', () => {
  // Larger than SQLite's cache of 16 MB, so that it has to be read again.
  const big = path('big.sqlite');
  beforeAll(() => {
    const description = 'd'.repeat(10_000);
    writeRegister(big, { items: range(3000).map((id) => ({ id, description })) });
  });

  it.each([
    ['is overwritten with garbage', (file: string, size: number) => overwrite(file, size)],
    ['is emptied', (file: string) => truncateSync(file, 0)],
  ])('because it %s leaves the tree as it was', async (_, breakIt) => {
    const [register, out] = [path('register.sqlite'), both.tree()];
    const before = stateOf(out);
    expect(did('cp', big, register)).toBe(true);
    const { size } = statSync(register);
    const { progress, steps } = progressThat('checking the register', (step) => {
      if (step === 1) breakIt(register, size);
    });
    const error = await failureOf(buildWith({ register, out }, { progress }));
    expect(steps()).toBeGreaterThanOrEqual(1);
    expect([1, 3]).toContain(error.exitCode);
    expect(error.message).toContain('the published tree is what it was');
    expect(differing(stateOf(out), before)).toEqual([]);
    await expectAtRest(out);
  });

  it.each([
    ['replaced by another file', 'DELETE', (register: string) => void did('mv', both.registers[1], register)],
    ['changed by a writer', 'WAL', (register: string) => changeRegister(register, STEP)],
  ])('or is %s is rendered by all threads as it was when the build began', async (_, mode, change) => {
    const { register } = await site(path);
    changeRegister(register, `PRAGMA journal_mode = ${mode}`);
    const out = path('dist');
    const { progress, steps } = progressThat('checking the register', (step) => {
      if (step === 1) change(register);
    });
    await buildWith({ register, out }, { progress, startThreads });
    expect(steps()).toBeGreaterThanOrEqual(1);
    expect(differing(contentOf(out), both.trees[0])).toEqual([]);
    expect(await damageOf(out)).toEqual([]);
  });
});

/** All pages but the first become noise. */
function overwrite(file: string, size: number): void {
  const descriptor = openSync(file, 'r+');
  try {
    writeSync(descriptor, Buffer.alloc(size - 4096, 0xa5), 0, size - 4096, 4096);
  } finally {
    closeSync(descriptor);
  }
}
