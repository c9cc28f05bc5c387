/** --purge-list and --files-from: complete, so that a CDN and a copy elsewhere are exactly as new as the tree. */
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { temporary } from '../../support/folder.js';
import { inProcess } from '../../support/in-process.js';
import { changedBy, filesByUrl, hashesOf, snapshotOf, mirrorOf, urlsOf } from '../../support/published.js';
import { changeRegister } from '../../support/register.js';
import { loseState } from '../../support/state.js';
import { buildWith, failureOf, pair, site } from '../../support/site.js';
import { isSibling, namesThatDiffer } from '../../support/tree.js';
import { matching } from '../../support/values.js';
import { interruptCommit } from './support.js';

const path = temporary();
const BASE = 'https://api.golden.example';
const both = await pair(path);

const lines = (file: string): string[] => {
  expect(existsSync(`${file}.partial`)).toBe(false);
  // Each ends with a newline.
  const found = readFileSync(file, 'utf8').split('\n');
  expect(found.pop()).toBe('');
  return found;
};

async function build(register: string, out: string) {
  const lists = { purgeList: path('purge'), filesFrom: path('files'), deleteFrom: path('delete') };
  await buildWith({ register, out, ...lists });
  return { purged: lines(lists.purgeList), files: lines(lists.filesFrom), deleted: lines(lists.deleteFrom) };
}

const ALWAYS = ['/changes/index.json', '/snapshot.json'];
/** Each snapshot changes them. */
const SNAPSHOT_FEEDS = ['/feeds/snapshots.atom', '/feeds/snapshots.json'];
const absolute = (paths: Iterable<string>): string[] => [...paths].map((each) => BASE + each).toSorted();

/** What the listed files answer; compressed siblings answer nothing of their own. */
function documentUrls(out: string, files: readonly string[]): string[] {
  const urlOf = urlsOf(out);
  return files
    .filter((file) => !isSibling(file))
    .map((file) => urlOf(file) ?? `no route leads to "${file}"`)
    .toSorted();
}

describe('the lists of', () => {
  it('a first build hold everything, those of a later one what the bundle holds and the bookkeeping, no more', async () => {
    const out = path('dist');
    const first = await build(both.registers[0], out);
    const before = hashesOf(out);
    expect(first.purged.toSorted()).toEqual(absolute(filesByUrl(out).map(([url]) => url)));
    expect(first.files.toSorted()).toEqual(Object.keys(before));
    const { purged, files, deleted } = await build(both.registers[1], out);
    const { put, delete: gone } = changedBy(out, 2);
    const puts = put.map((each) => each.path);
    // The pages of records that were added or removed, but not those of records that changed.
    const pages = ['/game/4', '/item/6', '/item/77', '/user/9007', '/user/500007'];
    expect(purged.toSorted()).toEqual(
      absolute([...puts, ...gone, ...pages, '/changes/2.ndjson.gz', ...ALWAYS, ...SNAPSHOT_FEEDS]),
    );
    expect(documentUrls(out, files)).toEqual(
      [...puts, '/changes/2.ndjson.gz', ...ALWAYS, ...SNAPSHOT_FEEDS].toSorted(),
    );
    const now = hashesOf(out);
    expect(deleted.toSorted()).toEqual(Object.keys(before).filter((file) => !(file in now)));
    expect(files).toEqual(expect.arrayContaining(namesThatDiffer(now, before).filter((file) => file in now)));
    // Without lists, a build leaves nothing to those of a later one that changes nothing.
    await buildWith({ register: both.registers[0], out });
    const nothing = await build(both.registers[0], out);
    expect(nothing.purged.toSorted()).toEqual(absolute(ALWAYS));
    expect(documentUrls(out, nothing.files)).toEqual(ALWAYS);
  });

  it('a build that withholds purge the page of the record, and the bundles before it; without a state, all', async () => {
    const { out, register } = await site(path);
    changeRegister(register, `UPDATE groups SET name = 'other' WHERE id = 20`);
    const renamed = await build(register, out);
    // The list of the largest changed, which has two URLs at its default.
    for (const url of ['/api/v1/largest?limit=100', '/api/v1/largest'])
      expect(renamed.purged).toContain(BASE + url);
    expect(changedBy(out, 2).put.map((each) => each.path)).not.toContain('/api/v1/largest');
    changeRegister(register, `INSERT INTO withheld VALUES ('item', 3, '2026-11-21T00:00:00Z')`);
    const { purged, deleted } = await build(register, out);
    const bundle = 'changes/2.ndjson.gz';
    expect(deleted).toEqual(expect.arrayContaining([bundle, 'api/v1/item/3.json']));
    expect(purged).toEqual(expect.arrayContaining(absolute(['/item/3', '/api/v1/item/3', `/${bundle}`])));
    expect(new Set(purged).size).toBe(purged.length);
    changeRegister(register, `INSERT INTO withheld VALUES ('item', 4, '2026-11-21T00:00:00Z')`);
    loseState(out);
    const lost = await build(register, out);
    expect(lost.files.toSorted()).toEqual(Object.keys(hashesOf(out)));
    expect(lost.deleted).toContain('api/v1/item/4.json');
    const urls = [...mirrorOf(out).keys(), '/api/v1/item/4', '/item/4'];
    expect(lost.purged).toEqual(expect.arrayContaining(absolute(urls)));
  });

  it('builds whose lists were not written, or whose commit was interrupted, are in those of the next one', async () => {
    const { register, out } = await site(path);
    changeRegister(register, `UPDATE items SET price = 51 WHERE id = 1`);
    const purgeList = join(path('nowhere'), 'purge.txt');
    const message = matching(/list ".*purge\.txt" can't be written.*; the snapshot itself is published$/);
    expect(await failureOf(buildWith({ register, out, purgeList }))).toMatchObject({ exitCode: 3, message });
    changeRegister(register, `INSERT INTO withheld VALUES ('item', 2, '2026-12-01T00:00:00Z')`);
    await interruptCommit({ register, out });
    changeRegister(register, `UPDATE items SET price = 53 WHERE id = 3`);
    const { purged, files, deleted } = await build(register, out);
    expect(snapshotOf(out).sequence).toBe(4);
    expect(purged).toEqual(expect.arrayContaining([1, 2, 3].map((id) => `${BASE}/api/v1/item/${id}`)));
    expect([files, deleted]).toEqual([
      expect.arrayContaining(['api/v1/item/1.json', 'api/v1/item/3.json']),
      expect.arrayContaining(['api/v1/item/2.json', 'changes/2.ndjson.gz']),
    ]);
    expect(files.filter((file) => deleted.includes(file))).toEqual([]);
  });
});

it('a list is never written over the register or another list, or into the tree', async () => {
  const { register } = await site(path);
  const out = path('dist');
  const before = readFileSync(register);
  for (const option of ['--purge-list', '--files-from', '--delete-from']) {
    for (const list of [register, join(out, 'list.txt')]) {
      const { code } = await inProcess('build', '--register', register, '--out', out, option, list);
      expect([option, list, code]).toEqual([option, list, 2]);
    }
  }
  expect(readFileSync(register).equals(before)).toBe(true);
  const list = path('list');
  const twice = ['--purge-list', list, '--files-from', list];
  const { code, stderr } = await inProcess('build', '--register', register, '--out', out, ...twice);
  expect([code, stderr]).toEqual([2, expect.stringContaining('expected a file of its own')]);
});
