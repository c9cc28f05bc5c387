/** A mirror equals its origin, by as few requests as there can be, whatever happened to either. */
import { existsSync, readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { z } from 'zod';
import { inState } from '../support/tree.js';
import { inProcess, leftovers, temporary } from '../publish/support.js';
import { MadeUpOrigin, ROUTES, documentsOf } from './made-up.js';

const path = temporary();
let origin: MadeUpOrigin;
let base: string;
let out: string;

beforeEach(async () => {
  origin = new MadeUpOrigin();
  base = await origin.start(0);
  out = path('copy');
});
afterEach(() => origin.stop());

const run = (...options: string[]) => inProcess('mirror', base, '--out', out, ...options);

const resultSchema = z.object({
  origin: z.string(),
  sequence: z.int(),
  digest: z.string(),
  fetched: z.string(),
  requests: z.int(),
  bytes: z.int(),
  changes: z.unknown(),
});

async function mirrored(...options: string[]) {
  origin.asked();
  const { code, stdout, stderr } = await run('--json', ...options);
  expect([code, stderr]).toEqual([0, '']);
  const result = resultSchema.parse(JSON.parse(stdout));
  const asked = origin.asked();
  expect(asked).toHaveLength(result.requests);
  expectEqual();
  expect(leftovers(out)).toEqual([]);
  return { ...result, asked };
}

/** The copy has every document of the origin's newest snapshot to the byte, and nothing else. */
function expectEqual(): void {
  const now = origin.history.at(-1);
  const fileOf = (url: string): string => {
    if (url === '/') return 'index.html';
    if (/^\/(downloads|brand)/.test(url)) return url.slice(1);
    return `${url.slice(1).replace('?limit=', '/')}.json`;
  };
  const documents = Object.entries(now?.all ?? {}).map(([url, body]) => [
    fileOf(url),
    Buffer.from(body).toString('latin1'),
  ]);
  const own = ['snapshot.json', 'feeds/snapshots.atom', 'feeds/snapshots.json'].map((file) => [
    file,
    origin.files.get(`/${file}`)?.toString('latin1'),
  ]);
  const found = files().filter((file) => !file.startsWith('changes/'));
  expect(Object.fromEntries(found.map((file) => [file, readFileSync(join(out, file), 'latin1')]))).toEqual(
    Object.fromEntries([...documents, ...own]),
  );
  for (const file of files().filter((each) => /^changes\/.*\d/.test(each)))
    expect(readFileSync(join(out, file)).equals(origin.files.get(`/${file}`) ?? Buffer.alloc(0)), file).toBe(
      true,
    );
}

const files = (): string[] =>
  readdirSync(out, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name).slice(out.length + 1))
    .toSorted();
const changes = (): string[] => files().filter((file) => file.startsWith('changes/'));

const held = z.looseObject({
  oldest: z.int(),
  sequence: z.int(),
  changes: z.array(z.looseObject({ sequence: z.int(), file: z.string().nullable(), bundle: z.unknown() })),
  rollups: z.array(z.unknown()),
});
const index = () => held.parse(JSON.parse(readFileSync(join(out, 'changes/index.json'), 'utf8')));

const ONE = documentsOf({ 1: 'one', 2: 'two', 10: 'ten' });
const TWO = documentsOf({ 1: 'one', 2: 'second', 11: 'eleven' }, 'b');
const THREE = documentsOf({ 2: 'second', 11: 'eleven', 12: 'twelve' }, 'c');
const FOUR = documentsOf({ 1: 'back', 12: 'twelve' }, 'd');

describe('a first copy', () => {
  it('has everything, from the downloads and the rest one by one', async () => {
    origin.publish(ONE);
    const { asked, fetched, sequence } = await mirrored();
    expect([fetched, sequence]).toEqual(['everything', 1]);
    expect(asked.toSorted()).toEqual(
      [
        '/snapshot.json',
        '/changes/index.json',
        '/downloads/datapackage.json',
        '/downloads/documents/group.ndjson.gz',
        '/downloads/documents/other.ndjson.gz',
        '/brand.bin',
        '/',
        '/feeds/snapshots.atom',
        '/feeds/snapshots.json',
      ].toSorted(),
    );
    expect(index()).toMatchObject({ oldest: 1, changes: [{ sequence: 1, file: null }] });
  });

  it('goes on from the snapshot of the downloads by changes', async () => {
    origin.publish(ONE);
    origin.publish(TWO, true);
    origin.publish(THREE, true);
    const { asked } = await mirrored();
    expect(asked).toEqual(expect.arrayContaining(['/changes/2.ndjson.gz', '/changes/3.ndjson.gz']));
    // Its newest bodies are in the bundles.
    expect(asked).not.toContain('/');
    expect(index().oldest).toBe(1);
    expect(changes()).toEqual([
      'changes/2.json',
      'changes/2.ndjson.gz',
      'changes/3.json',
      'changes/3.ndjson.gz',
      'changes/index.json',
    ]);
  });
});

describe('a copy that is up to date', () => {
  it('costs one request', async () => {
    origin.publish(ONE);
    await mirrored();
    const { asked, fetched, bytes } = await mirrored();
    expect([asked, fetched, bytes]).toEqual([['/snapshot.json'], 'nothing', 0]);
  });

  it('costs one request if only the time of the build is another', async () => {
    origin.publish(ONE);
    await mirrored();
    origin.announce({}, '2026-12-02T00:00:00Z');
    const { asked, fetched } = await mirrored();
    expect([asked, fetched]).toEqual([['/snapshot.json'], 'nothing']);
  });
});

describe('a copy that follows', () => {
  it('takes one bundle, and what bundles don’t have', async () => {
    origin.publish(ONE);
    await mirrored();
    origin.publish(TWO);
    const { asked, fetched, changes: counts } = await mirrored();
    expect(fetched).toBe('changes');
    expect(counts).toEqual({ added: 1, changed: 10, removed: 1, unchanged: 1 });
    expect(asked.toSorted()).toEqual(
      [
        '/snapshot.json',
        '/changes/index.json',
        '/changes/2.ndjson.gz',
        '/changes/2.json',
        '/brand.bin',
        '/downloads/datapackage.json',
        '/downloads/documents/group.ndjson.gz',
        '/downloads/documents/other.ndjson.gz',
        '/feeds/snapshots.atom',
        '/feeds/snapshots.json',
      ].toSorted(),
    );
  });

  it('takes a roll-up instead of several bundles, also from within it', async () => {
    origin.publish(ONE);
    origin.publish(TWO);
    await mirrored();
    origin.publish(THREE, true);
    origin.publish(FOUR, true);
    origin.rollUp(1);
    const { asked } = await mirrored();
    expect(asked.filter((each) => /changes\/.*\d/.test(each))).toEqual(['/changes/over-7/4.ndjson.gz']);
    expect(index().oldest).toBe(1);
  });
});
