/**
 * Trees that an image brings along: a container has them, with their state, in a lower layer of an overlay, where no
 * folder can be renamed. A container that is killed may become the next image.
 */
import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, it, vi } from 'vitest';
import { published } from '../../support/build.js';
import { buildArgs, inputs, snapshot, start } from '../../support/cli.js';
import { temporary } from '../../support/folder.js';
import { leaveOut } from '../../support/programs.js';
import { contentOf } from '../../support/published.js';
import { pair } from '../../support/site.js';
import { differing } from '../../support/tree.js';
import { did, mountAt, unmountAfterwards } from './mount.js';
import { expectTree, damageOf } from './support.js';

const path = temporary();
unmountAfterwards();

interface Container {
  readonly root: string;
  /** From top to bottom. */
  readonly layers: readonly string[];
}

/** A container of an image with these layers; undefined where this process can't mount one. */
function containerOf(...image: readonly string[]): Container | undefined {
  const own = mountAt(path('own'), '-t', 'tmpfs', 'tmpfs');
  if (own === undefined) return undefined;
  const [upper, work] = [join(own, 'upper'), join(own, 'work')];
  for (const folder of [upper, work]) mkdirSync(folder);
  const layers = `lowerdir=${image.join(':')},upperdir=${upper},workdir=${work}`;
  const root = mountAt(path('root'), '-t', 'overlay', 'overlay', '-o', `redirect_dir=off,${layers}`);
  return root === undefined ? undefined : { root, layers: [upper, ...image] };
}

function container(...image: readonly string[]): Container {
  const made = containerOf(...image);
  if (made === undefined) throw new Error('no overlay');
  return made;
}

/** A container of the image that one became which ended. */
function nextOf({ root, layers }: Container): Container {
  expect(did('umount', root)).toBe(true);
  return container(...layers);
}

const lower = path('lower');
mkdirSync(lower);
const mountable = containerOf(lower) !== undefined;
if (!mountable) leaveOut('trees of images', 'this process is not permitted to mount an overlay');

/** A module that has a process kill itself so many calls that change the disk after a commit has begun. */
function deathAfter(calls: number): string {
  const file = path('death.mjs');
  writeFileSync(
    file,
    `import fs from 'node:fs';
    import { syncBuiltinESMExports } from 'node:module';
    import { isMainThread } from 'node:worker_threads';
    let left = Infinity;
    const count = (name) => {
      const original = fs[name];
      fs[name] = (...args) => {
        if (name === 'renameSync' && String(args[0]).endsWith('-state/stage')) left = ${calls} + 1;
        if (left === 0) process.kill(process.pid, 'SIGKILL');
        left -= 1;
        original(...args);
      };
    };
    if (isMainThread) ['mkdirSync', 'renameSync', 'rmdirSync', 'rmSync', 'unlinkSync'].forEach(count);
    syncBuiltinESMExports();`,
  );
  return file;
}

/** A build that is killed so many calls after its commit has begun. @returns whether it lived that long */
async function killedBuild(register: string, out: string, calls: number): Promise<boolean> {
  vi.stubEnv('NODE_OPTIONS', `--import ${deathAfter(calls)}`);
  const { done } = start(buildArgs(register, out));
  vi.unstubAllEnvs();
  const { code, signal } = await done;
  expect([0, 'SIGKILL']).toContain(code ?? signal);
  return signal === 'SIGKILL';
}

const both = await pair(path);

describe.skipIf(!mountable)('a tree of an image', () => {
  const image = path('image');
  const empty = path('image');
  beforeAll(async () => {
    await published({ register: both.registers[0], out: join(image, 'dist') });
    mkdirSync(join(empty, 'dist'), { recursive: true });
  });

  it('is built and repaired in a container', async () => {
    const out = join(container(image).root, 'dist');
    const steps = [
      { args: buildArgs(both.registers[1], out), tree: both.trees[1] },
      { args: ['verify', '--repair', '--quiet', ...inputs(both.registers[1], out)], tree: both.trees[1] },
    ];
    for (const { args, tree } of steps) {
      if (args.includes('--repair')) rmSync(join(out, 'api/v1/group'), { recursive: true });
      const { code, stderr } = await snapshot(args);
      expect([args[0], code, stderr]).toEqual([args[0], 0, '']);
      expect(differing(contentOf(out), tree)).toEqual([]);
      expect(await damageOf(out)).toEqual([]);
    }
  });

  const build = { command: 'the next build', args: buildArgs };
  const repair = {
    command: 'verify --repair',
    args: (register: string, out: string) => ['verify', '--repair', '--quiet', ...inputs(register, out)],
  };

  it.each([
    { what: 'the next', of: image, ...build },
    { what: 'a first', of: empty, ...repair },
  ])('has $what commit, killed anywhere, completed by $command', async ({ of, args }) => {
    let killed = 0;
    for (const calls of [0, 10, 150, 200]) {
      const made = container(of);
      killed += Number(await killedBuild(both.registers[1], join(made.root, 'dist'), calls));
      const out = join(nextOf(made).root, 'dist');
      const { code, stderr } = await snapshot(args(both.registers[1], out));
      expect([code, stderr], `killed after ${calls} calls`).toEqual([0, '']);
      await expectTree(out, both.trees[1]);
    }
    expect(killed).toBeGreaterThan(1);
  });
});
