/** The lists of what is published: they say all of it, and a build knows by them what it changes and deletes. */
import { spawnSync } from 'node:child_process';
import {
  existsSync,
  mkdirSync,
  readFileSync,
  readdirSync,
  renameSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { expect, it } from 'vitest';
import * as z from 'zod';
import { listedFiles, writeList, type ListedRoute } from '../../../generator/publish/lists.js';
import { pair, buildWith } from '../../support/site.js';
import { changePublished } from '../../support/state.js';
import { inState, isDownload, isSibling } from '../../support/tree.js';
import { temporary } from '../../support/folder.js';
import { changedBy, documentsOf, hashesOf, snapshotOf, sha256, stateOf } from '../../support/published.js';
import { expectTree } from './support.js';

const path = temporary();
const both = await pair(path);

const BASE = 'https://api.golden.example';

it('the lists name every file but siblings and snapshot.json, as sha256sum checks it, and their sum is the digest', async () => {
  const out = both.tree();
  await buildWith({ register: both.registers[1], out });
  const script = 'cat "$0"/lists/*/* | cut -c 67- && cat "$0"/lists/*/* | sha256sum -c --quiet';
  const options = { cwd: out, encoding: 'utf8' } as const;
  const { status, stdout } = spawnSync('sh', ['-c', script, inState(out)], options);
  const files = documentsOf(hashesOf(out)).filter((file) => file !== 'snapshot.json');
  expect([status, stdout.trimEnd().split('\n').toSorted()]).toEqual([0, files]);
  const documents = gunzipSync(readFileSync(join(out, 'downloads/documents.sha256.gz')));
  expect(sha256(documents)).toBe(snapshotOf(out).digest);
});

it('the lists are read by key, wherever they are cut', () => {
  const route: ListedRoute = { name: 'a', path: '/a/{id}', file: 'a/{id}.json', class: 'record', pages: [] };
  const keys = [1, 2, 9, 10, 11, 100, 5000, 10 ** 15];
  const within = (low: number, high: number): number[] => keys.filter((key) => key >= low && key <= high);
  for (const cuts of [[0], [0, 9], [0, 2, 10], [0, 12, 200, 10 ** 15], keys]) {
    const lists = path('lists');
    for (const [at, low] of cuts.entries()) {
      const keysOfList = within(low, (cuts[at + 1] ?? Infinity) - 1);
      writeList(
        lists,
        route.name,
        low,
        keysOfList.map((key) => `${sha256(String(key))}  a/${key}.json\n`),
      );
    }
    for (const low of [0, 1, 3, 10, 12, 6000])
      for (const high of [0, 9, 11, 4999, Number.MAX_SAFE_INTEGER])
        expect([...listedFiles(lists, route, { low, high })].map(({ key }) => key)).toEqual(
          within(low, high),
        );
  }
});

const described = z.looseObject({
  routes: z.array(z.looseObject({ name: z.string(), file: z.string(), path: z.string() })),
});

/** Has a tree be as if an earlier version had published a route under other names. */
function asIfPublished(out: string, route: string, name: string, fileOf: (file: string) => string): void {
  const [from, to] = [inState(out, `lists/${route}`), inState(out, `lists/${name}`)];
  if (from !== to) renameSync(from, to);
  for (const each of readdirSync(to)) {
    const text = readFileSync(join(to, each), 'utf8');
    const files = [...text.matchAll(/ {2}(.*)\n/g)].map(([, file = '']) => file);
    for (const file of files)
      for (const suffix of ['', '.gz', '.br'].filter((ending) => existsSync(join(out, file + ending)))) {
        mkdirSync(dirname(join(out, fileOf(file))), { recursive: true });
        renameSync(join(out, file + suffix), join(out, fileOf(file) + suffix));
      }
    writeFileSync(join(to, each), text.replaceAll(/(?<= {2}).*(?=\n)/g, fileOf));
  }
  changePublished(out, (text) => {
    const { routes, ...rest } = described.parse(JSON.parse(text));
    const moved = routes.map(({ file, path: url, ...each }) =>
      each.name === route
        ? { ...each, name, file: fileOf(file), path: `/${fileOf(url.slice(1))}` }
        : { ...each, file, path: url },
    );
    // Other routes name it as what they need.
    return JSON.stringify({ ...rest, routes: moved }).replaceAll(
      /"(requires|aliases)":"(\w+)"/g,
      (whole, key, needed) => (needed === route ? `"${key}":"${name}"` : whole),
    );
  });
}

it('a build after a version with other routes deletes files of a route that is gone or was elsewhere, and keeps those that another route has now', async () => {
  const out = both.tree();
  // Elsewhere; gone; and under another name in the same place, so that paths move from one route to another.
  asIfPublished(out, 'game', 'game', (file) => file.replace('api/v1/game', 'api/v0/game'));
  asIfPublished(out, 'recent', 'latest', (file) => file.replace('recent', 'latest'));
  asIfPublished(out, 'item', 'thing', (file) => file);
  const before = hashesOf(out);
  expect(before).toHaveProperty(['api/v0/game/4.json.br']);
  const [purgeList, deleteFrom] = [path('urls'), path('gone')];
  await buildWith({ register: both.registers[1], out, purgeList, deleteFrom });
  await expectTree(out, both.trees[1]);
  const now = hashesOf(out);
  const gone = Object.keys(before).filter((file) => !(file in now));
  expect(readFileSync(deleteFrom, 'utf8').trimEnd().split('\n').toSorted()).toEqual(gone);
  const urls = readFileSync(purgeList, 'utf8').split('\n');
  for (const version of ['v0', 'v1']) expect(urls).toContain(`${BASE}/api/${version}/game/3`);
  // In whatever order somebody follows the bundle, each file is where it belongs.
  const { put, delete: deleted } = changedBy(out, 2);
  const moved = put.flatMap(({ path: url }) => (deleted.includes(url) ? [url] : []));
  expect(moved.filter((url) => !url.startsWith('/api/v1/item/'))).toEqual([]);
});

it('a file that does not change keeps its inode and time, and one that does has the time of its siblings', async () => {
  const out = both.tree();
  const before = stateOf(out);
  const at = '2026-12-05T06:07:08.409Z';
  await buildWith({ register: both.registers[1], out, at });
  const [now, hashes] = [stateOf(out), hashesOf(out)];
  const same = Object.keys(now).filter((file) => before[file]?.endsWith(` ${hashes[file]}`));
  expect(same.length).toBeGreaterThan(100);
  expect(same.filter((file) => now[file] !== before[file] && !isDownload(file))).toEqual([]);
  const timeOf = (file: string): number => statSync(join(out, file)).mtimeMs;
  const siblings = Object.keys(now).filter(isSibling);
  const documents = siblings.map((file) => file.replace(/\.(br|gz)$/, ''));
  expect(siblings.map(timeOf)).toEqual(documents.map(timeOf));
  const changed = documents.filter((file) => now[file] !== before[file]);
  expect(changed).toContain('api/v1/item/5.json');
  for (const file of changed) expect(Math.trunc(timeOf(file))).toBe(Date.parse(at));
});
