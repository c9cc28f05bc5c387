/** What the tests of the state's faults have in common. */
import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { expect } from 'vitest';
import { contentOf, hashesOf } from '../../support/published.js';
import { databaseOf } from '../../support/state.js';
import { differing } from '../../support/tree.js';
import { withFault } from '../publish/faults.js';
import { LONG, publish, route, type Version } from '../publish/small.js';
import { damageOf, leftovers } from '../publish/support.js';
import { isReading, watched } from './driver.js';

const ROUTES = [route('a', '/a/{id}', 'a/{id}.json'), route('b', '/b/{id}', 'b/{id}/all.json')];
const many = (count: number): Record<number, string> =>
  Object.fromEntries(Array.from({ length: count }, (_, index) => [100 + index, `document ${index}`]));

export const SECRET = 'a secret that is withheld';

export const OLD: Version = {
  routes: ROUTES,
  documents: { a: { 1: 'one', 2: LONG, 3: SECRET, 4: LONG, ...many(40) }, b: { 1: 'one', 2: LONG } },
};
/** Unchanged, with other siblings, withheld, without siblings by now, new; and many that nobody touches. */
export const NEW: Version = {
  routes: ROUTES,
  documents: {
    a: { 1: 'one', 2: `${LONG}!`, 4: 'short', 5: LONG, ...many(40) },
    b: { 1: 'another', 3: 'three' },
  },
  withheld: { a: [3] },
};

/** A place for a tree in a new folder, which then has all that lies next to it, too. */
export function siteIn(folder: string): string {
  mkdirSync(folder);
  return join(folder, 'dist');
}

/** What a first build gives of the next version. */
export async function newTree(folder: string): Promise<Record<string, string>> {
  const out = siteIn(folder);
  await publish(out, NEW);
  return contentOf(out);
}

/** Whether the state is one file that can be read where nothing can be written: without a log, and of no mode that needs one. */
export function isAtRest(out: string): boolean {
  const file = databaseOf(out);
  const isAlone = ['-wal', '-shm', '-journal'].every((suffix) => !existsSync(file + suffix));
  // "File format write version" and read version: 1 for legacy, 2 for WAL.
  return isAlone && readFileSync(file).subarray(18, 20).equals(Buffer.of(1, 1));
}

/** What is wrong with a tree at rest: it is not another one, is undamaged, and its state is one file that nothing lies next to. */
export async function expectContent(
  out: string,
  tree: Readonly<Record<string, string>>,
  where = '',
): Promise<void> {
  expect(differing(contentOf(out), tree), where).toEqual([]);
  expect(await damageOf(out), where).toEqual([]);
  expect(leftovers(out), where).toEqual([]);
}

/** Copies a tree with everything next to it, as it is at this moment. @returns the copied tree */
export function imageOf(out: string, folder: string): string {
  execFileSync('cp', ['-a', dirname(out), folder]);
  return join(folder, basename(out));
}

/** Published files, if there are any. The folder may hold what only tries whether it can be written. */
export function filesIn(out: string): Record<string, string> {
  const { '.probe': _, ...files } = hashesOf(out);
  return files;
}

/** A moment of a build: it is about to run a statement of the state, or to move or delete a file. */
export interface Moment {
  readonly number: number;
  readonly what: string;
  /** Whether it has committed. */
  readonly isCommitted: boolean;
}

/** Statements that record a commit; the next COMMIT is its point of no return. */
const RECORDING = /^(INSERT INTO snapshot VALUES|UPDATE snapshot SET stage = 'unchanged')/;

/** Does something at every moment at which the death of a build could leave something else on the disk. */
export async function atEachMoment(
  out: string,
  act: (moment: Moment) => void,
  work: () => Promise<unknown>,
): Promise<Moment[]> {
  const file = databaseOf(out);
  const moments: Moment[] = [];
  let [isRecorded, isCommitted] = [false, false];
  let isActing = false;
  const reach = (what: string): void => {
    if (isActing) return;
    isActing = true;
    const moment = { number: moments.length, what, isCommitted };
    moments.push(moment);
    act(moment);
    isActing = false;
  };
  await withFault(
    ({ name, path }) => void (isActing || reach(`${name} ${path}`)),
    () =>
      watched((call) => {
        if (call.file !== file || isReading(call)) return undefined;
        reach(call.sql);
        isRecorded ||= RECORDING.test(call.sql);
        isCommitted ||= isRecorded && call.sql === 'COMMIT';
        return undefined;
      }, work),
  );
  reach('the end');
  return moments;
}
