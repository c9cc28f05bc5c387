/** One builder for each tree, while many read it: nobody else touches it, and a dead builder hinders nobody. */
import { existsSync, mkdirSync, readFileSync, statSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { brotliDecompressSync, gunzipSync } from 'node:zlib';
import { expect } from 'vitest';
import { writeSample } from '../../../data/sample.js';
import { Lock } from '../../../generator/base/lock.js';
import { Tree } from '../../../generator/tree/tree.js';
import { OPERATOR } from '../../support/build.js';
import { buildArgs, errorsOf, start, startBuild, until } from '../../support/cli.js';
import { inProcess } from '../../support/in-process.js';
import { pair, buildWith, failureOf } from '../../support/site.js';
import { always, thorough } from '../../support/thorough.js';
import { differing, inState } from '../../support/tree.js';
import { matching } from '../../support/values.js';
import { temporary } from '../../support/folder.js';
import { contentOf, indexOf, snapshotOf, sha256, stateOf } from '../../support/published.js';
import { damageOf, expectAtRest, isCommitting } from './support.js';

const path = temporary();

// Enough to render for a while.
const big = path('big.sqlite');
await writeSample({ file: big, records: 3000, seed: 2 });
const both = await pair(path);

always('a tree being built is refused to all other commands, and free once that is killed', async () => {
  const out = both.tree();
  const running = startBuild(big, out);
  await until(() => existsSync(inState(out, 'stage/tree/api/v1')), 'the build renders');
  running.child.kill('SIGSTOP');
  const before = stateOf(out);
  const from = ['--register', both.registers[1], '--operator', OPERATOR];
  for (const args of [['build', ...from], ['verify'], ['verify', '--repair', ...from]]) {
    const { code, stderr } = await inProcess(...args, '--quiet', '--out', out);
    const message = new RegExp(`another process is at work .*process ${running.pid}\\)`);
    expect([args, code, errorsOf({ stderr })]).toEqual([args, 75, [matching(message)]]);
    expect(differing(stateOf(out), before)).toEqual([]);
  }
  running.child.kill('SIGKILL');
  expect((await running.done).signal).toBe('SIGKILL');
  expect(await damageOf(out)).toEqual([]);
  // The stage of the dead build is still there; the next one clears it away.
  expect(await buildWith({ register: both.registers[0], out })).toMatchObject({ sequence: 1 });
  expect(differing(stateOf(out), before)).toEqual(['snapshot.json is another']);
  await expectAtRest(out);
});

thorough('four builds started at once, with --wait, publish one after the other', async () => {
  const out = path('dist');
  const all = Array.from({ length: 4 }, () => startBuild(both.registers[1], out, '--wait'));
  const ended = await Promise.all(all.map(({ done }) => done));
  expect(ended.map(({ code, stderr }) => [code, stderr])).toEqual(ended.map(() => [0, '']));
  expect(differing(contentOf(out), both.trees[1])).toEqual([]);
  expect([snapshotOf(out).sequence, indexOf(out).changes.length]).toEqual([1, 1]);
  await expectAtRest(out);
});

thorough.each([
  ['build', []],
  ['verify', ['--repair']],
])('--wait has %s %j wait for the other process, and say once for which', async (command, options) => {
  const out = both.tree();
  const lock = Lock.take(new Tree(out).lock);
  const args = buildArgs(both.registers[1], out, '--wait', ...options).slice(1);
  const waiting = start([command, ...args.filter((arg) => arg !== '--quiet')]);
  await until(() => waiting.output.stderr.includes('waiting'), 'it waits');
  // It looks several times a second, and says nothing more.
  await sleep(1000);
  lock.release();
  const { code, stderr } = await waiting.done;
  const line = `waiting for process ${process.pid}, which is at work on this tree\n`;
  expect([code, stderr.split(line).length, stderr.split('waiting').length]).toEqual([0, 2, 2]);
  expect(await damageOf(out)).toEqual([]);
});

always('the lock is next to the tree wherever the state is, so that two states are one tree', async () => {
  const [register] = both.registers;
  const out = join(path('site'), 'dist');
  mkdirSync(dirname(out));
  await buildWith({ register, out, state: join(dirname(out), 'one') });
  const held = Lock.take(new Tree(out).lock);
  const { exitCode } = await failureOf(buildWith({ register, out, state: join(dirname(out), 'two') }));
  held.release();
  expect(exitCode).toBe(75);
});

/** Reads a file, or what its sibling decodes to, as a server does: only one of the same millisecond is the sibling's. */
function served(out: string, file: string, suffix: '' | '.br' | '.gz'): string | undefined {
  try {
    const timeOf = (name: string): number => Math.trunc(statSync(join(out, name)).mtimeMs);
    const before = timeOf(file);
    if (suffix !== '' && timeOf(file + suffix) !== before) return undefined;
    const content = readFileSync(join(out, file + suffix));
    if (timeOf(file) !== before) return undefined;
    if (suffix === '') return sha256(content);
    return sha256(suffix === '.br' ? brotliDecompressSync(content) : gunzipSync(content));
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return undefined;
    throw error;
  }
}

/** What the lists say, if they are of the snapshot in service. */
function listed(out: string): ReadonlyMap<string, string> | undefined {
  const { sequence, digest } = snapshotOf(out);
  const text = gunzipSync(readFileSync(join(out, 'downloads/documents.sha256.gz'))).toString();
  if (snapshotOf(out).sequence !== sequence || sha256(text) !== digest) return undefined;
  const lines = text.trimEnd().split('\n');
  return new Map(lines.map((line) => [line.slice(66), line.slice(0, 64)]));
}

thorough('a reader gets each document whole while builds run, and at rest all of one snapshot', async () => {
  const out = both.tree();
  const known = new Map<string, Set<string>>();
  for (const tree of both.trees)
    for (const [file, sum] of Object.entries(tree)) known.set(file, (known.get(file) ?? new Set()).add(sum));
  let reads = 0;
  let whole = 0;
  for (let build = 1; build <= 8; build += 1) {
    const running = startBuild(both.registers[build % 2] ?? '', out);
    while (running.child.exitCode === null) {
      const { sequence } = snapshotOf(out);
      const wrong: string[] = [];
      for (const [file, sum] of listed(out) ?? []) {
        const all = (['', '.br', '.gz'] as const).map((suffix) => served(out, file, suffix));
        if (all[0] !== sum) wrong.push(file);
        // Of one or the other, and never half of each.
        const isKnown = (each: string | undefined): boolean =>
          each === undefined || (known.get(file)?.has(each) ?? true);
        expect([file, all.filter((each) => !isKnown(each))]).toEqual([file, []]);
        reads += 1;
      }
      // Nothing was moved meanwhile.
      if (!isCommitting(out) && snapshotOf(out).sequence === sequence) {
        expect(wrong).toEqual([]);
        whole += 1;
      }
      await sleep(1);
    }
    expect((await running.done).code).toBe(0);
  }
  expect(reads).toBeGreaterThan(1000);
  expect(whole).toBeGreaterThan(1);
  await expectAtRest(out);
});
