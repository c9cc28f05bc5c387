/**
 * SIGINT and SIGTERM: one line that says what state the tree is in, and nothing left behind; from the point of no
 * return on the commit finishes. SIGKILL: no third state.
 */
import { readFileSync } from 'node:fs';
import { constants } from 'node:os';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect, onTestFinished } from 'vitest';
import { Dice } from '../../../data/sample/dice.js';
import { Failure } from '../../../generator/base/errors.js';
import { progressFor } from '../../../generator/base/progress.js';
import { OPERATOR } from '../../support/build.js';
import { errorsOf, start, startBuild, until } from '../../support/cli.js';
import { changeRegister, writeRegister } from '../../support/register.js';
import { ROWS, fresh, pair, buildWith, failureOf } from '../../support/site.js';
import { always, isThorough, it, thorough } from '../../support/thorough.js';
import { differing } from '../../support/tree.js';
import { SWEEP } from './faults.js';
import { temporary } from '../../support/folder.js';
import { contentOf, snapshotOf, stateOf } from '../../support/published.js';
import { expectTree, damageOf, expectAtRest, isCommitting, progressThat } from './support.js';

const path = temporary();
const both = await pair(path);

/** On a machine that does much else: 170000 ms, a little less than a test may take. */
const PATIENCE_MS = 170_000;

const AS_IT_WAS = 'the published tree is what it was';
const interrupted = (): Failure => Failure.interrupted('stopped by SIGINT');

const begun = () => ({ out: both.tree(), register: both.registers[1] });

always('an interrupt in whatever query of the main thread leaves the tree as it was', SWEEP, async () => {
  const { register, out } = begun();
  const before = stateOf(out);
  let stopped = 0;
  for (let isStopped = true; isStopped; stopped += isThorough ? 3 : 12) {
    let calls = 0;
    const stop = new AbortController();
    const withDefaultSignals = async <T>(work: () => T | Promise<T>): Promise<T> => {
      const result = await work();
      if ((calls += 1) > stopped) stop.abort(interrupted());
      return result;
    };
    const progress = progressFor('quiet', { signal: stop.signal, withDefaultSignals }, () => undefined);
    const failure = await failureOf(buildWith({ register, out }, { progress })).catch(() => undefined);
    isStopped = calls > stopped && snapshotOf(out).sequence === 1;
    const said = { exitCode: 130, message: `stopped by SIGINT; ${AS_IT_WAS}` };
    expect(failure).toEqual(isStopped ? expect.objectContaining(said) : undefined);
    expect(isStopped && isCommitting(out)).toBe(false);
    expect(isStopped ? differing(stateOf(out), before) : []).toEqual([]);
  }
  expect(stopped).toBeGreaterThan(12);
  await expectTree(out, both.trees[1]);
});

/** Processor time that a process has used, in ticks of 10 ms. */
const ticksOf = (pid: number) => Number(readFileSync(`/proc/${pid}/stat`, 'utf8').split(' ')[13] ?? 0);

it('an interrupt within the commit comes too late: the commit finishes', async () => {
  const flags = begun();
  const { progress, steps } = progressThat('committing', (step) => {
    if (step === 5) throw interrupted();
  });
  expect(await buildWith(flags, { progress })).toMatchObject({ sequence: 2 });
  expect(steps()).toBe(5);
  await expectTree(flags.out, both.trees[1]);
});

thorough.each([
  ['SIGINT', 130],
  ['SIGTERM', 143],
] as const)('a query that takes hours does not hold up %s to a build', async (signal, code) => {
  const out = both.tree();
  const before = stateOf(out);
  const register = writeRegister(path('endless.sqlite'), ROWS);
  changeRegister(
    register,
    `ALTER TABLE items RENAME TO raw_items;
     CREATE VIEW items AS SELECT * FROM raw_items WHERE
       (WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 10000000000) SELECT max(i) FROM n) > 0`,
  );
  const running = start(['build', '--register', register, '--operator', OPERATOR, '--out', out]);
  // If this test fails, it must not go on for hours.
  onTestFinished(() => void running.child.kill('SIGKILL'));
  // By then it is in that query, since all others take milliseconds, and to start takes a second at most.
  await until(() => ticksOf(running.pid) > 250, 'it is in the query', PATIENCE_MS);
  running.child.kill(signal);
  const ended = await running.done;
  // A shell shows of a process that a signal ended 128 and its number.
  expect(ended.signal === null ? ended.code : 128 + constants.signals[ended.signal]).toBe(
    ended.stderr === '' ? code : 130,
  );
  // Without a word if the main thread was in the query.
  expect(['', `error: stopped by ${signal}; ${AS_IT_WAS}`]).toContain(errorsOf(ended).join());
  expect(differing(stateOf(out), before)).toEqual([]);
  await buildWith({ register: both.registers[0], out });
  await expectAtRest(out);
});

thorough('a build that is killed leaves a whole tree, or a commit', { timeout: 900_000 }, async () => {
  const users = Array.from({ length: 400 }, (_, index) => ({ id: index + 1, username: `u${index}` }));
  const [a = '', b = ''] = ['a', 'b'].map((name) => writeRegister(path(name), { ...ROWS, users }));
  changeRegister(b, `DELETE FROM users WHERE id % 20 = 0; UPDATE users SET username = 'x' || id`);
  const trees = [await fresh(a, path('fresh')), await fresh(b, path('fresh'))];
  const out = path('dist');
  const began = performance.now();
  expect((await startBuild(a, out).done).code).toBe(0);
  const took = performance.now() - began;
  const dice = new Dice(20261201, 'kill', 0);
  let inCommits = 0;
  for (let kill = 1; kill <= 21; kill += 1) {
    // Each is of another register than the last, so that there is something to commit.
    const { child, done } = startBuild(kill % 2 === 0 ? a : b, out);
    const isOver = (): boolean => child.exitCode !== null;
    if (kill % 3 === 0) {
      // The commit of the build before may be completed first.
      await until(() => isCommitting(out) || isOver(), 'it commits', PATIENCE_MS);
      await sleep(dice.below(20));
    } else await Promise.race([sleep(dice.below(Math.round(took))), done]);
    child.kill('SIGKILL');
    await done;
    if (isCommitting(out)) inCommits += 1;
    else {
      const found = contentOf(out);
      const differences = trees.map((tree) => differing(found, tree));
      expect(differences, `kill ${kill}`).toContainEqual([]);
      expect(await damageOf(out), `kill ${kill}`).toEqual([]);
    }
  }
  expect(inCommits).toBeGreaterThan(0);
  await buildWith({ register: b, out });
  await expectTree(out, trees[1] ?? {});
});
