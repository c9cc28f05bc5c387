/** --purge-list and --files-from: complete, so that a CDN and a copy elsewhere are exactly as new as the tree. */
import { cpSync, existsSync, mkdirSync, readFileSync, rmSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import { temporary } from '../../support/folder.js';
import { inProcess } from '../../support/in-process.js';
import { hashesOf, changedBy, manifestOf, mirrorOf, stateOf, urlsOf } from '../../support/published.js';
import { changeRegister } from '../../support/register.js';
import { changeState } from '../../support/state.js';
import { buildWith, copyOf, failureOf, pair, site, type Pair } from '../../support/site.js';
import { differing, isSibling } from '../../support/tree.js';

const path = temporary();
/** Of the operator file. */
const BASE = 'https://api.golden.example';
let both: Pair;
beforeAll(async () => {
  both = await pair(path);
});

/** The lines of a list. */
const lines = (file: string): string[] => {
  const text = readFileSync(file, 'utf8');
  expect(existsSync(`${file}.partial`)).toBe(false);
  // Each ends with a newline.
  const found = text.split('\n');
  expect(found.pop()).toBe('');
  return found;
};

/** Builds, and reads the lists. */
async function build(register: string, out: string) {
  const lists = {
    purgeList: path('purge.txt'),
    filesFrom: path('files.txt'),
    deleteFrom: path('delete.txt'),
  };
  await buildWith({ register, out, ...lists });
  return {
    purged: lines(lists.purgeList),
    files: lines(lists.filesFrom),
    deleted: lines(lists.deleteFrom),
  };
}

const ALWAYS = ['/changes/index.json', '/snapshot.json'];
/** Each snapshot changes them. */
const SNAPSHOT_FEEDS = ['/feeds/snapshots.atom', '/feeds/snapshots.json'];
const absolute = (paths: Iterable<string>): string[] => [...paths].map((each) => BASE + each).toSorted();

/** Copies the listed files into another tree, as rsync --files-from does, and deletes those that are to be deleted. */
function copy(out: string, to: string, files: readonly string[], deleted: readonly string[]): void {
  for (const file of files) {
    mkdirSync(dirname(join(to, file)), { recursive: true });
    cpSync(join(out, file), join(to, file));
  }
  for (const file of deleted) rmSync(join(to, file));
}

/** What the listed files answer; compressed siblings answer nothing of their own. */
function documentUrls(out: string, files: readonly string[]): string[] {
  const urlOf = urlsOf(out);
  return files
    .filter((file) => !isSibling(file))
    .map((file) => urlOf(file) ?? `no route leads to "${file}"`)
    .toSorted();
}

/** A tree of the first register, and its copy. */
function twins(): { out: string; twin: string } {
  const [out, twin] = [both.tree(), path('twin')];
  cpSync(out, twin, { recursive: true });
  return { out, twin };
}

describe('the lists of', () => {
  it('a first build hold everything', async () => {
    const out = path('dist');
    const { purged, files } = await build(both.registers[0], out);
    const records = [...mirrorOf(out).keys()].filter((url) =>
      /^\/api\/v1\/(group|user|game|item)\/\d+$/.test(url),
    );
    expect(records).toHaveLength(20 + 20 + 11 + 12);
    const pages = records.map((url) => url.replace('/api/v1', ''));
    expect(purged.toSorted()).toEqual(
      absolute([...mirrorOf(out).keys(), ...pages, '/api/v1/largest', ...ALWAYS, ...SNAPSHOT_FEEDS]),
    );
    expect(files.toSorted()).toEqual(Object.keys(hashesOf(out)));
  });

  it('a later build hold what the bundle holds and the bookkeeping, no more', async () => {
    const { out, twin } = twins();
    const { purged, files, deleted } = await build(both.registers[1], out);
    const { put, delete: gone } = changedBy(out, 2);
    const puts = put.map((each) => each.path);
    // The pages of records that were added or removed, but not those of records that changed.
    const pages = ['/game/4', '/item/6', '/item/77', '/user/9007', '/user/500007'];
    expect(purged.toSorted()).toEqual(absolute([...puts, ...gone, ...pages, ...ALWAYS, ...SNAPSHOT_FEEDS]));
    expect(documentUrls(out, files)).toEqual(
      [...puts, '/changes/2.ndjson.gz', ...ALWAYS, ...SNAPSHOT_FEEDS].toSorted(),
    );
    copy(out, twin, files, deleted);
    expect(differing(hashesOf(twin), hashesOf(out))).toEqual([]);
    // Without lists, a build leaves nothing to those of a later one that changes nothing.
    await buildWith({ register: both.registers[0], out });
    const nothing = await build(both.registers[0], out);
    expect(nothing.purged.toSorted()).toEqual(absolute(ALWAYS));
    expect(documentUrls(out, nothing.files)).toEqual(ALWAYS);
  });

  it('a build that withholds purge the page of the record, and the bundles before it', async () => {
    const { out, register } = await site(path);
    changeRegister(register, `UPDATE groups SET name = 'other' WHERE id = 20`);
    const renamed = await build(register, out);
    // The list of the largest changed, which has two URLs at its default.
    for (const url of ['/api/v1/largest?limit=100', '/api/v1/largest'])
      expect(renamed.purged).toContain(BASE + url);
    expect(changedBy(out, 2).put.map((each) => each.path)).not.toContain('/api/v1/largest');
    changeRegister(register, `INSERT INTO withheld VALUES ('item', 3, '2026-11-21T00:00:00Z')`);
    const { purged, deleted } = await build(register, out);
    const bundle = ['changes/2.ndjson.gz'];
    expect(deleted).toEqual(expect.arrayContaining([...bundle, 'api/v1/item/3.json']));
    const urls = ['/item/3', '/api/v1/item/3', ...bundle.map((file) => `/${file}`)];
    expect(purged).toEqual(expect.arrayContaining(absolute(urls)));
    expect(new Set(purged).size).toBe(purged.length);
  });

  it('a build whose lists could not be written are in the next one’s, or hold everything if what it changed is not known', async () => {
    const out = both.tree();
    const before = stateOf(out);
    const purgeList = join(path('nowhere'), 'purge.txt');
    const { exitCode, message } = await failureOf(buildWith({ register: both.registers[1], out, purgeList }));
    // It is published all the same; the message must not let the operator believe otherwise.
    expect(exitCode).toBe(3);
    expect.soft(message).toMatch(/list ".*purge\.txt" can't be written/);
    expect.soft(message).toMatch(/published/);
    expect(differing(stateOf(out), before)).not.toEqual([]);
    const unknown = copyOf({ register: both.registers[1], out }, path).out;
    changeState(unknown, 'UPDATE change SET key = key + 1 WHERE key = (SELECT max(key) FROM change)');
    const { purged } = await build(both.registers[1], out);
    expect(purged).toEqual(expect.arrayContaining(absolute(changedBy(out, 2).put.map((each) => each.path))));
    expect(purged).not.toContain(`${BASE}/api/v1/group/1`);
    const whole = await build(both.registers[1], unknown);
    const everything = [...mirrorOf(unknown).keys(), ...ALWAYS, ...SNAPSHOT_FEEDS];
    expect(whole.purged).toEqual(expect.arrayContaining(absolute(everything)));
    expect(Object.keys(hashesOf(unknown)).filter((file) => !whole.files.includes(file))).toEqual([]);
    expect([out, unknown].map((tree) => manifestOf(tree).sequence)).toEqual([2, 2]);
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
