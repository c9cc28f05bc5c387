/** Mirrors that are killed at any call. */
import { expect, it } from 'vitest';
import { Tree } from '../../../generator/tree/tree.js';
import { effectsAt } from '../../support/build.js';
import { damageOf, temporary } from '../publish/support.js';
import { MadeUpOrigin, documentsOf } from './made-up.js';
import { tilesOf } from '../log/naive.js';
import { SignedLog } from './signed-log.js';
import { deadFrom, survive, withFault } from '../publish/faults.js';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { mirror as mirrorTree } from '../../../generator/mirror/mirror.js';

const path = temporary();

it('a mirror of a signed tree that is killed at any call that changes the disk leaves a log that can be read', async () => {
  const origin = new MadeUpOrigin();
  const log = new SignedLog(origin);
  const base = new URL(await origin.start());
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
