/** One builder for each tree: while the first lives nobody else touches it, and a dead one hinders nobody. */
import { existsSync, readFileSync, rmSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { beforeAll, expect, it } from 'vitest';
import { writeSample } from '../../../data/sample.js';
import { Lock } from '../../../generator/base/lock.js';
import { Tree } from '../../../generator/tree/tree.js';
import { OPERATOR } from '../../support/build.js';
import { buildArgs, errorsOf, inputs, snapshot, start, startBuild, until } from '../../support/cli.js';
import { temporary } from '../../support/folder.js';
import { contentOf, indexOf, manifestOf, stateOf } from '../../support/published.js';
import { buildWith, pair, type Pair } from '../../support/site.js';
import { differing, inState } from '../../support/tree.js';
import { damageOf, expectAtRest, interruptCommit } from './support.js';

const path = temporary();

// Enough to render for a while.
const big = path('big.sqlite');
let both: Pair;
beforeAll(async () => {
  await writeSample({ file: big, records: 3000, seed: 2 });
  both = await pair(path);
});

/** A tree with something to go back to. */
async function twoSnapshots(): Promise<string> {
  const out = both.tree();
  await buildWith({ register: both.registers[1], out });
  return out;
}

it('a tree that is being built is refused to every other command with exit 75 and the process that has it, and is free when that was killed', async () => {
  const out = await twoSnapshots();
  const running = startBuild(big, out);
  const isHeld = (): boolean => readFileSync(`${new Tree(out).lock}.pid`, 'utf8') === String(running.pid);
  await until(() => isHeld() && existsSync(inState(out, 'stage/tree/api/v1')), 'the build renders');
  running.child.kill('SIGSTOP');
  const before = stateOf(out);
  const from = ['--register', both.registers[1], '--operator', OPERATOR];
  for (const args of [['build', ...from], ['verify'], ['verify', '--repair', ...from]]) {
    const { code, stderr } = await snapshot([...args, '--quiet', '--out', out]);
    const message = expect.stringMatching(
      new RegExp(`another process .*process ${running.pid}\\)`),
    ) as unknown;
    expect([args, code, errorsOf({ stderr })]).toEqual([args, 75, [message]]);
    expect(differing(stateOf(out), before)).toEqual([]);
  }
  expect(existsSync(inState(out, 'stage/tree'))).toBe(true);
  running.child.kill('SIGKILL');
  expect((await running.done).signal).toBe('SIGKILL');
  expect(differing(stateOf(out), before)).toEqual([]);
  expect(await damageOf(out)).toEqual([]);
  // The stage of the dead build is still there; the next one clears it away.
  expect(await buildWith({ register: both.registers[1], out })).toMatchObject({ sequence: 2 });
  await expectAtRest(out);
});

it.each([
  ['into an empty folder, with --wait,', 1, ['--wait']],
  ['over a published tree', 2, []],
])(
  'four builds started at once %s publish one after the other or are refused',
  async (_, sequence, options) => {
    const out = sequence === 1 ? path('dist') : both.tree();
    const all = Array.from({ length: 4 }, () => startBuild(both.registers[1], out, ...options));
    const ended = await Promise.all(all.map(({ done }) => done));
    for (const { code, stderr } of ended) {
      expect(options.length > 0 ? [0] : [0, 75]).toContain(code);
      expect(stderr).toMatch(code === 75 ? /another process is at work/ : /^$/);
    }
    expect(ended.map(({ code }) => code)).toContain(0);
    expect(differing(contentOf(out), both.trees[1])).toEqual([]);
    expect(manifestOf(out).sequence).toBe(sequence);
    expect(indexOf(out).changes).toHaveLength(sequence);
    await expectAtRest(out);
  },
);

it.each([
  ['build', []],
  ['verify', ['--repair']],
])('--wait has %s %j wait for the other process, and say once for which', async (command, options) => {
  const out = await twoSnapshots();
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

it('a tree of which somebody deleted all but its state, with a prepared commit in it, is repaired', async () => {
  const out = both.tree();
  await interruptCommit({ register: both.registers[1], out });
  rmSync(out, { recursive: true });
  const repaired = await snapshot(['verify', '--repair', '--quiet', ...inputs(both.registers[1], out)]);
  expect([repaired.code, repaired.stderr]).toEqual([0, '']);
  expect(differing(contentOf(out), both.trees[1])).toEqual([]);
  await expectAtRest(out);
});
