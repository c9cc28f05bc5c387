/**
 * The publisher at every call that changes the disk: the process dies there, or the disk is full from
 * there on. A tree is the old version or the new one, and whoever comes next leads it to the new one.
 */
import { cpSync, existsSync, mkdirSync, readFileSync, readdirSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect } from 'vitest';
import { isCommitting } from '../../../generator/state/published.js';
import { Tree } from '../../../generator/tree/tree.js';
import { temporary } from '../../support/folder.js';
import { always, isThorough, some } from '../../support/thorough.js';
import { differing, isOfTheBuild } from '../../support/tree.js';
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
import { contentOf, hashesOf, manifestOf, sha256, stateOf } from '../../support/published.js';
import { damageOf, errorOf, leftovers } from './support.js';

const path = temporary();

/** At how many of the calls `npm test` tries it; the full run does at each. */
const PLACES = 12;

withoutSync();

const SECRET = 'a secret that is withheld';
const ROUTES = [route('a', '/a/{id}', 'a/{id}.json'), route('b', '/b/{id}', 'b/{id}/all.json')];
const OLD: Version = {
  routes: ROUTES,
  documents: { a: { 1: 'one', 2: LONG, 3: SECRET, 4: LONG }, b: { 1: 'one', 2: LONG } },
};
const NEW: Version = {
  routes: ROUTES,
  // Unchanged, another with siblings, gone, without siblings by now, new.
  documents: { a: { 1: 'one', 2: `${LONG}!`, 4: 'short', 5: LONG }, b: { 1: 'another', 3: 'three' } },
};
const TAKEDOWN: Version = { ...NEW, withheld: { a: [3] } };
const RENAMED: Version = {
  routes: [route('a', '/a/{id}', 'elsewhere/{id}.json'), route('c', '/b/{id}', 'b/{id}/all.json')],
  documents: { a: { 1: 'one', 2: LONG }, c: { 1: 'one', 7: LONG } },
};

/** A version with a style sheet of this content. */
const withStyle = (body: string): Version => ({
  routes: [...ROUTES, styleRoute(body)],
  documents: { ...NEW.documents, style: { 0: body } },
});
const [SECOND, THIRD] = ['second', LONG];
const STYLES = ['first', SECOND, THIRD, 'fourth'].map(withStyle);

/** A folder with a tree in it, as several versions leave it. */
async function site(...versions: readonly Version[]): Promise<string> {
  const folder = path('site');
  mkdirSync(folder);
  for (const version of versions) await publish(join(folder, 'dist'), version);
  return folder;
}

/** The tree of a copy of a folder. */
function copied(folder: string): string {
  const copy = path('copy');
  cpSync(folder, copy, { recursive: true, preserveTimestamps: true });
  return join(copy, 'dist');
}

/** Nothing is wrong with a file system. */
const sound = (): Fault => () => undefined;

const isInterrupted = (out: string): boolean => isCommitting(new Tree(out));

/** The published files. The folder may be missing, and hold what only tries whether it can be written. */
function filesIn(out: string): Record<string, string> {
  if (!existsSync(out)) return {};
  const { '.probe': _, ...files } = hashesOf(out);
  return files;
}

/** Those that follow from what was published. */
const lastingOf = (files: Readonly<Record<string, string>>): Record<string, string> =>
  Object.fromEntries(Object.entries(files).filter(([file]) => !isOfTheBuild(file)));

/** Documents that are neither those of one version nor of another. */
const torn = (out: string, versions: readonly Record<string, string>[]): string[] =>
  Object.entries(filesIn(out))
    .filter(([file, hash]) => !isOfTheBuild(file) && !versions.some((all) => all[file] === hash))
    .map(([file]) => file);

/** Every file below a folder that holds a text. */
const holding = (folder: string, text: string): string[] =>
  readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name))
    .filter((file) => readFileSync(file).includes(text));

interface Scenario {
  readonly title: string;
  /** What is there before, and what is published. */
  readonly before: readonly Version[];
  readonly next: Version;
  /** What stays of before, although the next version doesn't have it. */
  readonly stays?: RegExp;
}

const SCENARIOS: readonly Scenario[] = [
  { title: 'a first snapshot', before: [], next: NEW },
  { title: 'the next snapshot', before: [NEW, OLD], next: NEW },
  { title: 'a snapshot that withholds a record', before: [NEW, OLD], next: TAKEDOWN },
  { title: 'a snapshot with other routes', before: [OLD], next: RENAMED },
  {
    title: 'a snapshot with another asset',
    before: STYLES.slice(0, 3),
    next: STYLES[3] ?? NEW,
    stays: new RegExp(
      `^assets/style-(${[SECOND, THIRD].map((body) => sha256(body).slice(0, 10)).join('|')})`,
    ),
  },
];

