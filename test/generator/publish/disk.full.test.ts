/** Disks that are full or lose power, and registers that break while they are read. */
import { closeSync, cpSync, existsSync, openSync, rmSync, statSync, truncateSync, writeSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import { isCommitting } from '../../../generator/state/published.js';
import { Tree } from '../../../generator/tree/tree.js';
import { published, startThreads } from '../../support/build.js';
import { buildArgs, errorsOf, snapshot } from '../../support/cli.js';
import { temporary } from '../../support/folder.js';
import { leaveOut } from '../../support/programs.js';
import { contentOf, stateOf } from '../../support/published.js';
import { changeRegister, writeRegister } from '../../support/register.js';
import { ROWS, STEP, buildWith, failureOf, fresh, pair, site, type Pair } from '../../support/site.js';
import { differing } from '../../support/tree.js';
import { SWEEP } from './faults.js';
import { did, empty, fillUpTo, flush, mayMount, mountAt, mountExt4, unmountAfterwards } from './mount.js';
import { damageOf, errorOf, expectAtRest, interruptCommit, leftovers, progressThat } from './support.js';

const path = temporary();
unmountAfterwards();
const mountable = mayMount(path('mount'));
if (!mountable) leaveOut('small disks', 'this process is not permitted to mount');

let both: Pair;
beforeAll(async () => {
  both = await pair(path);
});

const buildOf = (register: string, out: string) => snapshot(buildArgs(register, out));
const range = (count: number): number[] => Array.from({ length: count }, (_, index) => index + 1);

const said = (error: unknown): string => (error instanceof Error ? error.message : JSON.stringify(error));

const isFull = (error: unknown): boolean =>
  error instanceof Error &&
  'exitCode' in error &&
  error.exitCode === 3 &&
  error.message.includes('the disk is full');

/** A first build: folders that have grown don't shrink again. */
async function anew(out: string, { registers, trees }: Pair): Promise<void> {
  rmSync(out, { recursive: true, force: true });
  flush(dirname(out));
  await published({ register: registers[0], out });
  expect(differing(contentOf(out), trees[0])).toEqual([]);
}

/** Builds to and fro on a disk with ever more room, until one passes; what was wrong on the way. */
async function atEveryLevel(disk: string, levels: readonly number[], pairs: Pair): Promise<string[]> {
  const out = join(disk, 'dist');
  await anew(out, pairs);
  const problems: string[] = [];
  let passed = 0;
  for (const level of levels) {
    const before = stateOf(out);
    fillUpTo(disk, level);
    const error = await errorOf(buildWith({ register: pairs.registers[1], out }));
    const left = leftovers(out);
    empty(disk);
    const isOld = JSON.stringify(stateOf(out)) === JSON.stringify(before);
    const isNew = JSON.stringify(contentOf(out)) === JSON.stringify(pairs.trees[1]);
    if (error === undefined) passed += 1;
    if (error === undefined ? !isNew : !isOld) {
      problems.push(
        `${level} blocks free: ${said(error)}, tree ${isOld ? 'old' : isNew ? 'new' : 'between'}`,
      );
    }
    if (error !== undefined && !isFull(error)) problems.push(`${level} blocks free: ${said(error)}`);
    if (error !== undefined && isOld && left.length > 0)
      problems.push(`${level} blocks free: left ${left.join()}`);
    await buildWith({ register: pairs.registers[1], out });
    expect(differing(contentOf(out), pairs.trees[1]), `${level} blocks free`).toEqual([]);
    await expectAtRest(out);
    await anew(out, pairs);
  }
  expect(passed).toBeGreaterThan(0);
  expect(passed).toBeLessThan(levels.length);
  return problems;
}

describe.skipIf(!mountable)('a small disk', () => {
  it('that staging fills ends a build with exit 3, and with more room the same build passes', async () => {
    const disk = mountAt(path('disk'), '-t', 'tmpfs', '-o', 'size=8m', 'tmpfs') ?? '';
    const out = join(disk, 'dist');
    const big = writeRegister(path('big.sqlite'), {
      ...ROWS,
      items: range(3000).map((id) => ({ id, name: `item ${id}`, price: 1 })),
    });
    await published({ register: both.registers[0], out });
    const before = stateOf(out);
    const full = await buildOf(big, out);
    expect(errorsOf(full)).toEqual([
      expect.stringMatching(/the disk is full.*the published tree is what it was/),
    ]);
    expect(full.code).toBe(3);
    expect(differing(stateOf(out), before)).toEqual([]);
    await expectAtRest(out);
    expect(did('mount', '-o', 'remount,size=64m', disk)).toBe(true);
    expect((await buildOf(big, out)).code).toBe(0);
    await expectAtRest(out);
    expect(existsSync(join(out, 'api/v1/item/3000.json'))).toBe(true);
  });

  it(
    'on which folders that grow need room too leaves the old tree or the new one, however full it is',
    SWEEP,
    async () => {
      // A hundred more names of 16 digits: an ext4 folder of 1 kB blocks grows by some blocks.
      const many = range(120).map((index) => ({ id: 10 ** 15 + index, name: 'item', price: 1 }));
      const registers = [
        writeRegister(path('a.sqlite'), { ...ROWS, items: many.slice(0, 20) }),
        writeRegister(path('b.sqlite'), { ...ROWS, items: many }),
      ] as const;
      const trees = [
        await fresh(registers[0], path('fresh')),
        await fresh(registers[1], path('fresh')),
      ] as const;
      const pairs: Pair = { ...both, registers, trees };
      const disk = mountExt4(path('image'), path('disk'), 16384);
      if (disk === undefined) throw new Error('no loop device');
      const out = join(disk, 'dist');
      await anew(out, pairs);
      let [tooLittle, enough] = [150, 6000];
      while (enough - tooLittle > 32) {
        const middle = Math.floor((tooLittle + enough) / 2);
        fillUpTo(disk, middle);
        const passed = (await errorOf(buildWith({ register: registers[1], out }))) === undefined;
        empty(disk);
        if (passed) {
          enough = middle;
          await anew(out, pairs);
        } else tooLittle = middle;
      }
      // What is enough differs by some blocks from build to build.
      const levels = [1000, 32, 16, 8, 0, -400].map((less) => enough - less);
      expect(await atEveryLevel(disk, levels, pairs)).toEqual([]);
    },
  );

  it.each([
    ['that ended, what it has published', buildWith, (out: string) => existsSync(join(out, 'snapshot.json'))],
    [
      'that died within its commit, that it has begun',
      interruptCommit,
      (out: string) => isCommitting(new Tree(out)),
    ],
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
    expect(differing(contentOf(out), both.trees[0])).toEqual([]);
    await expectAtRest(out);
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
    const { progress, steps } = progressThat('rendering', (step) => {
      // The threads have begun to read it once more.
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
    const { progress, steps } = progressThat('rendering records', (step) => {
      if (step === 1) change(register);
    });
    await buildWith({ register, out }, { progress, startPool: startThreads });
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
