/** SIGINT and SIGTERM: at once, with one line that says what state the tree is in, and nothing left behind. SIGKILL: no third state. */
import { existsSync, readFileSync } from 'node:fs';
import { constants } from 'node:os';
import { setTimeout as sleep } from 'node:timers/promises';
import { beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { writeSample } from '../../../data/sample.js';
import { Dice } from '../../../data/sample/dice.js';
import { isCommitting } from '../../../generator/state/published.js';
import { Tree } from '../../../generator/tree/tree.js';
import { OPERATOR } from '../../support/build.js';
import { errorsOf, runSync, start, startBuild, until, type Ended } from '../../support/cli.js';
import { temporary } from '../../support/folder.js';
import { contentOf, manifestOf, stateOf } from '../../support/published.js';
import { changeRegister, writeRegister } from '../../support/register.js';
import { ROWS, buildWith, fresh, pair, type Pair } from '../../support/site.js';
import { differing, inState } from '../../support/tree.js';
import { damageOf, expectAtRest } from './support.js';

const path = temporary();
const big = path('big.sqlite');
let both: Pair;
beforeAll(async () => {
  await writeSample({ file: big, records: 20_000, seed: 5 });
  both = await pair(path);
});

/** A build has a second to end: 1000 ms, or on a busy machine four times as long as a command takes to start. */
const PATIENCE_MS = 1000;
function patience(): number {
  const at = performance.now();
  runSync(['--version']);
  return Math.max(PATIENCE_MS, 4 * (performance.now() - at));
}
const AS_IT_WAS = 'the published tree is what it was';

/** Whether a build has come so far in the stage. */
const hasStaged = (part: string) => (out: string) => existsSync(inState(out, `stage/${part}`));

// A machine that does much else at the same time may need more than one try.
describe('a build that gets', { retry: 2 }, () => {
  it.each([
    ['SIGINT', 'renders each group', hasStaged('tree/api/v1/group')],
    // By then there are thousands of files in the stage to be cleared away.
    ['SIGTERM', 'writes the downloads', hasStaged('scratch/downloads/group_member_readings.csv')],
  ] as const)(
    '%s while it %s ends within a second and leaves the tree as it was',
    async (signal, what, isAtIt) => {
      const out = both.tree();
      const before = stateOf(out);
      const running = startBuild(big, out);
      await until(() => isAtIt(out), `the build ${what}`);
      const at = performance.now();
      running.child.kill(signal);
      const { code, stdout, stderr } = await running.done;
      const ms = performance.now() - at;
      expect([code, stdout, stderr]).toEqual([130, '', `error: stopped by ${signal}; ${AS_IT_WAS}\n`]);
      expect(differing(stateOf(out), before)).toEqual([]);
      // A large stage may not be cleared away in the time there is; nothing is committed, and the next build does the rest.
      expect(isCommitting(new Tree(out))).toBe(false);
      expect(await damageOf(out)).toEqual([]);
      expect(ms).toBeLessThan(patience());
      expect((await startBuild(both.registers[0], out).done).code).toBe(0);
      await expectAtRest(out);
    },
  );
});

/** An interrupt is obeyed within two seconds, whatever a thread is at: 2000 ms. */
const OBEYED_MS = 2000;

/** A register with a view that takes minutes to read. */
function slowToCheck(file: string): string {
  writeRegister(file, ROWS);
  changeRegister(
    file,
    `ALTER TABLE items RENAME TO raw_items;
     CREATE VIEW items AS SELECT * FROM raw_items WHERE
       (WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 1000000000) SELECT max(i) FROM n) > 0`,
  );
  return file;
}

/** Processor time that a process has used, in ticks of 10 ms. */
const ticksOf = (pid: number): number =>
  Number(readFileSync(`/proc/${pid}/stat`, 'utf8').split(' ')[13] ?? 0);

/** The exit code that a shell shows: of a process that a signal ended 128 and its number. */
const shownBy = ({ code, signal }: Ended): number | null =>
  signal === null ? code : 128 + constants.signals[signal];

describe('a query that takes minutes', { retry: 2 }, () => {
  const endless = slowToCheck(path('endless.sqlite'));
  const withTree = ['--operator', OPERATOR, '--out'];

  it.each([
    ['SIGINT', 'check', []],
    ['SIGINT', 'build', withTree],
    ['SIGINT', 'diff', withTree],
    ['SIGINT', 'verify', ['--repair', ...withTree]],
  ] as const)(
    'does not hold up %s to %s: the shell sees 128 and its number',
    async (signal, command, more) => {
      const out = both.tree();
      const before = stateOf(out);
      const running = start([command, '--register', endless, ...more, ...(more.length > 0 ? [out] : [])]);
      // If this test fails, it must not go on for minutes.
      onTestFinished(() => void running.child.kill('SIGKILL'));
      // By then it is in that query, since all others take milliseconds, and to start takes a second at most.
      await until(() => ticksOf(running.pid) > 400, 'it is in the query');
      const at = performance.now();
      running.child.kill(signal);
      const ended = await running.done;
      const ms = performance.now() - at;
      expect(ms).toBeLessThan(OBEYED_MS + patience());
      // Without a word if the main thread was in the query.
      expect(shownBy(ended)).toBe(130);
      const consequence = command === 'build' ? `; ${AS_IT_WAS}` : '';
      expect(['', `error: stopped by ${signal}${consequence}`]).toContain(errorsOf(ended).join());
      expect(differing(stateOf(out), before)).toEqual([]);
      expect(await damageOf(out)).toEqual([]);
      await buildWith({ register: both.registers[0], out });
      await expectAtRest(out);
    },
  );
});

it('a build that is killed at any moment leaves the old tree, or one that the next build completes', async () => {
  const users = Array.from({ length: 400 }, (_, index) => ({ id: index + 1, username: `u${index}` }));
  const [a = '', b = ''] = ['a', 'b'].map((name) => writeRegister(path(name), { ...ROWS, users }));
  changeRegister(b, `DELETE FROM users WHERE id % 20 = 0; UPDATE users SET username = 'x' || id`);
  const trees = [await fresh(a, path('fresh')), await fresh(b, path('fresh'))];
  const out = path('dist');
  await buildWith({ register: a, out });
  const dice = new Dice(20261201, 'kill', 0);
  const tree = new Tree(out);
  let inCommits = 0;
  for (let kill = 1; kill <= 8; kill += 1) {
    const register = kill % 2 === 0 ? a : b;
    const { sequence } = manifestOf(out);
    const { child, done } = startBuild(register, out);
    const waits = kill % 4 > 1;
    if (waits) await until(() => isCommitting(tree) || child.exitCode !== null, 'the build commits');
    await Promise.race([sleep(dice.below(waits ? 25 : 400)), done]);
    child.kill('SIGKILL');
    await done;
    const damage = await damageOf(out);
    const isInterrupted = damage.some(({ what }) => what === 'interrupted');
    expect(isInterrupted).toBe(isCommitting(tree));
    inCommits += Number(isInterrupted);
    const [to, from] = register === a ? trees : trees.toReversed();
    const present = manifestOf(out).sequence === sequence ? from : to;
    expect(isInterrupted ? [] : [...damage, ...differing(contentOf(out), present ?? {})]).toEqual([]);
    await buildWith({ register, out });
    expect(differing(contentOf(out), to ?? {})).toEqual([]);
    await expectAtRest(out);
  }
  expect(inCommits).toBeGreaterThan(0);
});