describe.each(SCENARIOS)('$title', ({ before, next, stays }) => {
  /** What the sweeps compare with. @param faultOf what else is wrong with a tree's file system */
  async function prepared(faultOf: (folder: string) => Fault) {
    const folder = await site(...before);
    const old = join(folder, 'dist');
    const isFirst = before.length === 0;
    // Node keeps the functions that it finds when it first copies, so not within a fault.
    const copy = copied(folder);
    const oldFiles = filesIn(old);
    const staying = Object.entries(oldFiles).filter(([file]) => stays?.test(file) === true);
    // Those of the two snapshots before, of which one has siblings.
    expect(staying).toHaveLength(stays === undefined ? 0 : 4);
    return {
      folder,
      oldFiles,
      newTree: { ...contentOf(join(await site(next), 'dist')), ...Object.fromEntries(staying) },
      sequence: (isFirst ? 0 : manifestOf(old).sequence) + 1,
      calls: await callsOf(() => publish(copy, next), faultOf(dirname(copy))),
    };
  }
  type Prepared = Awaited<ReturnType<typeof prepared>>;

  /** What must be so right after a death or a failure. */
  async function expectOldOrNew(out: string, { oldFiles, newTree }: Prepared, where: string): Promise<void> {
    expect(torn(out, [oldFiles, newTree]), where).toEqual([]);
    if (isInterrupted(out)) return;
    const found = filesIn(out);
    const isOld = differing(found, oldFiles).length === 0;
    expect(isOld ? [] : differing(lastingOf(found), newTree), where).toEqual([]);
    const damage = existsSync(join(out, 'snapshot.json')) ? await damageOf(out) : [];
    expect(damage, where).toEqual([]);
  }

  /** What must be so when the next build is done. */
  async function expectNew(out: string, { newTree, sequence }: Prepared, where: string): Promise<void> {
    expect(differing(contentOf(out), newTree), where).toEqual([]);
    expect(manifestOf(out).sequence, where).toBe(sequence);
    expect(await damageOf(out), where).toEqual([]);
    expect(leftovers(out), where).toEqual([]);
    const secrets = next === TAKEDOWN ? holding(join(out, '..'), SECRET) : [];
    expect(secrets, where).toEqual([]);
  }

  always.each([
    ['', sound],
    [' on an overlay, each time as an image with what was there', lowerLayer],
  ])('survives a death at every call%s', SWEEP, async (_, faultOf) => {
    const all = await prepared(faultOf);
    for (const { number, name, path: file } of some(all.calls, PLACES)) {
      const where = `dead at ${number} of ${all.calls.length}, ${name} ${file}`;
      const out = copied(all.folder);
      const publishNext = (dead: Fault): Promise<void> => {
        const fault = faultOf(dirname(out));
        return withFault(
          (call) => dead(call) ?? fault(call),
          () => publish(out, next),
        );
      };
      await survive(publishNext(deadFrom(number)));
      await expectOldOrNew(out, all, where);
      // Dead once more, somewhere else.
      const again = 1 + ((number * 7) % all.calls.length);
      await survive(publishNext(deadFrom(again)));
      await expectOldOrNew(out, all, `${where}, then at ${again}`);
      await publishNext(deadFrom(Number.POSITIVE_INFINITY));
      await expectNew(out, all, where);
    }
    expect(all.calls.length).toBeGreaterThan(40);
  });

  always('leaves the tree as it was, or completes it, where the disk is full', SWEEP, async () => {
    const all = await prepared(sound);
    let refused = 0;
    for (const { number, name, path: file } of some(
      all.calls.filter(({ grows }) => grows),
      PLACES,
    )) {
      const where = `full from ${number}, ${name} ${file}`;
      const out = copied(all.folder);
      const state = stateOf(out);
      const error = await errorOf(withFault(fullFrom(number), () => publish(out, next)));
      const isRefused = error !== undefined;
      expect<unknown>(error ?? { exitCode: 3 }, where).toMatchObject({ exitCode: 3 });
      const touched = isRefused ? differing(stateOf(out), state) : [];
      expect(touched, where).toEqual([]);
      if (isRefused) {
        refused += 1;
        await publish(out, next);
      }
      await expectNew(out, all, where);
    }
    expect(refused).toBeGreaterThan(isThorough ? 10 : 2);
  });
});
