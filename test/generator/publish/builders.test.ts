/** One builder for each tree: nobody else touches it, and a dead builder hinders nobody. */
import { existsSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect, onTestFinished } from 'vitest';
import { writeSample } from '../../../data/sample.js';
import { Lock } from '../../../generator/base/lock.js';
import { Tree } from '../../../generator/tree/tree.js';
import { OPERATOR } from '../../support/build.js';
import { buildArgs, errorsOf, start, startBuild, until } from '../../support/cli.js';
import { inProcess } from '../../support/in-process.js';
import { pair, buildWith } from '../../support/site.js';
import { always, thorough } from '../../support/thorough.js';
import { differing, inState } from '../../support/tree.js';
import { containing, matching } from '../../support/values.js';
import { temporary } from '../../support/folder.js';
import { contentOf, indexOf, snapshotOf, stateOf } from '../../support/published.js';
import { damageOf, expectAtRest } from './support.js';

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
  for (const args of [['build', ...from], ['diff', ...from], ['verify'], ['verify', '--repair', ...from]]) {
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

const waiting = (out: string): readonly string[] =>
  buildArgs(both.registers[1], out, '--wait').filter((arg) => arg !== '--quiet');

thorough('a build that waits for another process is stopped by a signal', async () => {
  const out = both.tree();
  const lock = Lock.take(new Tree(out).lock);
  const { child, done, output } = start(waiting(out));
  onTestFinished(() => {
    child.kill('SIGKILL');
    lock.release();
  });
  await until(() => output.stderr.includes('waiting'), 'it waits');
  // It looks several times a second.
  await sleep(500);
  child.kill('SIGINT');
  expect(await done).toMatchObject({ code: 130, stderr: containing('error: stopped by SIGINT\n') });
});

thorough('builds and repairs with --wait say once for which process, and work in turn', async () => {
  const out = both.tree();
  const lock = Lock.take(new Tree(out).lock);
  const commands = [['build'], ['build'], ['verify', '--repair']];
  const started = commands.map((command) => start([...command, ...waiting(out).slice(1)]));
  await until(() => started.every(({ output }) => output.stderr.includes('waiting')), 'they wait');
  // They look several times a second, and say nothing more.
  await sleep(1000);
  lock.release();
  for (const { done } of started) {
    const { code, stderr } = await done;
    const lines = stderr.split('\n').filter((each) => each.startsWith('waiting'));
    expect([code, lines[0]]).toEqual([
      0,
      `waiting for process ${process.pid}, which is at work on this tree`,
    ]);
    expect(new Set(lines).size).toBe(lines.length);
  }
  expect(differing(contentOf(out), both.trees[1])).toEqual([]);
  // All but the first find nothing to do.
  expect([snapshotOf(out).sequence, indexOf(out).changes.length]).toEqual([2, 2]);
  await expectAtRest(out);
});
