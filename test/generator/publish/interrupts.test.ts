/** Interrupts: before the point of no return the tree stays what it was; from there on the commit finishes. */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeAll, describe, expect, vi } from 'vitest';
import { writeSample } from '../../../data/sample.js';
import { dryRun } from '../../../generator/pipeline/build.js';
import { buildConfig } from '../../../generator/config/config.js';
import { Failure } from '../../../generator/base/errors.js';
import { progressFor } from '../../../generator/base/progress.js';
import type { Resource } from '../../../generator/schema/field.js';
import { Register } from '../../../generator/register/database.js';
import { RESOURCES, TABLES } from '../../../generator/schema/schema.js';
import { isCommitting } from '../../../generator/state/published.js';
import { Tree } from '../../../generator/tree/tree.js';
import { OPERATOR, effectsAt, startThreads } from '../../support/build.js';
import { temporary } from '../../support/folder.js';
import { contentOf, stateOf } from '../../support/published.js';
import { changeRegister } from '../../support/register.js';
import { buildWith, failureOf, pair, type Pair } from '../../support/site.js';
import { always, isThorough, it, some } from '../../support/thorough.js';
import { differing } from '../../support/tree.js';
import { damageOf, expectAtRest, progressThat } from './support.js';

const path = temporary();
let both: Pair;
beforeAll(async () => {
  both = await pair(path);
});
afterEach(() => vi.restoreAllMocks());

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

const asView = ({ plural }: Resource): string =>
  `ALTER TABLE ${plural} RENAME TO raw_${plural}; CREATE VIEW ${plural} AS SELECT * FROM raw_${plural};`;

/** Builds the second register into a tree of the first one. */
const begun = () => ({ out: both.tree(), register: both.registers[1] });

describe('an interrupt', () => {
  it('while the commit is prepared leaves the tree as it was', async () => {
    const { register, out } = begun();
    const before = stateOf(out);
    const tree = new Tree(out);
    const progress = stopOnce(() => existsSync(join(tree.stage, 'snapshot.json')));
    const { exitCode, message } = await failureOf(buildWith({ register, out }, { progress }));
    expect([exitCode, message]).toEqual([130, 'stopped by SIGINT; the published tree is what it was']);
    expect(isCommitting(tree)).toBe(false);
    expect(differing(stateOf(out), before)).toEqual([]);
    // The stage may not be deleted in the time there is; the next build does that.
    expect(await damageOf(out)).toEqual([]);
    await buildWith({ register, out });
    expect(differing(contentOf(out), both.trees[1])).toEqual([]);
    await expectAtRest(out);
  });

  always('in whatever query of the main thread leaves the tree as it was', async () => {
    const { register, out } = begun();
    const before = stateOf(out);
    let stopped = 0;
    for (let isStopped = true; isStopped; stopped += isThorough ? 1 : 3) {
      let calls = 0;
      const progress = stopOnce(() => (calls += 1) > stopped);
      const failure = await failureOf(buildWith({ register, out }, { progress })).catch(() => undefined);
      isStopped = calls > stopped;
      expect(failure?.exitCode).toBe(isStopped ? 130 : undefined);
      expect(isStopped ? differing(stateOf(out), before) : []).toEqual([]);
    }
    expect(stopped).toBeGreaterThan(5);
    expect(differing(contentOf(out), both.trees[1])).toEqual([]);
    await expectAtRest(out);
  });

  always.each(some(['tables', 'views'], 1))(
    'finds no query of the main thread over %s that it must wait for',
    async (of) => {
      const [register, out] = [path('register.sqlite'), path('dist')];
      await writeSample({ file: register, records: 60, seed: 5 });
      if (of === 'views')
        changeRegister(register, `PRAGMA legacy_alter_table = ON; ${RESOURCES.map(asView).join('')}`);
      const border = vi.fn<() => void>();
      const unheard = async <T>(work: () => T | Promise<T>): Promise<T> => {
        border();
        return await Promise.resolve(work()).finally(border);
      };
      const stop = { signal: new AbortController().signal, unheard };
      const effects = { progress: progressFor('quiet', stop, () => undefined), startPool: startThreads };
      const spies = [vi.spyOn(Register.prototype, 'rows'), vi.spyOn(Register.prototype, 'integers')];
      await buildWith({ register, out }, effects);
      changeRegister(register, `UPDATE ${of === 'views' ? 'raw_' : ''}games SET description = 'x'`);
      await dryRun(buildConfig({ register, out, operator: OPERATOR }), {
        ...effectsAt('2026-12-01T00:00:00Z'),
        ...effects,
      });
      await buildWith({ register, out }, effects);
      const borders = border.mock.invocationCallOrder;
      const isHeardAt = (order = 0): boolean => borders.filter((each) => each < order).length % 2 === 0;
      const reads = TABLES.map(({ name }) => new RegExp(`\\b(FROM|JOIN) "?${name}\\b`));
      const queries = spies.flatMap(({ mock }) =>
        mock.calls.map(([sql], index) => ({ sql, isHeard: isHeardAt(mock.invocationCallOrder[index]) })),
      );
      const ofTables = queries.filter(({ sql }) => reads.some((read) => read.test(sql)));
      expect(ofTables.length).toBeGreaterThan(50);
      expect(ofTables.filter(({ isHeard }) => isHeard)).toEqual([]);
    },
    120_000,
  );

  it.each([1, 5])('within the commit, at step %i, comes too late: the commit finishes', async (at) => {
    const flags = begun();
    const { progress, steps } = progressThat('committing', (step) => {
      if (step === at) throw interrupted();
    });
    expect(await buildWith(flags, { progress })).toMatchObject({ sequence: 2 });
    expect(steps()).toBe(at);
    expect(differing(contentOf(flags.out), both.trees[1])).toEqual([]);
    await expectAtRest(flags.out);
  });
});
