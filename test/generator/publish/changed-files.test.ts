/** The lists of what each commit changed: they have exactly the files that differ. */
import { readFileSync, readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { createKey } from '../../../generator/log/key-file.js';
import { changedFilesBetween, snapshotIdOf } from '../../../generator/publish/changed-files.js';
import type { SnapshotId } from '../../../generator/publish/changed-files.js';
import { readManifest } from '../../../generator/tree/manifest.js';
import { Tree } from '../../../generator/tree/tree.js';
import { rollback } from '../../../generator/build/rollback.js';
import { effectsAt } from '../../support/build.js';
import { temporary } from '../../support/folder.js';
import { hashesOf } from '../../support/published.js';
import { namesThatDiffer } from '../../support/tree.js';
import { LONG, publish, route } from './small.js';
import type { Documents, Version } from './small.js';

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
const stateOf = (out: string) => ({ hashes: hashesOf(out), id: idOf(out) });
type State = ReturnType<typeof stateOf>;

const listed = (out: string, { id }: State): readonly string[] | undefined => {
  const files = changedFilesBetween(new Tree(out), id, idOf(out));
  return files && [...new Set(files)].toSorted();
};

const changedSince = (out: string, { hashes }: State): readonly string[] =>
  namesThatDiffer(hashesOf(out), hashes).toSorted();

describe('the list of a commit', () => {
  it('has the files that it put or deleted, siblings and the log among them', async () => {
    const [out, key] = [path('dist'), path('key')];
    createKey('register.example', key);
    for (const keys of [[], [key]]) {
      rmSync(out, { recursive: true, force: true });
      rmSync(new Tree(out).state, { recursive: true, force: true });
      await publish(out, OLD, ...keys);
      const first = stateOf(out);
      for (const next of [NEW, OLD, version({ ...NEW.documents, b: {} })]) {
        const before = stateOf(out);
        await publish(out, next, ...keys);
        expect(listed(out, before)).toEqual(changedSince(out, before));
      }
      expect(listed(out, first)).toEqual(expect.arrayContaining([...changedSince(out, first)]));
    }
  });

  it('is kept after a takedown, and a rollback has one, too', async () => {
    const out = path('dist');
    await publish(out, OLD);
    const before = stateOf(out);
    await publish(out, NEW);
    const later = stateOf(out);
    await rollback(new Tree(out), effectsAt('2026-12-02T00:00:00Z'));
    expect(listed(out, later)).toEqual(changedSince(out, later));
    await publish(out, version({ a: { 1: 'one' }, b: { 1: 'one' } }, [2, 3]));
    expect(listed(out, before)).toEqual(expect.arrayContaining(['a/2.json', 'a/3.json', 'changes/2.json']));
  });
});

describe('the lists of commits', () => {
  it('are kept for 30 commits, and are of no use where one is missing or of another tree', async () => {
    const out = path('dist');
    const states: State[] = [];
    for (let count = 0; count <= 31; count += 1) {
      await publish(out, version({ a: { 1: String(count), [count + 2]: 'x' } }));
      states.push(stateOf(out));
    }
    const tree = new Tree(out);
    expect(readdirSync(tree.changedFiles)).toHaveLength(30);
    const [first, second, third] = states;
    if (first === undefined || second === undefined || third === undefined) throw new Error('no snapshots');
    expect(listed(out, first)).toBeUndefined();
    expect(listed(out, second)).toEqual(expect.arrayContaining([...changedSince(out, second)]));
    expect(listed(out, { ...third, id: { ...third.id, digest: '' } })).toBeUndefined();
    expect(listed(out, { ...third, id: { ...third.id, tree: '' } })).toBeUndefined();
    const list = join(tree.changedFiles, '20');
    expect(readFileSync(list, 'utf8')).toContain('a/20.json');
    rmSync(list);
    expect(listed(out, second)).toBeUndefined();
  });
});
