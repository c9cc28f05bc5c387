/** Mirrors that are killed at any moment, and one within real limits. */
import { setTimeout as sleep } from 'node:timers/promises';
import { expect, it } from 'vitest';
import { Dice } from '../../../data/sample/dice.js';
import { isPrepared } from '../../../generator/publish/journal.js';
import { Tree } from '../../../generator/tree/tree.js';
import { effectsAt, published } from '../../support/build.js';
import { startProxy } from '../../support/proxy.js';
import { changeRegister, writeRegister } from '../../support/register.js';
import { differing } from '../../support/tree.js';
import { ROWS, damageOf, expectAtRest, hashesOf, manifestOf, start, temporary } from '../publish/support.js';
import { MadeUpOrigin, documentsOf } from './made-up.js';
import { tilesOf } from '../log/naive.js';
import { SignedLog } from './signed-log.js';
import { deadFrom, survive, withFault } from '../publish/faults.js';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { mirror as mirrorTree } from '../../../generator/mirror/mirror.js';

const path = temporary();

function expectEqual(out: string, dist: string): void {
  const [copied, original] = [out, dist].map((tree) =>
    Object.fromEntries(Object.entries(hashesOf(tree)).filter(([file]) => !file.startsWith('changes/'))),
  );
  expect(differing(copied ?? {}, original ?? {})).toEqual([]);
}

const mirror = (base: string, out: string) => start(['mirror', base, '--out', out, '--quiet']);

it('a mirror killed ten times while its origin publishes ten snapshots is whole, and equal at the end', async () => {
  const [dist, out] = [path('dist'), path('copy')];
  const register = writeRegister(path('register.sqlite'), ROWS);
  await published({ register, out: dist });
  const proxy = await startProxy(dist, ['--page-tokens', '1000000']);
  const dice = new Dice(25, 'kills', 0);
  const killed: string[] = [];
  try {
    // Machines differ: the kills fall within the time that a copy takes on this one.
    const begun = performance.now();
    expect(await mirror(proxy.base, path('unharmed')).done).toMatchObject({ code: 0 });
    const usualMs = Math.round(performance.now() - begun);
    for (let round = 1; round <= 10; round += 1) {
      changeRegister(
        register,
        `UPDATE items SET price = ${1000 + round}; UPDATE users SET username = 'u${round}' WHERE id = 7007;`,
      );
      const at = `2026-12-${String(round + 1).padStart(2, '0')}T00:00:00Z`;
      await published({ register, out: dist, at });
      for (let now = ''; now !== at;) {
        now = String(/"built_at":"([^"]+)"/.exec(await (await proxy.get('/snapshot.json')).text())?.[1]);
        await sleep(20);
      }
      const { child, done } = mirror(proxy.base, out);
      await sleep(dice.below(usualMs));
      child.kill('SIGKILL');
      const { signal } = await done;
      killed.push(signal ?? 'ended');
      const tree = new Tree(out);
      const isAtRest = round > 1 && !isPrepared(tree);
      expect(isAtRest ? await damageOf(out) : []).toEqual([]);
      // Every other time it has to catch up two snapshots.
      if (round % 2 === 0) continue;
      expect(await mirror(proxy.base, out).done).toMatchObject({ code: 0 });
      expectEqual(out, dist);
    }
    expect(killed.filter((signal) => signal === 'SIGKILL').length).toBeGreaterThan(3);
    expect(await mirror(proxy.base, out).done).toMatchObject({ code: 0 });
    expectEqual(out, dist);
    expect(manifestOf(out).sequence).toBe(11);
    await expectAtRest(out);
  } finally {
    await proxy.stop();
  }
}, 300_000);

it('a mirror of a signed tree that is killed at any call that changes the disk leaves a log that can be read', async () => {
  const origin = new MadeUpOrigin();
  const log = new SignedLog(origin);
  const base = new URL(await origin.start(0));
  const out = path('copy');
  const run = () => mirrorTree(base, new Tree(out), effectsAt('2026-12-01T00:00:00Z'));
  const notes = new Map<string, readonly string[]>();
  const sign = (): void => {
    log.sign();
    notes.set(log.note, [...tilesOf(log.entries).keys()]);
  };
  const inLog = (file: string): string => join(out, 'log', origin.tree, file);
  const has = (tile: string): boolean =>
    existsSync(inLog(tile)) || existsSync(inLog(tile.replace(/\.p.*/, '')));
  try {
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
  } finally {
    await origin.stop();
  }
}, 300_000);
