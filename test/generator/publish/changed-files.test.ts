/** The lists of what each commit changed: they have exactly the files that differ. */
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { createKey } from '../../../generator/programs/log/key-file.js';
import { changedFilesBetween, snapshotIdOf } from '../../../generator/publish/changed-files.js';
import { writeLists } from '../../../generator/publish/lists.js';
import { State, type SnapshotId } from '../../../generator/state/state.js';
import { readManifest } from '../../../generator/tree/manifest.js';
import { Tree } from '../../../generator/tree/tree.js';
import { temporary } from '../../support/folder.js';
import { hashesOf } from '../../support/published.js';
import { changeState, stateRows } from '../../support/state.js';
import { namesThatDiffer } from '../../support/tree.js';
import { LONG, publish, route, type Documents, type Version } from './small.js';

const path = temporary();

const single = (name: string, file: string) => ({
  ...route(name, `/${file}`, file),
  parameters: [],
  class: 'summary' as const,
});
const ROUTES = [
  route('a', '/a/{id}', 'a/{id}.json'),
  route('b', '/b/{id}', 'b/{id}/all.json'),
  single('snapshot', 'snapshot.json'),
  single('changes', 'changes/index.json'),
  route('change-list', '/changes/{sequence}.json', 'changes/{sequence}.json'),
];
const version = (documents: Documents, withheld: readonly number[] = []): Version => ({
  routes: ROUTES,
  documents,
  withheld: { a: withheld },
});
const OLD = version({ a: { 1: 'one', 2: LONG, 3: 'three' }, b: { 1: 'one' } });
const NEW = version({ a: { 1: 'another', 2: 'short', 4: LONG }, b: { 1: 'one' } });

const idOf = (out: string): SnapshotId => {
  const manifest = readManifest(join(out, 'snapshot.json'));
  if (manifest === undefined) throw new Error('no snapshot');
  return snapshotIdOf(manifest);
};

/** A published tree at some time: which files it has, and which snapshot it is. */
const publishedIn = (out: string) => ({ hashes: hashesOf(out), id: idOf(out) });
type Published = ReturnType<typeof publishedIn>;

function listed(out: string, { id }: Published): readonly string[] | undefined {
  using state = State.open(new Tree(out).database);
  const files = changedFilesBetween(state, id, idOf(out));
  return files && [...new Set(files)].toSorted();
}

const changedSince = (out: string, { hashes }: Published): readonly string[] =>
  namesThatDiffer(hashesOf(out), hashes).toSorted();

describe('the list of a commit', () => {
  it('has the files that it put or deleted, siblings and the log among them', async () => {
    const [out, key] = [path('dist'), path('key')];
    createKey('register.example', key);
    for (const keys of [[], [key]]) {
      rmSync(out, { recursive: true, force: true });
      rmSync(new Tree(out).state, { recursive: true, force: true });
      await publish(out, OLD, ...keys);
      const first = publishedIn(out);
      for (const next of [NEW, OLD, version({ ...NEW.documents, b: {} })]) {
        const before = publishedIn(out);
        await publish(out, next, ...keys);
        expect(listed(out, before)).toEqual(changedSince(out, before));
      }
      expect(listed(out, first)).toEqual(expect.arrayContaining([...changedSince(out, first)]));
    }
  });

  it('is kept after a takedown', async () => {
    const out = path('dist');
    await publish(out, OLD);
    const before = publishedIn(out);
    await publish(out, NEW);
    await publish(out, version({ a: { 1: 'one' }, b: { 1: 'one' } }, [2, 3]));
    expect(listed(out, before)).toEqual(expect.arrayContaining(['a/2.json', 'a/3.json', 'changes/2.json']));
  });
});

/** Reports what was committed, as a build does at its end. */
const report = (out: string): void => writeLists(new Tree(out), '', {});

/** The sequences of the commits that are known. */
const commitsIn = (out: string): unknown[] =>
  stateRows(out, 'SELECT sequence FROM snapshot ORDER BY number').map(({ sequence }) => sequence);

/** Enough documents that 36 commits of three changes are less than twice as many. */
const OTHERS = Object.fromEntries(Array.from({ length: 60 }, (_, index) => [index + 1, 'x']));

/** Publishes the next one of many versions: each changes a document, adds one and removes one. */
const change = async (out: string, count: number): Promise<void> =>
  publish(out, version({ a: { 1: String(count), [count + 2]: 'x' }, b: OTHERS }));

describe('the lists of commits', () => {
  it('are kept for 30 commits, and are of no use where one is missing or of another tree', async () => {
    const out = path('dist');
    const states: Published[] = [];
    for (let count = 0; count <= 31; count += 1) {
      await change(out, count);
      report(out);
      states.push(publishedIn(out));
    }
    expect(commitsIn(out)).toHaveLength(31);
    const [first, second, third] = states;
    if (first === undefined || second === undefined || third === undefined) throw new Error('no snapshots');
    expect(listed(out, first)).toBeUndefined();
    expect(listed(out, second)).toEqual(expect.arrayContaining([...changedSince(out, second)]));
    expect(listed(out, { ...third, id: { ...third.id, digest: '' } })).toBeUndefined();
    expect(listed(out, { ...third, id: { ...third.id, tree: '' } })).toBeUndefined();
    changeState(out, 'DELETE FROM snapshot WHERE sequence = 20');
    expect(listed(out, second)).toBeUndefined();
  });

  it('are kept up to twice the documents, and the last one in any case', async () => {
    const out = path('dist');
    for (const body of ['0', '1', '2', '3']) {
      await publish(out, version({ a: { 1: body, 2: body, 3: body } }));
      report(out);
    }
    // Three changes each, of which two commits have six.
    expect(commitsIn(out)).toEqual([3, 4]);
    await publish(out, version({ a: { 1: '3' } }));
    report(out);
    expect(commitsIn(out)).toEqual([5]);
    await publish(out, version({ a: { 1: '4' } }));
    expect(commitsIn(out)).toEqual([6]);
  });

  it('stay until a build has reported them, and lead on from the first', async () => {
    const out = path('dist');
    await change(out, 0);
    const first = publishedIn(out);
    for (let count = 1; count <= 35; count += 1) await change(out, count);
    expect(commitsIn(out)).toHaveLength(36);
    expect(listed(out, first)).toEqual(expect.arrayContaining([...changedSince(out, first)]));
    report(out);
    expect(stateRows(out, `SELECT * FROM snapshot WHERE reported <> 'yes'`)).toEqual([]);
    await change(out, 36);
    expect(commitsIn(out).at(0)).toBe(7);
    expect(listed(out, first)).toBeUndefined();
  });
});
