/** A disk that is full within the transaction of the state, in its log, or when that is written back; and a folder that can't be written. */
import { cpSync, readdirSync, rmSync, statfsSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { messageOf } from '../../../generator/base/errors.js';
import { temporary } from '../../support/folder.js';
import { leaveOut } from '../../support/programs.js';
import { differing } from '../../support/tree.js';
import { empty, fillUpTo, mayMount, mountAt, unmountAfterwards } from '../publish/mount.js';
import { publish } from '../publish/small.js';
import { errorOf } from '../publish/support.js';
import { NEW, OLD, atEachMoment, expectContent, filesIn, imageOf, isAtRest, newTree } from './support.js';

const path = temporary();
unmountAfterwards();
const mountable = mayMount(path('mount'));
if (!mountable) leaveOut('a full disk of the state', 'this process is not permitted to mount');

/** 16 MB. */
const SIZE = 16 * 1024 * 1024;

describe.skipIf(!mountable)('a disk that becomes full', () => {
  it(
    'at any moment of the state leaves the tree as it was, or the next build completes it',
    { timeout: 600_000 },
    async () => {
      const tree = await newTree(path('fresh'));
      const folder = mountAt(path('disk'), '-t', 'tmpfs', '-o', `size=${SIZE}`, 'tmpfs') ?? '';
      const { blocks, bsize } = statfsSync(folder);
      // Otherwise this would fill the disk of the machine.
      expect(blocks * bsize).toBe(SIZE);
      const out = join(folder, 'dist');
      await publish(out, OLD);
      const before = filesIn(out);
      const home = path('home');
      const image = imageOf(out, home);
      const rehearsed = imageOf(out, path('rehearsal'));
      const all = await atEachMoment(
        rehearsed,
        () => undefined,
        () => publish(rehearsed, NEW),
      );
      const ends = { refused: 0, committed: 0, published: 0 };
      const [begun, committed] = [
        all.findIndex(({ what }) => what === 'BEGIN IMMEDIATE'),
        all.findIndex((moment) => moment.isCommitted),
      ];
      // Mostly where the state itself grows: within its transaction, at the COMMIT, and after the last move.
      const moments = all.filter(
        ({ number }) =>
          number % 32 === 0 ||
          (number >= begun && number < committed && number % 8 === 0) ||
          Math.abs(number - committed) <= 1 ||
          number > all.length - 4,
      );
      for (const { number, what, isCommitted } of moments) {
        for (const free of [0, 3]) {
          const where = `${free} blocks free before ${number}, ${what}`;
          for (const name of readdirSync(folder)) rmSync(join(folder, name), { recursive: true });
          cpSync(dirname(image), folder, { recursive: true });
          const error = await errorOf(
            atEachMoment(
              out,
              (moment) => {
                // Never the disk of the machine, should the small one be gone.
                if (moment.number === number && statfsSync(folder).blocks === blocks) fillUpTo(folder, free);
              },
              () => publish(out, NEW),
            ),
          );
          const said = error === undefined ? 'published' : messageOf(error);
          expect(said, where).toMatch(/^published$|the disk is full/);
          const end =
            error === undefined
              ? 'published'
              : said.includes('the commit had begun')
                ? 'committed'
                : 'refused';
          ends[end] += 1;
          const altered = end === 'refused' ? differing(filesIn(out), before) : [];
          expect([end === 'refused' && isCommitted, altered], where).toEqual([false, []]);
          empty(folder);
          await publish(out, NEW);
          await expectContent(out, tree, where);
          expect(isAtRest(out), where).toBe(true);
        }
      }
      expect(ends.refused).toBeGreaterThan(5);
      expect(ends.published).toBeGreaterThan(5);
      // A commit needs no room: see publish/commit.ts.
      expect(ends.committed).toBe(0);
    },
  );
});
