/**
 * The publisher that dies before any statement of its state or any call that changes the disk, or whose disk is full
 * from there on. What a death leaves is what lies there at that moment: a copy is taken, and whoever comes next opens
 * that. It is the old version or the new one, and each attempt leads it to the new one.
 */
import { existsSync, mkdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect } from 'vitest';
import { completeCommit } from '../../../generator/publish/commit.js';
import { isCommitting } from '../../../generator/state/published.js';
import { Tree } from '../../../generator/tree/tree.js';
import { quiet } from '../../support/build.js';
import { temporary } from '../../support/folder.js';
import { contentOf, manifestOf, sha256, stateOf } from '../../support/published.js';
import { allRows } from '../../support/state.js';
import { always, some } from '../../support/thorough.js';
import { differing, isOfTheBuild, pathsBelow } from '../../support/tree.js';
import { matching } from '../../support/values.js';
import {
  NEW,
  OLD,
  SECRET,
  atEachMoment,
  expectContent,
  filesIn,
  imageOf,
  type Moment,
} from '../state/support.js';
import {
  SWEEP,
  callsOf,
  deadFrom,
  fullFrom,
  lowerLayer,
  survive,
  withFault,
  withoutSync,
  type Fault,
} from './faults.js';
import { LONG, publish, route, styleRoute, type Version } from './small.js';
import { damageOf, errorOf } from './support.js';

const path = temporary();
withoutSync();

/** At how many moments and calls each is tried in the quick run; all of them in the full one. */
const PLACES = 12;

const ORDINARY: Version = { ...NEW, withheld: {} };
const RENAMED: Version = {
  routes: [route('a', '/a/{id}', 'elsewhere/{id}.json'), route('c', '/b/{id}', 'b/{id}/all.json')],
  documents: { a: { 1: 'one', 2: LONG }, c: { 1: 'one', 7: LONG } },
};
/** A version with a style sheet of this content, built on this day. */
const withStyle = ([body, day]: readonly [body: string, day: string]): Version => ({
  members: { built_at: `${day}T00:00:00Z` },
  routes: [...NEW.routes, styleRoute(body)],
  documents: { ...NEW.documents, style: { 0: body } },
});
const FIRST = ['first', '2026-11-20'] as const;
const [SECOND, THIRD] = [['second', '2026-11-24'] as const, [LONG, '2026-11-28'] as const];
const STYLED = withStyle(['fourth', '2026-12-01']);
/** The style sheets of the last 7 days, of which one has siblings, stay though the next snapshot has neither. */
const STAYING = [SECOND, THIRD].map(([body]) => `assets/style-${sha256(body).slice(0, 10)}`);

interface Scenario {
  readonly title: string;
  /** What is there before, and what is published. */
  readonly before: readonly Version[];
  readonly next: Version;
  /** What else is wrong with the file system of a tree. */
  readonly faultOf?: (folder: string) => Fault;
}

const NEXT: Scenario = { title: 'the next snapshot', before: [ORDINARY, OLD], next: ORDINARY };
const TAKEDOWN: Scenario = { title: 'a snapshot that withholds', before: [NEW, OLD], next: NEW };
const OTHERS: readonly Scenario[] = [
  { title: 'a first snapshot', before: [], next: NEW },
  { title: 'a snapshot with other routes', before: [OLD], next: RENAMED },
  { title: 'a snapshot with another asset', before: [FIRST, SECOND, THIRD].map(withStyle), next: STYLED },
];
const SCENARIOS: readonly Scenario[] = [
  NEXT,
  TAKEDOWN,
  ...OTHERS,
  { title: 'the same snapshot again', before: [NEW], next: NEW },
  // Each image has what is there in a lower layer.
  { ...TAKEDOWN, title: 'a snapshot that withholds, over an overlay', faultOf: lowerLayer },
];

/** A tree in a folder of its own, as several versions leave it. */
async function treeOf(...versions: readonly Version[]): Promise<string> {
  const out = join(path('site'), 'dist');
  mkdirSync(dirname(out));
  for (const version of versions) await publish(out, version);
  return out;
}

/** Files that follow from what was published. */
const lastingOf = (files: Readonly<Record<string, string>>): Record<string, string> =>
  Object.fromEntries(Object.entries(files).filter(([file]) => !isOfTheBuild(file)));

/** What a scenario leads from and to. */
async function ends({ before, next }: Scenario) {
  const out = await treeOf(...before);
  const files = filesIn(out);
  const staying = Object.entries(files).filter(([file]) => STAYING.some((each) => file.startsWith(each)));
  expect(staying).toHaveLength(next === STYLED ? 4 : 0);
  const wanted = { ...contentOf(await treeOf(next)), ...Object.fromEntries(staying) };
  return { out, files, wanted };
}

