/** Builds that die, at random moments and at every single step: the tree is the old one or the new one, never a third. */
import { existsSync, rmSync } from 'node:fs';
import { beforeAll, describe, expect, it } from 'vitest';
import { Dice } from '../../../data/sample/dice.js';
import { OPERATOR, published } from '../../support/build.js';
import { temporary } from '../../support/folder.js';
import { contentOf, indexOf, manifestOf } from '../../support/published.js';
import { changeRegister, writeRegister } from '../../support/register.js';
import { ROWS, buildWith, fresh, pair } from '../../support/site.js';
import type { Pair } from '../../support/site.js';
import { differing, inState } from '../../support/tree.js';
import { killBuild } from '../../system/soak/kill.js';
import {
  SWEEP,
  callsOf,
  deadFrom,
  kindOf,
  likeOf,
  ofEveryKind,
  spread,
  survive,
  withFault,
} from './faults.js';
import type { Call } from './faults.js';
import { damageOf, expectAtRest, leftovers } from './support.js';

const path = temporary();

/** The call with which a stage becomes a commit that goes only forward. */
const isSeal = ({ name, path: file }: Call): boolean =>
  name === 'renameSync' && file.endsWith('/COMMIT.partial');

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

describe('a build that dies at a call that changes the disk', () => {
  let both: Pair;
  let out: string;
  beforeAll(async () => {
    both = await pair(path);
    out = both.tree();
  });

  /** A build's calls from the one register to the other. */
  interface Ways {
    readonly toA: readonly Call[];
    readonly toB: readonly Call[];
  }

  /** The calls up to the one that seals the stage, and those after it. */
  async function phases(): Promise<{ staging: Ways; committing: Ways }> {
    // Both ways find a snapshot that is kept for a rollback.
    for (const register of [both.registers[1], both.registers[0]]) await buildWith({ register, out });
    const toB = await callsOf(() => buildWith({ register: both.registers[1], out }));
    const toA = await callsOf(() => buildWith({ register: both.registers[0], out }));
    const [a, b] = [toA, toB].map((calls) => calls.findIndex((call) => isSeal(call)) + 1);
    if (a === undefined || b === undefined) throw new Error('no build was sealed');
    expect(Math.min(a, b)).toBeGreaterThan(20);
    return {
      staging: { toA: toA.slice(0, a), toB: toB.slice(0, b) },
      committing: { toA: toA.slice(a), toB: toB.slice(b) },
    };
  }

  /** Dies at these calls of builds that lead to and fro, and checks what must be true after each. */
  async function dieAt(
    { toA, toB }: Ways,
    chosen: readonly Call[],
    then: (to: 0 | 1, isOld: boolean) => Promise<void>,
  ): Promise<number> {
    let at: 0 | 1 = 0;
    for (const call of chosen) {
      const to: 0 | 1 = at === 0 ? 1 : 0;
      const { number } = to === 1 ? call : likeOf(call, toB, toA, out);
      const flags = { register: both.registers[to], out };
      const before = manifestOf(out).sequence;
      await survive(withFault(deadFrom(number), () => buildWith(flags)));
      const where = `dead at ${number}, ${kindOf(call, out)}`;
      const isInterrupted = existsSync(inState(out, 'stage/COMMIT'));
      const isOld = manifestOf(out).sequence === before && !isInterrupted;
      const problems = isInterrupted
        ? []
        : [...(await damageOf(out)), ...differing(contentOf(out), both.trees[isOld ? at : to])];
      expect(problems, where).toEqual([]);
      await then(to, isOld);
      expect(differing(contentOf(out), both.trees[to]), where).toEqual([]);
      await expectAtRest(out);
      expect(indexOf(out).sequence).toBe(manifestOf(out).sequence);
      at = to;
    }
    if (at === 1) await buildWith({ register: both.registers[0], out });
    return chosen.length;
  }

  it('within the commit is completed by the next build', SWEEP, async () => {
    const { committing } = await phases();
    const deaths = await dieAt(committing, ofEveryKind(committing.toB, out, 6), async (to, isOld) => {
      expect(isOld).toBe(false);
      await buildWith({ register: both.registers[to], out });
    });
    expect(deaths).toBeGreaterThanOrEqual(25);
  });

  it('within a first build leaves nothing that hinders the next', SWEEP, async () => {
    const register = both.registers[0];
    const calls = await callsOf(() => buildWith({ register, out: path('dist') }));
    for (const { number } of spread(calls, 25).slice(1)) {
      const first = path('dist');
      await survive(withFault(deadFrom(number), () => buildWith({ register, out: first })));
      await buildWith({ register, out: first });
      expect(differing(contentOf(first), both.trees[0]), `dead at ${number}`).toEqual([]);
      expect(leftovers(first)).toEqual([]);
      rmSync(first, { recursive: true });
    }
  });
});
