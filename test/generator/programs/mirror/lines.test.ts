/** The documents that a mirror learned of: the newest line of each counts, in little memory. */
import { writeFileSync } from 'node:fs';
import { gzipSync } from 'node:zlib';
import { afterEach, expect } from 'vitest';
import { Damaged, DocumentLines } from '../../../../generator/programs/mirror/lines.js';
import { quiet } from '../../../support/build.js';
import { always as it, thorough } from '../../../support/thorough.js';
import { sha256, temporary } from '../../publish/support.js';
import { ROUTES } from './made-up.js';

const path = temporary();
const route = { ...ROUTES[0], name: 'group', path: '', file: '', class: 'record', bucket: 'api' } as const;
const addressOf = (url: string) => (url.startsWith('/x') ? undefined : { route, key: Number(url.slice(1)) });
let close = (): void => undefined;
afterEach(() => close());

function newLines(mostBytes = 1e9): DocumentLines {
  const lines = new DocumentLines(path('lines'), mostBytes, addressOf, quiet());
  close = () => lines.close();
  return lines;
}

const line = (key: number | string, body: string, more: object = {}): string =>
  JSON.stringify({ path: `/${key}`, sha256: sha256(body), bytes: Buffer.byteLength(body), body, ...more });
const without = (key: number, body: string): string => line(key, body, { body: undefined });
const deleted = (key: number | string): string => JSON.stringify({ path: `/${key}`, deleted: true });

function fileOf(...lines: readonly string[]): string {
  const file = path('bundle.gz');
  writeFileSync(file, gzipSync(lines.map((each) => `${each}\n`).join(''), { level: 1 }));
  return file;
}

function rowsOf(lines: DocumentLines) {
  return [...lines.rows('group')].map(({ key, body, missing }) => [key, body?.toString() ?? missing?.sha256]);
}

it('has the newest row of each document in ascending order, and fetches what has none', async () => {
  const lines = newLines();
  await lines.addFile(fileOf(line(10, 'ten'), line(2, 'two'), without(3, 'c'), without(4, 'd'), deleted(5)));
  await lines.addFile(fileOf(line(5, ''), without(2, 'b'), deleted(10), line(3, 'thrée'), deleted('x1')));
  expect(rowsOf(lines)).toEqual([
    [2, sha256('b')],
    [3, 'thrée'],
    [4, sha256('d')],
    [5, ''],
    [10, undefined],
  ]);
  expect(lines.missing.map(({ key, bytes }) => [key, bytes])).toEqual([
    [4, 1],
    [2, 1],
  ]);
  expect([...lines.rows('other')]).toEqual([]);
});

it.each<[string, readonly string[]]>([
  ['another hash', [line(1, 'a', { sha256: sha256('b') })]],
  ['another size', [line(1, 'a', { bytes: 2 })]],
  ['a path of no route', [line('x1', 'a')]],
  ['another form', ['{"no":1}']],
  ['no form at all', ['{']],
  ['more bodies than the tree has', [line(1, 'a'.repeat(600)), line(1, 'b'.repeat(600))]],
  ['more deletions than the tree has bytes', Array.from({ length: 50 }, (_, key) => deleted(key))],
  ['more to fetch than there ever is', Array.from({ length: 10_001 }, (_, key) => without(key, ''))],
])('refuses lines of %s', async (what, lines) => {
  const most = what.startsWith('more to fetch') ? 1e9 : 1000;
  await expect(newLines(most).addFile(fileOf(...lines))).rejects.toThrow(Damaged);
});

it('refuses what is not compressed, or is of another step', async () => {
  const file = path('bundle.gz');
  writeFileSync(file, 'plain');
  await expect(newLines().addFile(file)).rejects.toThrow(Damaged);
  const step = { tree: 'a', from: 1, to: 2 };
  const bundle = (header: object) => fileOf(JSON.stringify({ ...step, ...header }), line(1, 'a'));
  for (const other of [{ tree: 'b' }, { from: 0 }, { to: 3 }, { to: '2' }])
    await expect(newLines().addFile(bundle(other), step)).rejects.toThrow(Damaged);
  await newLines().addFile(bundle({}), step);
});

thorough('reads a line of 64 MiB, and refuses one with a byte more', async () => {
  const start = line(1, 'x'.repeat(60_000_000)).length - 60_000_000;
  const longest = 'x'.repeat(64 * 1024 * 1024 - start);
  const lines = newLines();
  await lines.addFile(fileOf(line(2, ''), line(1, longest), line(3, '')));
  expect(rowsOf(lines).map(([key, body]) => [key, body?.toString().length])).toEqual([
    [1, longest.length],
    [2, 0],
    [3, 0],
  ]);
  for (const after of [[], [line(3, '')]])
    await expect(newLines().addFile(fileOf(line(2, ''), line(1, `${longest}x`), ...after))).rejects.toThrow(
      'has more than 67108864 bytes',
    );
});

const bodies = (word: string) =>
  fileOf(...Array.from({ length: 20_000 }, (_, key) => line(key, `${word} ${key} ${'x'.repeat(4000)}`)));

thorough('needs little memory for many bodies', async () => {
  const [first, second] = [bodies('first'), bodies('second')];
  const lines = newLines();
  const before = process.memoryUsage().rss;
  await lines.addFile(first);
  await lines.addFile(second);
  // 80 MB are in the file.
  expect(process.memoryUsage().rss - before).toBeLessThan(80_000_000);
});
