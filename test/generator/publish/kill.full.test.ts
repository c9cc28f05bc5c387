/** Builds that are killed at random moments: the tree is the old one or the new one, never a third. */
import { describe, expect, it } from 'vitest';
import { Dice } from '../../../data/sample/dice.js';
import { OPERATOR, published } from '../../support/build.js';
import { temporary } from '../../support/folder.js';
import { contentOf } from '../../support/published.js';
import { changeRegister, writeRegister } from '../../support/register.js';
import { ROWS, buildWith, fresh } from '../../support/site.js';
import { differing } from '../../support/tree.js';
import { killBuild } from '../../system/soak/kill.js';
import { damageOf, expectAtRest } from './support.js';

const path = temporary();

const SEED = 20261201;

describe('a build that is killed', () => {
  it('at random moments leaves the old tree or leads to the new one', async () => {
    const users = Array.from({ length: 400 }, (_, index) => ({ id: index + 1, username: `u${index}` }));
    const rows = { ...ROWS, users };
    const a = writeRegister(path('a.sqlite'), rows);
    const b = writeRegister(path('b.sqlite'), rows);
    changeRegister(
      b,
      `PRAGMA synchronous = OFF; UPDATE users SET username = 'x' || id; DELETE FROM users WHERE id % 20 = 0;
       UPDATE users SET id = id + 5000 WHERE id % 11 = 0`,
    );
    const registers = [a, b] as const;
    const trees = [await fresh(a, path('fresh')), await fresh(b, path('fresh'))] as const;
    const out = path('dist');
    await published({ register: a, out });
    const dice = new Dice(SEED, 'kill', 0);
    const phases: string[] = [];
    let at: 0 | 1 = 0;
    for (let kill = 1; kill <= 10; kill += 1) {
      const to: 0 | 1 = at === 0 ? 1 : 0;
      const inCommit = kill % 2 === 0;
      const { phase } = await killBuild(registers[to], out, dice.below(inCommit ? 25 : 400), inCommit, [
        '--operator',
        OPERATOR,
      ]);
      phases.push(phase);
      const where = `seed ${SEED}, kill ${kill} ${phase}`;
      const damage = await damageOf(out);
      const isInterrupted = damage.some(({ what }) => what === 'interrupted');
      expect(isInterrupted, `at ${where}`).toBe(phase === 'within the commit');
      // Within the commit it is on its way; before and after, it must be whole.
      const state = phase === 'before the commit' ? at : to;
      const problems = isInterrupted ? [] : [...damage, ...differing(contentOf(out), trees[state])];
      expect(problems, `at ${where}`).toEqual([]);
      await buildWith({ register: registers[to], out });
      expect(differing(contentOf(out), trees[to]), `at ${where}`).toEqual([]);
      await expectAtRest(out);
      at = to;
    }
    expect(phases).toContain('within the commit');
  });
});
