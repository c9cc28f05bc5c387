/** The lists of what is published: they say all of it, and a build knows by them what it changes and deletes. */
import { spawnSync } from 'node:child_process';
import {
  cpSync,
  existsSync,
  mkdirSync,
  readFileSync,
  readdirSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { beforeAll, describe, expect, it } from 'vitest';
import { z } from 'zod';
import { linesOf, sumOfAll, writeList, type ListedRoute } from '../../../generator/publish/lists.js';
import { writeOperator } from '../../support/operator.js';
import { changeRegister } from '../../support/register.js';
import { pair, site, type Pair } from '../../support/site.js';
import { changeState } from '../../support/state.js';
import { differing, inState, isDownload, isSibling, pathsBelow } from '../../support/tree.js';
import {
  buildWith,
  changedBy,
  contentOf,
  documentsOf,
  expectAtRest,
  hashesOf,
  indexOf,
  interruptCommit,
  manifestOf,
  sha256,
  stateOf,
  temporary,
} from './support.js';

const path = temporary();
let both: Pair;
beforeAll(async () => {
  both = await pair(path);
});

/** Of the operator file. */
const BASE = 'https://api.golden.example';

const listsOf = (out: string): string[] =>
  pathsBelow(inState(out, 'lists'), (entry) => entry.isFile() && entry.name.endsWith('.sha256'));

describe('the lists', () => {
  it('name every file but siblings and snapshot.json, as sha256sum checks it, and their sum is the digest', async () => {
    const out = both.tree();
    await buildWith({ register: both.registers[1], out });
    const lines = listsOf(out).flatMap((list) =>
      readFileSync(inState(out, `lists/${list}`), 'utf8')
        .trimEnd()
        .split('\n'),
    );
    const files = lines.map((line) => line.slice(66)).toSorted();
    expect(files).toEqual(documentsOf(hashesOf(out)).filter((file) => file !== 'snapshot.json'));
    const { status, stdout } = spawnSync(
      'sh',
      ['-c', `cat "$0"/lists/*/* | sha256sum -c --quiet`, inState(out)],
      { cwd: out, encoding: 'utf8' },
    );
    expect([status, stdout]).toEqual([0, '']);
    const documents = gunzipSync(readFileSync(join(out, 'downloads/documents.sha256.gz')));
    expect(sha256(documents)).toBe(manifestOf(out).digest);
  });

  it('are read by key, wherever they are cut', () => {
    const route: ListedRoute = {
      name: 'a',
      path: '/a/{id}',
      file: 'a/{id}.json',
      class: 'record',
      pages: [],
    };
    const keys = [1, 2, 9, 10, 11, 100, 5000, 10 ** 15];
    const expected = (low: number, high: number): number[] => keys.filter((key) => key >= low && key <= high);
    for (const cuts of [[0], [0, 9], [0, 1, 2, 10], [0, 12, 200, 10 ** 15], keys]) {
      const lists = path('lists');
      for (const [at, low] of cuts.entries()) {
        const lines = expected(low, (cuts[at + 1] ?? Infinity) - 1).map(
          (key) => `${sha256(String(key))}  a/${key}.json\n`,
        );
        if (lines.length > 0) writeList(lists, route, low, lines);
      }
      for (const low of [0, 1, 3, 10, 12, 6000])
        for (const high of [0, 9, 11, 4999, Number.MAX_SAFE_INTEGER])
          expect([...linesOf(lists, route, { low, high })].map(({ key }) => key)).toEqual(
            expected(low, high),
          );
    }
  });
});

const described = z.looseObject({ file: z.string(), path: z.string() });

/** Has a tree be as if an earlier version had published a route under other names. */
function asIfPublished(out: string, route: string, name: string, fileOf: (file: string) => string): void {
  const [from, to] = [inState(out, `lists/${route}`), inState(out, `lists/${name}`)];
  if (from !== to) renameSync(from, to);
  const texts = readdirSync(to).map((each): [string, string] => [each, readFileSync(join(to, each), 'utf8')]);
  for (const [each, text] of texts) {
    if (each.endsWith('.json')) {
      const listed = described.parse(JSON.parse(text));
      const moved = { ...listed, name, file: fileOf(listed.file), path: `/${fileOf(listed.path.slice(1))}` };
      writeFileSync(join(to, each), JSON.stringify(moved));
      continue;
    }
    const files = [...text.matchAll(/ {2}(.*)\n/g)].map(([, file = '']) => file);
    for (const file of files)
      for (const suffix of ['', '.gz', '.br'].filter((ending) => existsSync(join(out, file + ending)))) {
        mkdirSync(dirname(join(out, fileOf(file))), { recursive: true });
        renameSync(join(out, file + suffix), join(out, fileOf(file) + suffix));
      }
    writeFileSync(join(to, each), text.replaceAll(/(?<= {2}).*(?=\n)/g, fileOf));
  }
  changeState(out, (state) => ({ ...state, lists: sumOfAll(inState(out, 'lists')) }));
}

describe('a build after a version with other routes', () => {
  it('deletes files of a route that is gone or was elsewhere, and keeps those that another route has now', async () => {
    const out = both.tree();
    // Elsewhere; gone; and under another name in the same place, so that paths move from one route to another.
    asIfPublished(out, 'game', 'game', (file) => file.replace('api/v1/game', 'api/v0/game'));
    asIfPublished(out, 'recent', 'latest', (file) => file.replace('recent', 'latest'));
    asIfPublished(out, 'item', 'thing', (file) => file);
    const before = hashesOf(out);
    expect(before).toHaveProperty(['api/v0/game/4.json.br']);
    const { purgeList, filesFrom, deleteFrom } = {
      purgeList: path('urls'),
      filesFrom: path('files'),
      deleteFrom: path('gone'),
    };
    await buildWith({ register: both.registers[1], out, purgeList, filesFrom, deleteFrom });
    expect(differing(contentOf(out), both.trees[1])).toEqual([]);
    await expectAtRest(out);
    const now = hashesOf(out);
    const gone = Object.keys(before).filter((file) => !(file in now));
    expect(readFileSync(deleteFrom, 'utf8').trimEnd().split('\n').toSorted()).toEqual(gone);
    const urls = readFileSync(purgeList, 'utf8').split('\n');
    expect(urls).toEqual(
      expect.arrayContaining(['/api/v0/game/3', '/api/v1/game/3'].map((url) => BASE + url)),
    );
    // In whatever order somebody follows the bundle, each file is where it belongs.
    const { put } = changedBy(out, 2);
    const deleted = new Set(changedBy(out, 2).delete);
    expect(put.filter((each) => deleted.has(each.path) && !each.path.startsWith('/api/v1/item/'))).toEqual(
      [],
    );
  });

  it('deletes what was a file of the operator', async () => {
    const made = await site(path);
    const operator = (files: Record<string, string>) =>
      writeOperator(path('operator'), { files: 'site' }, files);
    const more = { 'notes/a.txt': 'long '.repeat(2000), 'b.txt': 'b' };
    await made.build('', { operator: operator(more) });
    expect(existsSync(join(made.out, 'notes/a.txt.br'))).toBe(true);
    await made.build('', { operator: operator({ 'b.txt': 'b' }) });
    expect(existsSync(join(made.out, 'notes'))).toBe(false);
    await expectAtRest(made.out);
  });
});

describe('a file of the tree', () => {
  it('that does not change keeps its inode and time, and one that does has the time of its siblings', async () => {
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
    const documents = new Set(siblings.map((file) => file.replace(/\.(br|gz)$/, '')));
    for (const file of documents)
      for (const suffix of ['.br', '.gz'])
        expect([file, timeOf(file + suffix)]).toEqual([file, timeOf(file)]);
    const changed = [...documents].filter((file) => now[file] !== before[file]);
    expect(changed).toContain('api/v1/item/5.json');
    for (const file of changed) expect(Math.trunc(timeOf(file))).toBe(Date.parse(at));
  });

  it('has siblings only while it is large, and takes them along when it goes', async () => {
    const out = both.tree();
    const siblings = (file: string): number =>
      ['.gz', '.br'].filter((each) => existsSync(join(out, file + each))).length;
    const counts = (): number[] =>
      [8, 4, 6].map((id, at) => siblings(`api/v1/${['item', 'game', 'group'][at]}/${id}.json`));
    expect(counts()).toEqual([2, 2, 0]);
    await buildWith({ register: both.registers[1], out });
    expect(counts()).toEqual([0, 0, 2]);
  });
});

it('a state folder of a backup publishes nothing again that was taken down since: its commit is deleted with a warning', async () => {
  const made = await site(path);
  const { register, out } = made;
  changeRegister(register, `UPDATE groups SET name = 'Secret' WHERE id = 3`);
  await interruptCommit({ register, out });
  const backup = path('backup');
  cpSync(inState(out), backup, { recursive: true });
  await made.build(`INSERT INTO withheld VALUES ('group', 3, '2026-12-01T00:00:00Z')`);
  rmSync(inState(out), { recursive: true });
  cpSync(backup, inState(out), { recursive: true });
  const warnings: string[] = [];
  await buildWith({ register, out }, { warn: (line) => void warnings.push(line) });
  expect(warnings[0]).toMatch(/^warning: the commit in ".*" follows another snapshot .*: it is deleted/);
  expect(indexOf(out)).toMatchObject({ sequence: 4, oldest: 4 });
  expect(existsSync(join(out, 'api/v1/group/3.json'))).toBe(false);
  const fresh = path('fresh');
  await buildWith({ register, out: fresh });
  expect(differing(contentOf(out), contentOf(fresh))).toEqual([]);
  await expectAtRest(out);
});