const filesWithSecret = (folder: string): string[] =>
  pathsBelow(folder, (entry) => entry.isFile()).filter((file) =>
    readFileSync(join(folder, file)).includes(SECRET),
  );

describe.each(SCENARIOS)('$title', (scenario) => {
  const { next, faultOf = (): Fault => () => undefined } = scenario;

  always('survives a death at any moment, and one more on the way from there', SWEEP, async () => {
    const { out, files, wanted } = await ends(scenario);
    // Which moments there are is known after a build of a copy.
    const rehearsed = imageOf(out, path('rehearsal'));
    const calls = await callsOf(() => publish(rehearsed, next), faultOf(dirname(rehearsed)));
    const again = imageOf(out, path('rehearsal'));
    const attempt = (tree: string, act: (moment: Moment) => void): Promise<Moment[]> =>
      withFault(faultOf(dirname(tree)), () => atEachMoment(tree, act, () => publish(tree, next)));
    const all = await attempt(again, () => undefined);
    const committed = all.findIndex(({ isCommitted }) => isCommitted);
    // The COMMIT, what follows it at once, and others before and after.
    const chosen = new Set([
      ...[committed - 1, committed].map((at) => all[at]?.number),
      ...some(all, PLACES).map(({ number }) => number),
    ]);
    const images: [moment: Moment, image: string][] = [];
    await attempt(out, (moment) => {
      if (chosen.has(moment.number)) images.push([moment, imageOf(out, path('image'))]);
    });
    expect(images.length).toBeGreaterThan(10);
    const rows = allRows(out);
    for (const [{ number, what, isCommitted }, image] of images) {
      const where = `dead before ${number} of ${all.length}, ${what}`;
      const tree = new Tree(image);
      const fault = faultOf(dirname(image));
      const dead = deadFrom(1 + ((number * 7) % calls.length));
      const onward = (work: () => Promise<void>): Promise<void> => withFault(fault, work);
      if (isCommitted) {
        await survive(onward(() => withFault(dead, () => completeCommit(tree, quiet()))));
        await onward(() => completeCommit(tree, quiet()));
        // One and the same tree and state, wherever that was cut off.
        expect(differing(lastingOf(filesIn(image)), wanted), where).toEqual([]);
        expect(allRows(image), where).toEqual(rows);
      } else {
        expect(isCommitting(tree), where).toBe(false);
        expect(differing(filesIn(image), files), where).toEqual([]);
        expect(existsSync(tree.manifest) ? await damageOf(image) : [], where).toEqual([]);
        await survive(onward(() => withFault(dead, () => publish(image, next))));
        const isNew = isCommitting(tree) || differing(filesIn(image), files).length > 0;
        await onward(() => completeCommit(tree, quiet()));
        const found = isNew ? differing(lastingOf(filesIn(image)), wanted) : [];
        expect(found, `${where}, and again`).toEqual([]);
      }
      expect(isCommitting(tree), where).toBe(false);
      await onward(() => publish(image, next));
      await expectContent(image, wanted, where);
      expect(manifestOf(image).sequence, where).toBe(manifestOf(out).sequence);
      if (next.withheld?.['a'] !== undefined) expect(filesWithSecret(dirname(image)), where).toEqual([]);
    }
  });
});

describe.each([NEXT, TAKEDOWN, ...OTHERS])('$title where the disk is full', (scenario) => {
  always(
    'is refused, and the tree is what it was, or is published, since a commit needs no room',
    async () => {
      const { next } = scenario;
      const { out: old, wanted } = await ends(scenario);
      const rehearsed = imageOf(old, path('rehearsal'));
      const calls = (await callsOf(() => publish(rehearsed, next))).filter(({ grows }) => grows);
      let refused = 0;
      for (const { number, name, path: file } of some(calls, PLACES)) {
        const where = `full from ${number}, ${name} ${file}`;
        const out = imageOf(old, path('copy'));
        const state = stateOf(out);
        const error = await errorOf(withFault(fullFrom(number), () => publish(out, next)));
        if (error !== undefined) {
          refused += 1;
          expect(error, where).toMatchObject({ exitCode: 3, message: matching(/the disk is full/) });
          expect(differing(stateOf(out), state), where).toEqual([]);
          await publish(out, next);
        }
        await expectContent(out, wanted, where);
      }
      expect(refused).toBeGreaterThan(2);
    },
  );
});
