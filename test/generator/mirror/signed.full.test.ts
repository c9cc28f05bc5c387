/** Copies of signed trees that take longer: snapshots that stay unsigned, and kills. */
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { mirror } from '../../../generator/mirror/mirror.js';
import { Tree } from '../../../generator/tree/tree.js';
import { deadFrom, survive, withFault } from '../publish/faults.js';
import { effectsAt } from '../../support/build.js';
import { damageOf, inProcess, temporary } from '../publish/support.js';
import { MadeUpOrigin, documentsOf } from './made-up.js';
import { SignedLog, tilesOf } from './signed-log.js';

const path = temporary();

it('a snapshot that is not signed yet is copied with a warning, and signed later', async () => {
  const origin = new MadeUpOrigin();
  const log = new SignedLog(origin);
  const base = await origin.start(0);
  const out = path('copy');
  const run = () => inProcess('mirror', base, '--out', out);
  try {
    origin.publish(documentsOf({ 1: 'one' }));
    log.sign();
    expect((await run()).code).toBe(0);
    origin.publish(documentsOf({ 1: 'two' }));
    log.publish();
    const warning = 'warning: snapshot 2 is not in the signed log yet, only the one before it is\n';
    expect(await run()).toMatchObject({ code: 0, stderr: warning });
    expect(await damageOf(out)).toEqual([]);
    origin.asked();
    // It has been accepted, so there is nothing to wait for.
    expect(await run()).toMatchObject({ code: 0, stderr: warning });
    expect(origin.asked()).toHaveLength(2);
    log.sign();
    const signed = await run();
    expect(signed).toMatchObject({ code: 0, stderr: '' });
    expect(signed.stdout).toContain('  log      2 entries, signed by register.example+');
    origin.publish(documentsOf({ 1: 'three' }));
    origin.publish(documentsOf({ 1: 'four' }));
    log.publish();
    const { code, stderr } = await run();
    expect(code).toBe(1);
    expect(stderr).toContain('the newest entry of the log is of snapshot 2');
  } finally {
    await origin.stop();
  }
}, 60_000);

it('a mirror that is killed at any call that changes the disk leaves a log that can be read', async () => {
  const origin = new MadeUpOrigin();
  const log = new SignedLog(origin);
  const base = new URL(await origin.start(0));
  const out = path('copy');
  const run = () => mirror(base, new Tree(out), effectsAt('2026-12-01T00:00:00Z'));
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
