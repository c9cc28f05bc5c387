/** The temporary database of a mirror: all lines of a file or none, in flat memory. */
import { existsSync, writeFileSync } from 'node:fs';
import { gzipSync } from 'node:zlib';
import { afterEach, expect, it } from 'vitest';
import { Overlay } from '../../generator/mirror/overlay.js';
import { sha256, temporary } from '../publish/support.js';
import { ROUTES } from './made-up.js';

const path = temporary();
const route = { ...ROUTES[0], name: 'group', path: '', file: '', class: 'record', bucket: 'api' } as const;
const addressOf = (url: string) => ({ route, key: Number(url.slice(1)) });
let close = (): void => undefined;
afterEach(() => close());

function overlayAt(file: string): Overlay {
  const overlay = new Overlay(file, 1e9, addressOf);
  close = () => overlay.close();
  return overlay;
}

/** Documents whose bodies begin with a word, as a file of lines, and other lines after them. */
function documents(count: number, word: string, ...more: readonly string[]): string {
  const lines = Array.from({ length: count }, (_, key) => {
    const body = `${word} ${key} ${'x'.repeat(4000)}`;
    return JSON.stringify({ path: `/${key}`, sha256: sha256(body), bytes: body.length, body });
  });
  const file = path(`${word}.gz`);
  writeFileSync(file, gzipSync([...lines, ...more].map((line) => `${line}\n`).join(''), { level: 1 }));
  return file;
}

const words = (overlay: Overlay): Set<string> =>
  new Set([...overlay.rows('group')].map(({ body }) => String(body).split(' ')[0] ?? ''));

it('adds all lines of a file or none, and leaves nothing behind', async () => {
  const file = path('scratch.sqlite');
  // A run that was killed leaves both. This journal would be taken for that of the new database.
  for (const name of [file, `${file}-journal`]) writeFileSync(name, 'left');
  const overlay = overlayAt(file);
  await overlay.addFile(documents(2000, 'first'));
  await expect(overlay.addFile(documents(2000, 'second', '{"no":1}'))).rejects.toThrow(/of another form/);
  expect(words(overlay)).toEqual(new Set(['first']));
  await overlay.addFile(documents(2000, 'third'));
  expect(words(overlay)).toEqual(new Set(['third']));
  close();
  close = () => undefined;
  expect([file, `${file}-journal`].map((name) => existsSync(name))).toEqual([false, false]);
});

it('needs no more memory for more documents to replace', async () => {
  const overlay = overlayAt(path('scratch.sqlite'));
  const [first, second] = [documents(20_000, 'first'), documents(20_000, 'second')];
  await overlay.addFile(first);
  const before = process.memoryUsage().rss;
  await overlay.addFile(second);
  // 80 MB are replaced.
  expect(process.memoryUsage().rss - before).toBeLessThan(40_000_000);
});
