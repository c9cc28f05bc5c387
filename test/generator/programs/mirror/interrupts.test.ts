/** A mirror that is stopped or killed: the copy can be read, and the next run completes it. */
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'vitest';
import { Failure } from '../../../../generator/base/errors.js';
import { mirror } from '../../../../generator/programs/mirror/mirror.js';
import { progressFor } from '../../../../generator/base/progress.js';
import { Tree } from '../../../../generator/tree/tree.js';
import { effectsAt } from '../../../support/build.js';
import { always as it, thorough } from '../../../support/thorough.js';
import { tilesOf } from '../log/naive.js';
import { deadFrom, survive, withFault } from '../../publish/faults.js';
import { damageOf, failureOf } from '../../publish/support.js';
import { copying } from './copies.js';
import { documentsOf } from './made-up.js';
import { SignedLog } from './signed-log.js';

const { origin, base, out } = await copying();

const run = (effects: object = {}) =>
  mirror(new URL(base), new Tree(out), { ...effectsAt('2026-12-02T00:00:00Z'), ...effects });

/** Copies, with a signal during the work of this number that may block the thread. */
function stoppedAt(at: number) {
  const stop = new AbortController();
  let calls = 0;
  const unheard = async <T>(work: () => T | Promise<T>): Promise<T> => {
    calls += 1;
    const result = await work();
    if (calls === at) stop.abort(Failure.interrupted('stopped by SIGINT'));
    return result;
  };
  const progress = progressFor('quiet', { signal: stop.signal, unheard }, () => undefined);
  return { copied: run({ progress }), calls: () => calls };
}

const published = (): string | undefined =>
  existsSync(join(out, 'snapshot.json')) ? readFileSync(join(out, 'snapshot.json'), 'utf8') : undefined;

const STOPPED = [130, 'stopped by SIGINT; the published tree is what it was'];

/** Stops a copy wherever it can be stopped, until it is complete. @returns in how many places */
async function stops(): Promise<number> {
  const before = published();
  const results: unknown[] = [];
  for (let isStopped = true; isStopped;) {
    const { copied, calls } = stoppedAt(results.length + 1);
    const failure = await failureOf(copied).catch(() => undefined);
    isStopped = calls() > results.length;
    const damage = published() === undefined ? [] : await damageOf(out);
    if (isStopped) results.push([failure?.exitCode, failure?.message, published(), damage]);
    else results.push([failure, published(), damage]);
  }
  const complete = [undefined, String(origin.files.get('/snapshot.json')), []];
  const count = results.length - 1;
  expect(results).toEqual([...Array.from({ length: count }, () => [...STOPPED, before, []]), complete]);
  return count;
}

it('a mirror can be stopped while it reads what its origin says, while it plans and while it prepares', async () => {
  origin.publish(documentsOf({ 1: 'one', 2: 'two' }));
  // snapshot.json, the opened tree, the index of changes, the stage, the plan and the commit.
  expect(await stops()).toBe(6);
  origin.publish(documentsOf({ 1: 'one', 3: 'three' }));
  // Before them, the index of the copy.
  expect(await stops()).toBe(7);
});

thorough(
  'a mirror of a signed tree that is killed at any call that changes the disk leaves a log that can be read',
  async () => {
    const log = new SignedLog(origin);
    const notes = new Map<string, readonly string[]>();
    const sign = (): void => {
      log.sign();
      notes.set(log.note, [...tilesOf(log.entries).keys()]);
    };
    const inLog = (file: string): string => join(out, 'log', origin.tree, file);
    const has = (tile: string): boolean =>
      existsSync(inLog(tile)) || existsSync(inLog(tile.replace(/\.p.*/, '')));
    origin.publish(documentsOf({ 1: 'first' }));
    log.fill(250);
    sign();
    await run();
    let isDone = false;
    // From 251 entries on, so that tiles become full on the way.
    for (let last = 1; !isDone; last += last < 40 ? 3 : 7) {
      origin.publish(documentsOf({ 1: `dead from call ${last}` }));
      sign();
      let calls = 0;
      await withFault(
        (call) => {
          calls = call.number;
          return deadFrom(last)(call);
        },
        () => survive(run()),
      );
      isDone = calls < last;
      const note = readFileSync(inLog('checkpoint'), 'utf8');
      expect(
        notes.get(note)?.filter((tile) => !has(tile)),
        `dead from call ${last}`,
      ).toEqual([]);
      expect((await run()).log).toMatchObject({ size: log.entries.length, isSigned: true });
      expect(readFileSync(inLog('checkpoint'), 'utf8')).toBe(log.note);
      for (const [file, content] of tilesOf(log.entries))
        expect(readFileSync(inLog(file)).equals(content), file).toBe(true);
      expect(await damageOf(out)).toEqual([]);
    }
    expect(log.entries.length).toBeGreaterThan(256);
  },
  300_000,
);
