import { createHash } from 'node:crypto';
import { mkdir, rm, symlink, utimes, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { gzipSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';

import { CACHED_FILE_MAX_BYTES, READ_NOW_MAX_BYTES } from '../../proxy/config.js';
import { Contents } from '../../proxy/contents.js';
import { readChunks } from '../../proxy/files.js';
import { emptyFolder, publish } from './support.js';

const NOW = Date.UTC(2100, 0, 1);

function sha256(content: string | Buffer): string {
  return createHash('sha256').update(content).digest('hex');
}

async function makeContents(maximumBytes?: number): Promise<{ root: string; contents: Contents }> {
  const root = await emptyFolder();
  return { root, contents: new Contents(root, () => NOW, maximumBytes) };
}

describe('Contents.read', () => {
  it('finds nothing where there is no file: a missing one, a missing folder, a folder, a file in place of a folder, a link', async () => {
    const { root, contents } = await makeContents();
    await publish(root, 'here.json', '{}');
    await mkdir(join(root, 'folder'));
    await symlink('/etc/hostname', join(root, 'link.json'));
    for (const file of ['gone.json', 'no/gone.json', 'folder', 'here.json/gone.json', 'link.json']) {
      expect(await contents.read(file, 1)).toBeUndefined();
    }
  });

  it('throws what the file system says of a file that can not be read', async () => {
    const { root, contents } = await makeContents();
    // This process's memory is a regular file that fails to be read at its start.
    await symlink('/proc/self', join(root, 'broken'));
    await expect(contents.read('broken/mem', 1)).rejects.toThrow(/EIO/);
  });

  it('makes the ETag from the content alone, and Last-Modified from the time of the file', async () => {
    const { root, contents } = await makeContents();
    await publish(root, 'a.json', '{"a":1}');
    await utimes(join(root, 'a.json'), 1_800_000_000.9, 1_800_000_000.9);
    expect(await contents.read('a.json', 1)).toMatchObject({
      etag: `"${sha256('{"a":1}').slice(0, 32)}"`,
      modifiedSeconds: 1_800_000_000,
      lastModified: new Date(1_800_000_000_000).toUTCString(),
      size: 7,
      bytes: Buffer.from('{"a":1}'),
    });
  });

  it('never claims a modification later than now', async () => {
    const { root, contents } = await makeContents();
    await publish(root, 'a.json', '{}');
    await utimes(join(root, 'a.json'), NOW / 1000 + 500, NOW / 1000 + 500);
    expect(await contents.read('a.json', 1)).toMatchObject({ modifiedSeconds: NOW / 1000 });
  });

  it('reads an empty file', async () => {
    const { root, contents } = await makeContents();
    await publish(root, 'a.json', '');
    expect(await contents.read('a.json', 1)).toMatchObject({ size: 0, bytes: Buffer.alloc(0) });
  });

  it('reads a file once for all who ask while it is being read', async () => {
    const { root, contents } = await makeContents();
    await publish(root, 'a.json', '{}');
    const both = [contents.read('a.json', 1), contents.read('a.json', 1)];
    expect(both[0]).toBe(both[1]);
    expect(contents.read('a.json', 2)).not.toBe(both[0]);
    await Promise.all(both);
  });
});

describe('Contents.fresh', () => {
  it('knows a file in the generation it was read for, and not in the next', async () => {
    const { root, contents } = await makeContents();
    await publish(root, 'a.json', '{}');
    expect(contents.fresh('a.json', 1)).toBeUndefined();
    const content = await contents.read('a.json', 1);
    expect(contents.fresh('a.json', 1)).toBe(content);
    expect(contents.fresh('a.json', 2)).toBeUndefined();
  });

  it('takes an unchanged file into the next generation without reading it again', async () => {
    const { root, contents } = await makeContents();
    await publish(root, 'a.json', '{}');
    const content = await contents.read('a.json', 1);
    expect(await contents.read('a.json', 2)).toBe(content);
    expect(contents.fresh('a.json', 2)).toBe(content);
  });

  it('reads a replaced file anew in the next generation, also one of the same size', async () => {
    const { root, contents } = await makeContents();
    await publish(root, 'a.json', '{"a":1}');
    await contents.read('a.json', 1);
    await publish(root, 'a.json', '{"a":2}');
    expect(contents.fresh('a.json', 1)?.bytes?.toString()).toBe('{"a":1}');
    expect((await contents.read('a.json', 2))?.bytes?.toString()).toBe('{"a":2}');
  });

  it('forgets a deleted file in the next generation', async () => {
    const { root, contents } = await makeContents();
    await publish(root, 'a.json', '{}');
    await contents.read('a.json', 1);
    await rm(join(root, 'a.json'));
    expect(await contents.read('a.json', 2)).toBeUndefined();
    expect(contents.fresh('a.json', 1)).toBeUndefined();
    expect(contents.bytes).toBe(0);
  });

  it('is not deceived by a reading that began in an older generation and ends last', async () => {
    const { root, contents } = await makeContents();
    // Takes a tenth of a second to hash.
    await publish(root, 'a.json', Buffer.alloc(100_000_000));
    const ends: string[] = [];
    const old = contents.read('a.json', 1).then(() => ends.push('old'));
    await pause(20);
    await publish(root, 'a.json', '{"a":2}');
    await contents.read('a.json', 2).then(() => ends.push('young'));
    await old;
    expect(ends).toEqual(['young', 'old']);
    expect(contents.fresh('a.json', 2)?.bytes?.toString()).toBe('{"a":2}');
  });
});

describe('Contents.readNow', () => {
  it('gives what read gives, and remembers it for its generation', async () => {
    const { root, contents } = await makeContents();
    await publish(root, 'a.json', '{"a":1}');
    const now = contents.readNow('a.json', 1);
    expect(contents.fresh('a.json', 1)).toBe(now);
    const { contents: other } = { contents: new Contents(root, () => NOW) };
    expect(now).toEqual(await other.read('a.json', 1));
    expect(contents.readNow('nothing.json', 1)).toBeUndefined();
  });

  it('looks again in the next generation: at the same file, at another one, at none', async () => {
    const { root, contents } = await makeContents();
    for (const file of ['a.json', 'b.json', 'c.json']) {
      await publish(root, file, '{}');
      contents.readNow(file, 1);
    }
    await publish(root, 'b.json', '{"b":2}');
    await rm(join(root, 'c.json'));
    const before = contents.fresh('a.json', 1);
    expect(contents.fresh('a.json', 2)).toBeUndefined();
    expect(contents.readNow('a.json', 2)).toBe(before);
    expect(contents.fresh('a.json', 2)).toBe(before);
    expect(contents.readNow('b.json', 2)?.bytes?.toString()).toBe('{"b":2}');
    expect(contents.readNow('c.json', 2)).toBeUndefined();
    expect(await contents.read('c.json', 2)).toBeUndefined();
  });

  it('leaves files of more than 64 KiB, and all of them while the disk is slow, to read', async () => {
    const root = await emptyFolder();
    await publish(root, 'large.json', 'x'.repeat(READ_NOW_MAX_BYTES + 1));
    await publish(root, 'fits.json', 'x'.repeat(READ_NOW_MAX_BYTES));
    await publish(root, 'a.json', '{}');
    let nowMs = NOW;
    let stepMs = 0;
    const contents = new Contents(root, () => (nowMs += stepMs));
    expect(contents.readNow('large.json', 1)).toBeUndefined();
    stepMs = 60;
    expect(contents.readNow('fits.json', 1)?.size).toBe(READ_NOW_MAX_BYTES);
    expect(contents.readNow('a.json', 1)).toBeUndefined();
    expect((await contents.read('a.json', 1))?.size).toBe(2);
  });
});

describe('Contents memory', () => {
  it('stays within its bytes, and lets go what was used least recently', async () => {
    const { root, contents } = await makeContents(20_000);
    for (let index = 0; index < 40; index += 1) {
      await publish(root, `${index}.json`, 'x'.repeat(976));
      await contents.read(`${index}.json`, 1);
      // Used again and again, so it stays.
      contents.fresh('0.json', 1);
      expect(contents.bytes).toBeLessThanOrEqual(20_000);
    }
    expect(contents.fresh('0.json', 1)).toBeDefined();
    expect(contents.fresh('39.json', 1)).toBeDefined();
    expect(contents.fresh('1.json', 1)).toBeUndefined();
  });

  it('counts compressed forms, and what can not be had compressed, and lets go of them as well', async () => {
    const { root, contents } = await makeContents(20_000);
    const text = 'x'.repeat(4_000);
    await publish(root, 'a.json', text);
    await publish(root, 'a.json.gz', gzipSync(text));
    const of = await contents.read('a.json', 1);
    if (of === undefined) throw new Error('expected the file to be there');
    const alone = contents.bytes;
    const { size } = await contents.readVariant({ coding: 'gzip', of }, 1);
    expect(contents.bytes).toBe(alone + 1_024 + size);
    expect(await contents.readVariant({ coding: 'br', of }, 1)).toBe(of);
    expect(contents.bytes).toBe(alone + 2 * 1_024 + size);
    for (let index = 0; index < 20; index += 1) {
      await publish(root, `${index}.json`, text);
      await contents.read(`${index}.json`, 1);
      expect(contents.bytes).toBeLessThanOrEqual(20_000);
    }
    expect(contents.freshVariant({ coding: 'gzip', of }, 1)).toBeUndefined();
  });

  it('does not hold a file of more than 1 MiB, but its ETag', async () => {
    const { root, contents } = await makeContents();
    const large = Buffer.alloc(CACHED_FILE_MAX_BYTES + 1, 'large ');
    await publish(root, 'large.csv', large);
    await publish(root, 'fits.csv', large.subarray(1));
    const content = await contents.read('large.csv', 1);
    expect(content).toMatchObject({
      etag: `"${sha256(large).slice(0, 32)}"`,
      size: large.length,
      bytes: undefined,
    });
    expect(contents.fresh('large.csv', 1)).toBe(content);
    expect(contents.bytes).toBeLessThan(10_000);
    expect((await contents.read('fits.csv', 1))?.bytes?.length).toBe(CACHED_FILE_MAX_BYTES);
  });
});

describe('Contents.open', () => {
  it('opens the file that was hashed, which is read to its end though it is replaced meanwhile', async () => {
    const { root, contents } = await makeContents();
    const large = Buffer.alloc(CACHED_FILE_MAX_BYTES + 1, 'old');
    await publish(root, 'large.csv', large);
    const content = await contents.read('large.csv', 1);
    const opened = content && (await contents.open(content));
    if (opened === undefined) throw new Error('expected the file to be open');
    await publish(root, 'large.csv', Buffer.alloc(CACHED_FILE_MAX_BYTES + 1, 'new'));
    const chunks: Buffer[] = [];
    for await (const chunk of readChunks(opened)) chunks.push(chunk);
    await opened.handle.close();
    expect(Buffer.concat(chunks).equals(large)).toBe(true);
  });

  it('refuses a file that is another one by now, and has it read anew', async () => {
    const { root, contents } = await makeContents();
    await publish(root, 'large.csv', Buffer.alloc(CACHED_FILE_MAX_BYTES + 1, 'old'));
    const content = await contents.read('large.csv', 1);
    await publish(root, 'large.csv', Buffer.alloc(CACHED_FILE_MAX_BYTES + 1, 'new'));
    expect(content && (await contents.open(content))).toBeUndefined();
    const renewed = await contents.read('large.csv', 1);
    expect(renewed?.etag).not.toBe(content?.etag);
  });
});

describe('readChunks', () => {
  it('throws if the file has become shorter than it was', async () => {
    const { root, contents } = await makeContents();
    await publish(root, 'large.csv', Buffer.alloc(CACHED_FILE_MAX_BYTES + 1));
    const content = await contents.read('large.csv', 1);
    const opened = content && (await contents.open(content));
    if (opened === undefined) throw new Error('expected the file to be open');
    await writeFile(join(root, 'large.csv'), 'short');
    const drain = async (): Promise<void> => {
      for await (const chunk of readChunks(opened)) expect(chunk.length).toBeGreaterThan(0);
    };
    await expect(drain()).rejects.toThrow('read 5 bytes of a file of 1048577');
    await opened.handle.close();
  });
});
