/** SIGINT and SIGTERM: one line that says what state the tree is in, and nothing left behind. SIGKILL: no third state. */
import { existsSync, readFileSync } from 'node:fs';
import { constants } from 'node:os';
import { setTimeout as sleep } from 'node:timers/promises';
import { beforeAll, expect, it, onTestFinished } from 'vitest';
import { writeSample } from '../../../data/sample.js';
import { Dice } from '../../../data/sample/dice.js';
import { isCommitting } from '../../../generator/state/published.js';
import { Tree } from '../../../generator/tree/tree.js';
import { OPERATOR } from '../../support/build.js';
import { errorsOf, start, startBuild, until, type Ended } from '../../support/cli.js';
import { temporary } from '../../support/folder.js';
import { contentOf, manifestOf, stateOf } from '../../support/published.js';
import { changeRegister, writeRegister } from '../../support/register.js';
import { ROWS, buildWith, fresh, pair, type Pair } from '../../support/site.js';
import { differing, inState } from '../../support/tree.js';
import { SWEEP } from './faults.js';
import { damageOf, expectAtRest } from './support.js';

const path = temporary();
const big = path('big.sqlite');
let both: Pair;
beforeAll(async () => {
  await writeSample({ file: big, records: 6000, seed: 5 });
  both = await pair(path);
});

/** On a machine that does much else: 170000 ms, a little less than a test may take. */
const PATIENCE_MS = 170_000;

const AS_IT_WAS = 'the published tree is what it was';

/** Whether a build has come so far in the stage. */
const hasStaged = (part: string) => (out: string) => existsSync(inState(out, `stage/${part}`));

it.each([
  ['SIGINT', 'renders each group', hasStaged('tree/api/v1/group')],
  // By then there are thousands of files in the stage to be cleared away.
  ['SIGTERM', 'writes the downloads', hasStaged('scratch/downloads/group_member_readings.csv')],
] as const)('a build that gets %s while it %s leaves the tree as it was', async (signal, what, isAtIt) => {
  const out = both.tree();
  const before = stateOf(out);
  const running = startBuild(big, out);
  await until(() => isAtIt(out), `the build ${what}`, PATIENCE_MS);
  running.child.kill(signal);
  const { code, stdout, stderr } = await running.done;
  expect([code, stdout, stderr]).toEqual([130, '', `error: stopped by ${signal}; ${AS_IT_WAS}\n`]);
  expect(differing(stateOf(out), before)).toEqual([]);
  // A large stage may not be cleared away in the time there is; nothing is committed, and the next build does the rest.
  expect(isCommitting(new Tree(out))).toBe(false);
  expect(await damageOf(out)).toEqual([]);
  await buildWith({ register: both.registers[0], out });
  await expectAtRest(out);
});

/** A register with a view that takes longer to read than a test may. */
function endless(): string {
  const file = writeRegister(path('endless.sqlite'), ROWS);
  changeRegister(
    file,
    `ALTER TABLE items RENAME TO raw_items;
     CREATE VIEW items AS SELECT * FROM raw_items WHERE
       (WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 10000000000) SELECT max(i) FROM n) > 0`,
  );
  return file;
}

/** Processor time that a process has used, in ticks of 10 ms. */
const ticksOf = (pid: number): number =>
  Number(readFileSync(`/proc/${pid}/stat`, 'utf8').split(' ')[13] ?? 0);

/** The exit code that a shell shows: of a process that a signal ended 128 and its number. */
const shownBy = ({ code, signal }: Ended): number | null =>
  signal === null ? code : 128 + constants.signals[signal];

it.each([
  ['check', false],
  ['build', true],
])('a query that takes hours does not hold up SIGINT to %s: the shell sees 130', async (command, isBuild) => {
  const out = both.tree();
  const before = stateOf(out);
  const tree = isBuild ? ['--operator', OPERATOR, '--out', out] : [];
  const running = start([command, '--register', endless(), ...tree]);
  // If this test fails, it must not go on for hours.
  onTestFinished(() => void running.child.kill('SIGKILL'));
  // By then it is in that query, since all others take milliseconds, and to start takes a second at most.
  await until(() => ticksOf(running.pid) > 250, 'it is in the query', PATIENCE_MS);
  running.child.kill('SIGINT');
  const ended = await running.done;
  // Without a word if the main thread was in the query.
  expect(shownBy(ended)).toBe(130);
  expect(['', `error: stopped by SIGINT${isBuild ? `; ${AS_IT_WAS}` : ''}`]).toContain(
    errorsOf(ended).join(),
  );
  expect(differing(stateOf(out), before)).toEqual([]);
  await buildWith({ register: both.registers[0], out });
  await expectAtRest(out);
});

it(
  'a build that is killed at any moment leaves the old tree, or one that the next build completes',
  SWEEP,
  async () => {
    const users = Array.from({ length: 400 }, (_, index) => ({ id: index + 1, username: `u${index}` }));
    const [a = '', b = ''] = ['a', 'b'].map((name) => writeRegister(path(name), { ...ROWS, users }));
    changeRegister(b, `DELETE FROM users WHERE id % 20 = 0; UPDATE users SET username = 'x' || id`);
    const trees = [await fresh(a, path('fresh')), await fresh(b, path('fresh'))];
    const out = path('dist');
    await buildWith({ register: a, out });
    const dice = new Dice(20261201, 'kill', 0);
    const tree = new Tree(out);
    let inCommits = 0;
    for (let kill = 1; kill <= 6; kill += 1) {
      const register = kill % 2 === 0 ? a : b;
      const { sequence } = manifestOf(out);
      const { child, done } = startBuild(register, out);
      const waits = kill % 4 > 1;
      if (waits)
        await until(() => isCommitting(tree) || child.exitCode !== null, 'the build commits', PATIENCE_MS);
      // At once in some commits, which may be short.
      await Promise.race([sleep(kill % 4 === 2 ? 0 : dice.below(waits ? 25 : 400)), done]);
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
  },
);
