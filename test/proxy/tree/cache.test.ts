import { randomBytes } from 'node:crypto';
import { close } from 'node:fs';
import { chmod, rm, utimes } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { gzipSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';

import { FileCache, type CachedFile, type Epoch } from '../../../proxy/tree/cache.js';
import { openDisk, readChunks } from '../../../proxy/tree/read.js';
import { readPublishedDigests, type PublishedDigests } from '../../../proxy/tree/digests.js';
import { sha256 } from '../../support/published.js';
import { controlledDisk, emptyFolder, gate, INLINE_DISK, publish } from '../support.js';

const NONE: PublishedDigests = { changedMs: 0, files: new Map() };

/** Files up to this size are held. 1 MiB. */
const HELD_MAX_BYTES = 1024 * 1024;

/**
 * A cache over a folder with these files by their paths; `at` is its tree in an epoch of some number, `reads` what was
 * asked of the disk.
 */
async function setUp(content: Record<string, string | Buffer> = {}, maxBytes?: number) {
  const root = await emptyFolder();
  for (const [path, bytes] of Object.entries(content)) await publish(root, path, bytes);
  let nowMs = 1;
  const { disk, requests: reads, interfere } = controlledDisk();
  const files = new FileCache(disk, () => nowMs, maxBytes);
  const at = (epoch: number): Epoch => ({ epoch, root, digests: NONE });
  const advance = (ms: number): void => void (nowMs += ms);
  return { root, files, at, advance, reads, interfere };
}

async function existing<T>(file: Promise<T | undefined>): Promise<T> {
  const found = await file;
  if (found === undefined) throw new Error('expected the file to be there');
  return found;
}

const textOf = (file: CachedFile | undefined): string | undefined => file?.bytes?.toString();
const etagOf = (content: string | Buffer): string => `"${sha256(content).slice(0, 32)}"`;

const HANGS = openDisk(() => new Promise(() => undefined)).read;

describe('FileCache.read', () => {
  it('makes the ETag from the content alone, and Last-Modified from the time of the file, if that is past', async () => {
    const { root, files, at } = await setUp({ 'a.json': '{"a":1}', 'b.json': '{}' });
    await utimes(join(root, 'a.json'), 1_700_000_000.9, 1_700_000_000.9);
    expect(await files.read('a.json', at(1))).toMatchObject({
      path: 'a.json',
      coding: undefined,
      etag: etagOf('{"a":1}'),
      lastModified: new Date(1_700_000_000_000).toUTCString(),
      size: 7,
      bytes: Buffer.from('{"a":1}'),
    });
    const later = Date.now() / 1000 + 500;
    await utimes(join(root, 'b.json'), later, later);
    const before = Math.floor(Date.now() / 1000) * 1000;
    const modified = Date.parse((await existing(files.read('b.json', at(1)))).lastModified);
    expect([modified >= before, modified <= Date.now()]).toEqual([true, true]);
  });

  it('reads a file once for all requests that come while it is being read', async () => {
    const { files, at, reads } = await setUp({ 'a.json': '{}' });
    const both = [files.read('a.json', at(1)), files.read('a.json', at(1))];
    expect(reads.length).toBe(1);
    // What was read for an older epoch may be outdated.
    const next = files.read('a.json', at(2));
    expect(reads.length).toBe(2);
    const [first, second] = await Promise.all([...both, next]);
    expect(first).toBe(second);
  });

  it('remembers nothing of what is absent', async () => {
    const { root, files, at } = await setUp();
    expect(await files.read('a.json', at(1))).toBeUndefined();
    expect(files.bytes).toBe(0);
    await publish(root, 'a.json', '{}');
    expect(await files.read('a.json', at(1))).toMatchObject({ size: 2 });
  });
});

describe('FileCache.get', () => {
  it('looks again in the next epoch, and after 30 s, at the state and not at the bytes', async () => {
    const { files, at, advance, reads } = await setUp({ 'a.json': '{}' });
    expect(files.get('a.json', at(1))).toBeUndefined();
    const file = await existing(files.read('a.json', at(1)));
    expect(files.get('a.json', at(1))).toBe(file);
    expect(files.get('a.json', at(2))).toBeUndefined();
    expect(await files.read('a.json', at(2))).toBe(file);
    advance(30_000);
    expect(files.get('a.json', at(2))).toBe(file);
    advance(1);
    expect(files.get('a.json', at(2))).toBeUndefined();
    expect(await files.read('a.json', at(2))).toBe(file);
    advance(30_000);
    expect(files.get('a.json', at(2))).toBe(file);
    expect(reads.map(({ known }) => known)).toEqual([undefined, file.identity, file.identity]);
  });

  it('reads a replaced file in the next epoch, also one of the same size, and forgets a deleted one', async () => {
    const { root, files, at } = await setUp({ 'a.json': '{"a":1}' });
    await files.read('a.json', at(1));
    await publish(root, 'a.json', '{"a":2}');
    expect(textOf(files.get('a.json', at(1)))).toBe('{"a":1}');
    expect(textOf(await files.read('a.json', at(2)))).toBe('{"a":2}');
    await rm(join(root, 'a.json'));
    expect(await files.read('a.json', at(3))).toBeUndefined();
    expect([files.get('a.json', at(1)), files.bytes]).toEqual([undefined, 0]);
  });

  it.each(['{"a":1}', undefined])(
    'is not deceived by a read that began in an older epoch, ends last and found %j',
    async (before) => {
      const { root, files, at, interfere } = await setUp(before === undefined ? {} : { 'a.json': before });
      const { passed, letGo } = gate();
      interfere(async (request) => {
        const old = await INLINE_DISK.read(request);
        await passed;
        return old;
      });
      const old = files.read('a.json', at(1));
      await new Promise(setImmediate);
      interfere(undefined);
      await publish(root, 'a.json', '{"a":2}');
      await files.read('a.json', at(2));
      letGo();
      expect(textOf(await old)).toBe(before);
      expect(textOf(files.get('a.json', at(2)))).toBe('{"a":2}');
    },
  );
});

describe('FileCache within an epoch', () => {
  it('finds a sibling that arrived later, and one that is of the new file', async () => {
    const { root, files, at, advance } = await setUp({ 'a.json': 'x'.repeat(2_000) });
    const of = await existing(files.read('a.json', at(1)));
    expect(await files.readForm(of, 'gzip', at(1))).toBe(of);
    expect(files.getForm(of, 'gzip', at(1))).toBe(of);
    await publish(root, 'a.json.gz', gzipSync('x'.repeat(2_000)));
    advance(30_001);
    expect(files.getForm(of, 'gzip', at(1))).toBeUndefined();
    expect(await files.readForm(of, 'gzip', at(1))).toMatchObject({ coding: 'gzip' });
  });

  it('serves what is known while the disk hangs, and asks it again after a second', async () => {
    const text = 'x'.repeat(2_000);
    const { files, at, advance, interfere } = await setUp({ 'a.json': text, 'a.json.gz': gzipSync(text) });
    const of = await existing(files.read('a.json', at(1)));
    const form = await files.readForm(of, 'gzip', at(1));
    expect(form.coding).toBe('gzip');
    interfere(HANGS);
    advance(30_001);
    expect(await files.read('a.json', at(1))).toBe(of);
    expect(await files.readForm(of, 'gzip', at(1))).toBe(form);
    expect(files.get('a.json', at(1))).toBe(of);
    advance(1_001);
    expect(files.get('a.json', at(1))).toBeUndefined();
    // Of another epoch it is not known to be current.
    const isServed = await Promise.race([files.read('a.json', at(2)).then(() => true), pause(600, false)]);
    expect(isServed).toBe(false);
  });

  it('remembers siblings as absent, but not when they could not be read', async () => {
    const { files, at, interfere } = await setUp({ 'a.json': 'x'.repeat(2_000) });
    const of = await existing(files.read('a.json', at(1)));
    interfere(() => Promise.reject(new Error('EMFILE')));
    expect(await files.readForm(of, 'br', at(1))).toBe(of);
    expect(files.getForm(of, 'br', at(1))).toBeUndefined();
    interfere(undefined);
    expect(await files.readForm(of, 'br', at(1))).toBe(of);
    expect(files.getForm(of, 'br', at(1))).toBe(of);
  });
});

describe('FileCache memory', () => {
  it('stays within its bytes with all forms, and lets go what was used least recently', async () => {
    const { root, files, at } = await setUp({}, 20_000);
    const text = 'x'.repeat(976);
    await publish(root, '0.json', text);
    await publish(root, '0.json.gz', gzipSync(text));
    const of = await existing(files.read('0.json', at(1)));
    const alone = files.bytes;
    const { size } = await files.readForm(of, 'gzip', at(1));
    expect(files.bytes).toBe(alone + 1_024 + size);
    // What can not be had compressed takes room, too.
    expect(await files.readForm(of, 'br', at(1))).toBe(of);
    expect(files.bytes).toBe(alone + 2 * 1_024 + size);
    for (let index = 1; index < 40; index += 1) {
      await publish(root, `${index}.json`, text);
      await files.read(`${index}.json`, at(1));
      // Used again and again, so it stays.
      files.get('0.json', at(1));
      expect(files.bytes).toBeLessThanOrEqual(20_000);
    }
    const known = ['0.json', '39.json', '1.json'].map((path) => files.get(path, at(1)) !== undefined);
    expect(known).toEqual([true, true, false]);
    expect(files.getForm(of, 'gzip', at(1))).toBeUndefined();
  });

  it('does not hold a file of more than 1 MiB', async () => {
    const large = Buffer.alloc(HELD_MAX_BYTES + 1, 'large ');
    const { files, at } = await setUp({ 'large.csv': large, 'fits.csv': large.subarray(1) });
    const file = await existing(files.read('large.csv', at(1)));
    expect([file.size, file.bytes]).toEqual([large.length, undefined]);
    expect(files.get('large.csv', at(1))).toBe(file);
    expect(files.bytes).toBeLessThan(10_000);
    expect((await files.read('fits.csv', at(1)))?.bytes?.length).toBe(HELD_MAX_BYTES);
  });
});

describe('FileCache.open', () => {
  const [OLD, NEW] = [Buffer.alloc(HELD_MAX_BYTES + 1, 'old'), Buffer.alloc(HELD_MAX_BYTES + 2, 'new')];

  it('opens the file that was described, which is read to its end though it is replaced meanwhile', async () => {
    const { root, files, at } = await setUp({ 'large.csv': OLD });
    const file = await existing(files.read('large.csv', at(1)));
    const opened = await existing(files.open(file, at(1)));
    await publish(root, 'large.csv', NEW);
    const chunks: Buffer[] = [];
    for await (const chunk of readChunks(opened, { first: 0, last: OLD.length - 1 })) chunks.push(chunk);
    expect(Buffer.concat(chunks).equals(OLD)).toBe(true);
    // By now it is another one, which has to be read.
    expect(await files.open(file, at(1))).toBeUndefined();
    expect((await files.read('large.csv', at(1)))?.size).toBe(NEW.length);
  });

  it('finds a compressed form again that was replaced, or is another state of the same bytes', async () => {
    const text = randomBytes(HELD_MAX_BYTES).toString('hex');
    const { root, files, at } = await setUp({ 'large.json': text, 'large.json.gz': gzipSync(text) });
    const file = await existing(files.read('large.json', at(1)));
    const form = await files.readForm(file, 'gzip', at(1));
    expect([form.coding, form.bytes]).toEqual(['gzip', undefined]);
    await chmod(join(root, 'large.json.gz'), 0o600);
    expect(await files.open(form, at(1))).toBeUndefined();
    const again = await files.readForm(file, 'gzip', at(1));
    expect(again.etag).toBe(form.etag);
    close(await existing(files.open(again, at(1))));
  });
});

/** What a tree says of its downloads, in a datapackage.json that comes before its snapshot.json. */
async function published(root: string, dataPackage: string): Promise<PublishedDigests> {
  await publish(root, 'downloads/datapackage.json', dataPackage);
  await publish(root, 'snapshot.json', '{}');
  const document = INLINE_DISK.read({ root, path: 'snapshot.json', maxBytes: 100 });
  return readPublishedDigests(await existing(document), INLINE_DISK);
}

describe('the ETag of a large file', () => {
  const LARGE = Buffer.alloc(HELD_MAX_BYTES + 1, 'large ');
  /** No file has it, so an ETag with it was not computed. */
  const CLAIMED = 'c'.repeat(64);
  const STRONG = `"${CLAIMED.slice(0, 32)}"`;
  const listing = (bytes = LARGE.length): string =>
    JSON.stringify({ resources: [{ path: 'large.csv', bytes, hash: `sha256:${CLAIMED}` }] });

  it('has the published digest, of a download and of a bundle', async () => {
    const { root, files, at } = await setUp({
      'downloads/large.csv': LARGE,
      'changes/7.ndjson.gz': LARGE,
    });
    const bundle = { file: '/changes/7.ndjson.gz', bytes: LARGE.length, sha256: CLAIMED };
    const changes = [{ bundle }, { bundle: null }];
    await publish(root, 'changes/index.json', JSON.stringify({ changes }));
    const digests = await published(root, listing());
    for (const path of ['downloads/large.csv', 'changes/7.ndjson.gz'])
      expect((await files.read(path, { ...at(1), digests }))?.etag, path).toBe(STRONG);
  });

  it.each(['another size', 'a later change', 'no such file'])('is weak if there is %s', async (how) => {
    const path = how === 'no such file' ? 'downloads/other.csv' : 'downloads/large.csv';
    const { root, files, at } = await setUp({ [path]: LARGE });
    const digests = await published(root, listing(how === 'another size' ? 7 : undefined));
    await pause(20);
    if (how === 'a later change') await publish(root, path, LARGE);
    expect((await files.read(path, { ...at(1), digests }))?.etag).toMatch(/^W\//);
  });

  it('is weak if datapackage.json says none', async () => {
    const { root } = await setUp();
    for (const text of ['', '{}', '{"resources":[{"path":"x"}]}', '[]'])
      expect((await published(root, text)).files.size).toBe(0);
  });

  it('changes with the file, and is strong for a compressed form, which was compared with it', async () => {
    const { root, files, at } = await setUp({ 'large.json': LARGE, 'large.json.gz': gzipSync(LARGE) });
    const file = await existing(files.read('large.json', at(1)));
    expect((await files.readForm(file, 'gzip', at(1))).etag).toBe(etagOf(LARGE).replace(/"$/, '-gz"'));
    const other = Buffer.from(LARGE).fill('x', 0, 1);
    await pause(5);
    await publish(root, 'large.json', other);
    const next = await existing(files.read('large.json', at(2)));
    expect(next.etag).not.toBe(file.etag);
    expect(await files.readForm(next, 'gzip', at(2))).toBe(next);
  });
});
