/** The lists of what each commit changed: they have exactly the files that differ. */
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { changedFilesBetween, snapshotIdOf } from '../../../generator/publish/changed-files.js';
import { writeLists } from '../../../generator/publish/lists.js';
import { State, type SnapshotId } from '../../../generator/state/state.js';
import { readManifest } from '../../../generator/tree/manifest.js';
import { Tree } from '../../../generator/tree/tree.js';
import { temporary } from '../../support/folder.js';
import { hashesOf } from '../../support/published.js';
import { changeState, stateRows } from '../../support/state.js';
import { namesThatDiffer } from '../../support/tree.js';
import { LONG, publish, route } from './small.js';

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
  route('change-bundle', '/changes/{sequence}.ndjson.gz', 'changes/{sequence}.ndjson.gz'),
];

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

/** Reports what was committed, as a build does at its end. */
const report = (out: string): void => writeLists(new Tree(out), '', {});

/** The sequences of the commits that are known. */
const commitsIn = (out: string): unknown[] =>
  stateRows(out, 'SELECT sequence FROM snapshot ORDER BY number').map(({ sequence }) => sequence);

/** Enough documents that 36 commits of three changes are less than twice as many. */
const OTHERS = Object.fromEntries(Array.from({ length: 60 }, (_, index) => [index + 1, 'x']));

/** Publishes one of many versions: each changes a document, adds one and removes one; some have siblings. */
async function change(out: string, count: number): Promise<Published> {
  const a = { 1: `${count % 3 === 0 ? LONG : ''}${count}`, [count + 2]: count % 2 === 0 ? LONG : 'x' };
  await publish(out, { routes: ROUTES, documents: { a, b: OTHERS } });
  return publishedIn(out);
}

it('the lists of commits stay until a build has reported them, then for 30 commits, and are of no use where one is missing or of another tree', async () => {
  const out = path('dist');
  const all = [await change(out, 0)];
  for (let count = 1; count <= 35; count += 1) {
    const last = all.at(-1);
    all.push(await change(out, count));
    expect(last && listed(out, last)).toEqual(last && changedSince(out, last));
  }
  const [first, sixth, seventh] = [all[0], all[5], all[6]];
  if (first === undefined || sixth === undefined || seventh === undefined) throw new TypeError('too few');
  expect(commitsIn(out)).toHaveLength(36);
  expect(listed(out, first)).toEqual(expect.arrayContaining([...changedSince(out, first)]));
  report(out);
  expect(stateRows(out, `SELECT * FROM snapshot WHERE reported <> 'yes'`)).toEqual([]);
  await change(out, 36);
  expect(commitsIn(out)).toHaveLength(31);
  expect([listed(out, first), listed(out, sixth)]).toEqual([undefined, undefined]);
  expect(listed(out, seventh)).toEqual(expect.arrayContaining([...changedSince(out, seventh)]));
  expect(listed(out, { ...seventh, id: { ...seventh.id, digest: '' } })).toBeUndefined();
  expect(listed(out, { ...seventh, id: { ...seventh.id, tree: '' } })).toBeUndefined();
  changeState(out, 'DELETE FROM snapshot WHERE sequence = 20');
  expect(listed(out, seventh)).toBeUndefined();
});
