/** A build that shares its state: with another builder, with somebody who reads it, with a disk that can't do all. */
import { existsSync } from 'node:fs';
import { describe, expect } from 'vitest';
import { openDatabase } from '../../../generator/base/sqlite/sqlite.js';
import { buildArgs, runSync, type Run } from '../../support/cli.js';
import { temporary } from '../../support/folder.js';
import { contentOf, manifestOf } from '../../support/published.js';
import { buildWith, pair } from '../../support/site.js';
import { databaseOf } from '../../support/state.js';
import { always, thorough } from '../../support/thorough.js';
import { differing } from '../../support/tree.js';
import { withoutSync } from '../publish/faults.js';
import { publish } from '../publish/small.js';
import { damageOf } from '../publish/support.js';
import { watched } from './driver.js';
import {
  NEW,
  OLD,
  atEachMoment,
  expectContent,
  filesIn,
  imageOf,
  isAtRest,
  newTree,
  siteIn,
} from './support.js';

const path = temporary();
withoutSync();

async function old(): Promise<string> {
  const out = siteIn(path('site'));
  await publish(out, OLD);
  return out;
}

always(
  'a second build of the same tree ends at once while the first is within its transaction, and while it moves files',
  async () => {
    const both = await pair(path);
    const out = both.tree();
    const args = buildArgs(both.registers[0], out);
    const seconds = new Map<boolean, Run>();
    await atEachMoment(
      out,
      ({ what, isCommitted }) => {
        const isSecond = what === 'COMMIT' || (isCommitted && what.startsWith('renameSync'));
        if (isSecond && !seconds.has(isCommitted)) seconds.set(isCommitted, runSync(args));
      },
      () => buildWith({ register: both.registers[1], out }),
    );
    expect(seconds.size).toBe(2);
    for (const { code, stderr } of seconds.values())
      expect([code, stderr]).toEqual([
        75,
        expect.stringMatching(/^error: another process is at work on this tree/),
      ]);
    await expectContent(out, both.trees[1]);
  },
);

describe('a reader that has the state open during a build', () => {
  thorough(
    'and has begun to read before has it end with a sentence; the next build does the rest',
    { timeout: 60_000 },
    async () => {
      const out = await old();
      const before = filesIn(out);
      const reader = openDatabase(databaseOf(out), { readonly: true });
      try {
        reader.exec('BEGIN; SELECT count(*) FROM document');
        expect(reader.prepare('SELECT count(*) FROM document').pluck().get()).toBe(46);
        await expect(publish(out, NEW)).rejects.toMatchObject({
          exitCode: 3,
          message: `the state "${databaseOf(out)}" can't be written or read: another process has locked it (SQLITE_BUSY)`,
        });
        expect(differing(filesIn(out), before)).toEqual([]);
      } finally {
        reader.close();
      }
      expect(await damageOf(out)).toEqual([]);
      expect(isAtRest(out)).toBe(true);
      await publish(out, NEW);
      await expectContent(out, await newTree(path('fresh')));
      expect(isAtRest(out)).toBe(true);
    },
  );

  thorough(
    'and begins to read meanwhile sees what was published before, and stops nobody',
    { timeout: 60_000 },
    async () => {
      const out = await old();
      const [reader] = [openDatabase(databaseOf(out), { readonly: true })];
      const digest = manifestOf(out).digest;
      const digestRead = (): unknown =>
        reader.prepare('SELECT digest FROM snapshot ORDER BY number DESC LIMIT 1').pluck().get();
      try {
        await atEachMoment(
          out,
          ({ what, isCommitted }) => {
            if (what !== 'COMMIT' || isCommitted || reader.inTransaction) return;
            reader.exec('BEGIN');
            expect(digestRead()).toBe(digest);
          },
          () => publish(out, NEW),
        );
        expect(reader.inTransaction).toBe(true);
        // Published, although its transaction still sees what was before.
        expect(digestRead()).toBe(digest);
        expect(differing(contentOf(out), await newTree(path('fresh')))).toEqual([]);
        expect(await damageOf(out)).toEqual([]);
        expect(isAtRest(out)).toBe(false);
      } finally {
        reader.close();
      }
      expect(await damageOf(out)).toEqual([]);
      await publish(out, NEW);
      await expectContent(out, await newTree(path('fresh')));
      expect(isAtRest(out)).toBe(true);
    },
  );
});

/** SQLite answers with the mode that it stays in. */
const withoutSharedMemory = async <T>(work: () => Promise<T>): Promise<{ result: T; refused: number }> => {
  let refused = 0;
  const result = await watched(({ sql }) => {
    if (sql !== 'PRAGMA journal_mode = WAL') return undefined;
    refused += 1;
    return { result: 'delete' };
  }, work);
  return { result, refused };
};

describe('a file system that has no shared memory', () => {
  always('has a build keep what it writes in memory, with the same bytes in the end', async () => {
    const both = await pair(path);
    const out = both.tree();
    const { refused } = await withoutSharedMemory(async () => {
      const moments = await atEachMoment(
        out,
        () => expect(existsSync(`${databaseOf(out)}-wal`)).toBe(false),
        () => buildWith({ register: both.registers[1], out }),
      );
      expect(moments.some(({ what }) => what.startsWith('PRAGMA journal_mode = TRUNCATE'))).toBe(true);
    });
    expect(refused).toBe(1);
    await expectContent(out, both.trees[1]);
    expect(isAtRest(out)).toBe(true);
  });

  thorough('has a build survive its death within the COMMIT', async () => {
    const out = await old();
    const before = filesIn(out);
    const tree = await newTree(path('fresh'));
    const images: [boolean, string][] = [];
    await withoutSharedMemory(() =>
      atEachMoment(
        out,
        ({ what, isCommitted }) => {
          if (what === 'COMMIT' || isCommitted) images.push([isCommitted, imageOf(out, path('image'))]);
        },
        () => publish(out, NEW),
      ),
    );
    expect(images.length).toBeGreaterThan(5);
    for (const [isCommitted, image] of images) {
      if (!isCommitted) expect(differing(filesIn(image), before)).toEqual([]);
      await publish(image, NEW);
      await expectContent(image, tree);
    }
  });
});
