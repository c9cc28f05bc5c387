/** Builds that die, at random moments and at every single step: the tree is the old one or the new one, never a third. */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import { Dice } from '../../data/sample/dice.js';
import { killBuild } from '../crash/kill.js';
import { OPERATOR, published } from '../support/build.js';
import { changeRegister, writeRegister } from '../support/register.js';
import { callsOf, deadFrom, survive, withFault } from './faults.js';
import {
  ROWS,
  buildWith,
  contentOf,
  damageOf,
  differing,
  expectAtRest,
  fresh,
  indexOf,
  leftovers,
  manifestOf,
  pair,
  temporary,
} from './support.js';
import type { Pair } from './support.js';

const path = temporary();
const SEED = 20261201;

describe('a build that is killed', () => {
  it('at random moments leaves the old tree or leads to the new one', async () => {
    const MANY = 400;
    const rows = {
      ...ROWS,
      users: Array.from({ length: MANY }, (_, index) => ({ id: index + 1, username: `u${index}` })),
    };
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
    for (let kill = 1; kill <= 16; kill += 1) {
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
  const out = path('dist');
  beforeAll(async () => {
    both = await pair(path);
    await published({ register: both.registers[0], out });
  });

  /** Dies at these calls of builds that lead to and fro, and checks what must be true after each. */
  async function dieAt(numbers: readonly number[], then: (to: 0 | 1) => Promise<void>): Promise<number> {
    let at: 0 | 1 = 0;
    for (const number of numbers) {
      const to: 0 | 1 = at === 0 ? 1 : 0;
      const flags = { register: both.registers[to], out };
      const before = manifestOf(out).sequence;
      await survive(withFault(deadFrom(number), () => buildWith(flags)));
      const isInterrupted = existsSync(join(out, '.snapshot/stage/COMMIT'));
      const state = manifestOf(out).sequence === before ? at : to;
      const problems = isInterrupted
        ? []
        : [...(await damageOf(out)), ...differing(contentOf(out), both.trees[state])];
      expect(problems, `dead at ${number}`).toEqual([]);
      await then(to);
      expect(differing(contentOf(out), both.trees[to]), `dead at ${number}`).toEqual([]);
      await expectAtRest(out);
      expect(indexOf(out).sequence).toBe(manifestOf(out).sequence);
      at = to;
    }
    if (at === 1) await buildWith({ register: both.registers[0], out });
    return numbers.length;
  }

  async function numbers(): Promise<{ staging: number[]; committing: number[] }> {
    const toB = await callsOf(() => buildWith({ register: both.registers[1], out }));
    await buildWith({ register: both.registers[0], out });
    const sealed = toB.findIndex(({ path: file }) => file.endsWith('/COMMIT')) + 1;
    expect(sealed).toBeGreaterThan(20);
    // The way back may be a few calls longer or shorter; those beyond the end are no death at all.
    const all = Array.from({ length: toB.length + 3 }, (_, index) => index + 1);
    return { staging: all.slice(0, sealed), committing: all.slice(sealed) };
  }

  it('before the commit leaves the tree as it was', async () => {
    const { staging } = await numbers();
    const deaths = await dieAt(
      staging.filter((number) => number % 5 === 0),
      async (to) => void (await buildWith({ register: both.registers[to], out })),
    );
    expect(deaths).toBeGreaterThan(10);
  });

  it('within the commit is completed by the next build', async () => {
    const { committing } = await numbers();
    const deaths = await dieAt(
      committing,
      async (to) => void (await buildWith({ register: both.registers[to], out })),
    );
    expect(deaths).toBeGreaterThan(10);
  });

  it('while an interrupted commit is being completed is completed by the one after', async () => {
    const { committing } = await numbers();
    const deaths = await dieAt(
      committing.filter((number) => number % 2 === 0),
      async (to) => {
        await survive(withFault(deadFrom(9), () => buildWith({ register: both.registers[to], out })));
        await buildWith({ register: both.registers[to], out });
      },
    );
    expect(deaths).toBeGreaterThan(5);
  });

  it('within a first build leaves nothing that hinders the next', async () => {
    const register = both.registers[0];
    const calls = await callsOf(() => buildWith({ register, out: path('dist') }));
    for (let number = 2; number < calls.length; number += number < calls.length - 30 ? 61 : 3) {
      const first = path('dist');
      await survive(withFault(deadFrom(number), () => buildWith({ register, out: first })));
      await buildWith({ register, out: first });
      expect(differing(contentOf(first), both.trees[0]), `dead at ${number}`).toEqual([]);
      expect(leftovers(first)).toEqual([]);
    }
  });
});
