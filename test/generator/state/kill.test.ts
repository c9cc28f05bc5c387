/**
 * SIGKILL at every statement of the state, before and after its COMMIT, and between each two moves. What such a death
 * leaves on the disk is what lies there at that moment: a copy is taken, and whoever comes next opens that.
 */
import { describe, expect } from 'vitest';
import { completeCommit } from '../../../generator/publish/commit.js';
import { isCommitting } from '../../../generator/state/published.js';
import { Tree } from '../../../generator/tree/tree.js';
import { quiet } from '../../support/build.js';
import { temporary } from '../../support/folder.js';
import { contentOf, manifestOf } from '../../support/published.js';
import { always, isThorough, some } from '../../support/thorough.js';
import { differing, isOfTheBuild } from '../../support/tree.js';
import { SWEEP, withoutSync } from '../publish/faults.js';
import { publish, type Version } from '../publish/small.js';
import { damageOf } from '../publish/support.js';
import { NEW, OLD, atEachMoment, expectContent, filesIn, imageOf, siteIn, type Moment } from './support.js';

const path = temporary();
withoutSync();

/** At how many moments `npm test` tries it; the full run does at each. */
const PLACES = 12;

async function treeOf(version: Version): Promise<string> {
  const out = siteIn(path('site'));
  await publish(out, version);
  return out;
}

const lasting = (files: Readonly<Record<string, string>>): Record<string, string> =>
  Object.fromEntries(Object.entries(files).filter(([file]) => !isOfTheBuild(file)));

describe.each([
  { title: 'a first snapshot', before: undefined, next: NEW },
  { title: 'the next snapshot', before: OLD, next: NEW },
  { title: 'the same snapshot again', before: NEW, next: NEW },
])('a build of $title', ({ before, next }) => {
  always('is what it was or what it becomes, wherever the build dies', SWEEP, async () => {
    const out = before === undefined ? siteIn(path('site')) : await treeOf(before);
    const oldFiles = filesIn(out);
    const newTree = contentOf(await treeOf(next));
    // Which moments there are is known after a build of a copy.
    const rehearsed = imageOf(out, path('rehearsal'));
    const all = await atEachMoment(
      rehearsed,
      () => undefined,
      () => publish(rehearsed, next),
    );
    const chosen = new Set(
      some(
        all.map(({ number }) => number),
        PLACES,
      ),
    );
    // The COMMIT, and what follows it at once.
    const committed = all.findIndex(({ isCommitted }) => isCommitted);
    for (const number of [committed - 1, committed]) chosen.add(number);
    const images: [moment: Moment, image: string][] = [];
    await atEachMoment(
      out,
      (moment) => void (chosen.has(moment.number) && images.push([moment, imageOf(out, path('image'))])),
      () => publish(out, next),
    );
    expect(images).toHaveLength(chosen.size);
    expect(images.some(([{ isCommitted }]) => isCommitted)).toBe(true);
    for (const [{ number, what, isCommitted }, image] of images) {
      const where = `dead before ${number} of ${all.length}, ${what}`;
      const tree = new Tree(image);
      if (!isCommitted) {
        expect(isCommitting(tree), where).toBe(false);
        expect(differing(filesIn(image), oldFiles), where).toEqual([]);
        if (before !== undefined) expect(await damageOf(image), where).toEqual([]);
      } else {
        await completeCommit(tree, quiet());
        expect(isCommitting(tree), where).toBe(false);
        expect(differing(lasting(filesIn(image)), newTree), where).toEqual([]);
        expect(await damageOf(image), where).toEqual([]);
      }
      await publish(image, next);
      await expectContent(image, newTree, where);
      expect(manifestOf(image).sequence, where).toBe(manifestOf(out).sequence);
    }
    expect(all.length).toBeGreaterThan(isThorough ? 20 : 10);
  });
});
