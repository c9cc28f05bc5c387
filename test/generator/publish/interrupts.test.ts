/** Interrupts: before the point of no return the tree stays what it was; from there on the commit finishes. */
import { beforeAll, describe, expect, vi } from 'vitest';
import { Failure } from '../../../generator/base/errors.js';
import { progressFor } from '../../../generator/base/progress.js';
import { Register } from '../../../generator/register/database.js';
import { TABLES } from '../../../generator/schema/schema.js';
import { isCommitting } from '../../../generator/state/published.js';
import { Tree } from '../../../generator/tree/tree.js';
import { startThreads } from '../../support/build.js';
import { temporary } from '../../support/folder.js';
import { contentOf, stateOf } from '../../support/published.js';
import { buildWith, failureOf, pair, type Pair } from '../../support/site.js';
import { always, isThorough, it } from '../../support/thorough.js';
import { differing } from '../../support/tree.js';
import { expectAtRest, progressThat } from './support.js';

const path = temporary();
let both: Pair;
beforeAll(async () => {
  both = await pair(path);
});

const interrupted = (): Failure => Failure.interrupted('stopped by SIGINT');

/** Progress of a process that gets a signal once something is so, while its main thread is blocked. */
function stopOnce(isTime: () => boolean) {
  const stop = new AbortController();
  const unheard = async <T>(work: () => T | Promise<T>): Promise<T> => {
    const result = await work();
    if (isTime()) stop.abort(interrupted());
    return result;
  };
  return progressFor('quiet', { signal: stop.signal, unheard }, () => undefined);
}

/** Builds the second register into a tree of the first one. */
const begun = () => ({ out: both.tree(), register: both.registers[1] });

describe('an interrupt', () => {
  always('in whatever query of the main thread leaves the tree as it was', async () => {
    const { register, out } = begun();
    const before = stateOf(out);
    let stopped = 0;
    for (let isStopped = true; isStopped; stopped += isThorough ? 2 : 8) {
      let calls = 0;
      const progress = stopOnce(() => (calls += 1) > stopped);
      const failure = await failureOf(buildWith({ register, out }, { progress })).catch(() => undefined);
      isStopped = calls > stopped;
      const said = { exitCode: 130, message: 'stopped by SIGINT; the published tree is what it was' };
      expect(failure).toEqual(isStopped ? expect.objectContaining(said) : undefined);
      expect(isStopped && isCommitting(new Tree(out))).toBe(false);
      expect(isStopped ? differing(stateOf(out), before) : []).toEqual([]);
    }
    expect(stopped).toBeGreaterThan(5);
    expect(differing(contentOf(out), both.trees[1])).toEqual([]);
    await expectAtRest(out);
  });

  it('finds no query of the main thread over the tables that it must wait for', async () => {
    const { register, out } = begun();
    // After each border, how many pieces of such work are being done: one may be within another.
    const depths: number[] = [];
    const border = vi.fn<(by: number) => void>((by) => void depths.push((depths.at(-1) ?? 0) + by));
    const unheard = async <T>(work: () => T | Promise<T>): Promise<T> => {
      border(1);
      return await Promise.resolve(work()).finally(() => border(-1));
    };
    const progress = progressFor('quiet', { signal: new AbortController().signal, unheard }, () => undefined);
    const spies = [vi.spyOn(Register.prototype, 'rows'), vi.spyOn(Register.prototype, 'integers')];
    await buildWith({ register, out }, { progress, startPool: startThreads });
    const borders = border.mock.invocationCallOrder;
    const isHeardAt = (order = 0): boolean =>
      (depths[borders.filter((each) => each < order).length - 1] ?? 0) === 0;
    const reads = TABLES.map(({ name }) => new RegExp(`\\b(FROM|JOIN) "?${name}\\b`));
    const queries = spies.flatMap(({ mock }) =>
      mock.calls.map(([sql], index) => ({ sql, isHeard: isHeardAt(mock.invocationCallOrder[index]) })),
    );
    for (const spy of spies) spy.mockRestore();
    const ofTables = queries.filter(({ sql }) => reads.some((read) => read.test(sql)));
    expect(ofTables.length).toBeGreaterThan(20);
    expect(ofTables.filter(({ isHeard }) => isHeard)).toEqual([]);
  });

  it('within the commit comes too late: the commit finishes', async () => {
    const flags = begun();
    const { progress, steps } = progressThat('committing', (step) => {
      if (step === 5) throw interrupted();
    });
    expect(await buildWith(flags, { progress })).toMatchObject({ sequence: 2 });
    expect(steps()).toBe(5);
    expect(differing(contentOf(flags.out), both.trees[1])).toEqual([]);
    await expectAtRest(flags.out);
  });
});
