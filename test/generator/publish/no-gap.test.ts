/** What clients are answered while a commit is carried out: a document of both snapshots is always there. */
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { withFault } from './faults.js';
import { LONG, publish, route } from './small.js';
import type { Version } from './small.js';
import { temporary } from '../../support/folder.js';
import { hashesOf } from '../../support/published.js';

const path = temporary();

const routes = [route('a', '/a/{id}', 'a/{id}.json'), route('b', '/b/{id}', 'b/{id}/all.json')];
const OLD: Version = { routes, documents: { a: { 1: 'one', 2: LONG, 3: 'gone' }, b: { 1: 'one' } } };
const NEW: Version = {
  routes,
  documents: { a: { 1: 'one', 2: `${LONG}!`, 4: 'new' }, b: { 1: 'another', 2: LONG } },
};

it('no file is missing before any call of a commit that changes the disk, and none of the new snapshot once snapshot.json names it', async () => {
  const out = path('dist');
  await publish(out, OLD);
  const manifest = readFileSync(join(out, 'snapshot.json'));
  const before = Object.keys(hashesOf(out));
  const seen: { readonly isNew: boolean; readonly files: ReadonlySet<string> }[] = [];
  await withFault(
    () => {
      const isThere = existsSync(join(out, 'snapshot.json'));
      const isNew = isThere && !readFileSync(join(out, 'snapshot.json')).equals(manifest);
      seen.push({ isNew, files: new Set(Object.keys(hashesOf(out))) });
      return undefined;
    },
    () => publish(out, NEW),
  );
  const after = Object.keys(hashesOf(out));
  const both = before.filter((file) => after.includes(file));
  const missing = seen.flatMap(({ isNew, files }, call) =>
    (isNew ? after : both)
      .filter((file) => !files.has(file))
      .map((file) => `${file} before call ${call + 1}`),
  );
  expect(missing).toEqual([]);
  expect(both.length).toBeGreaterThan(3);
  expect(new Set(seen.map(({ isNew }) => isNew)).size).toBe(2);
});
