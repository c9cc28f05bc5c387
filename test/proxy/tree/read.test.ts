import { execFileSync } from 'node:child_process';
import { readdirSync, readlinkSync } from 'node:fs';
import { mkdir, realpath, rename, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { brotliCompressSync, gzipSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';

import { digestOf, readChunks, readFile } from '../../../proxy/tree/read.js';
import { emptyFolder, publish } from '../support.js';

const MAX = 1_000;

describe('readFile', () => {
  it('does not read what is known or too large', async () => {
    const root = await emptyFolder();
    await publish(root, 'a', '1234');
    const whole = await readFile({ root, path: 'a', maxBytes: 4 });
    const none = { ...whole, bytes: undefined, digest: undefined };
    expect(whole?.bytes).toBeDefined();
    expect(await readFile({ root, path: 'a', maxBytes: 3 })).toEqual(none);
    expect(await readFile({ root, path: 'a', maxBytes: 4, known: whole?.identity })).toEqual(none);
    await publish(root, 'a', '5678');
    expect((await readFile({ root, path: 'a', maxBytes: 4, known: whole?.identity }))?.bytes).toBeDefined();
  });

  it('finds nothing where no regular file of the tree is', async () => {
    const root = await emptyFolder();
    const outside = await emptyFolder();
    await publish(outside, 'x.json', '{}');
    await publish(root, 'a.json', '{}');
    await mkdir(join(root, 'folder.json'));
    await symlink('a.json', join(root, 'link.json'));
    await symlink(join(outside, 'x.json'), join(root, 'out.json'));
    await symlink(outside, join(root, 'out'));
    await symlink(root, join(root, 'self'));
    await symlink('loop', join(root, 'loop'));
    execFileSync('mkfifo', [join(root, 'pipe.json')]);
    const paths =
      'gone.json gone/gone.json a.json/b.json folder.json link.json out.json out/x.json self/a.json loop pipe.json';
    const before = readdirSync('/proc/self/fd').length;
    for (const path of paths.split(' ')) {
      expect(await readFile({ root, path, maxBytes: MAX }), path).toBeUndefined();
      expect(await readFile({ root, path, maxBytes: 0, keepOpen: true }), path).toBeUndefined();
    }
    expect(readdirSync('/proc/self/fd').length).toBe(before);
    for (const [folder, path] of [
      [join(root, 'gone'), 'a.json'],
      ['/dev', 'zero'],
    ] as const)
      expect(await readFile({ root: folder, path, maxBytes: MAX })).toBeUndefined();
  });

  it('follows a root that is a link', async () => {
    const [root, links] = [await emptyFolder(), await emptyFolder()];
    await publish(root, 'a.json', '{}');
    await symlink(root, join(links, 'first'));
    await symlink('first', join(links, 'second'));
    await publish(root, 'folder/b.json', '{}');
    for (const path of ['a.json', 'folder/b.json']) {
      const file = await readFile({ root: join(links, 'second'), path, maxBytes: MAX });
      expect(file).toMatchObject({ root: await realpath(root), size: 2 });
    }
  });

  it.each([
    ['br', brotliCompressSync],
    ['gzip', gzipSync],
  ] as const)(
    'has no digest of a form in %s that is cut, altered, longer, or of too much',
    async (coding, encode) => {
      const root = await emptyFolder();
      const content = Buffer.alloc(5_000, 'content ');
      const stream = encode(content);
      const digestOfForm = async (form: Buffer, maxBytes = 5_000): Promise<string | undefined> => {
        await publish(root, 'form', form);
        return (await readFile({ root, path: 'form', maxBytes: MAX, decode: { coding, maxBytes } }))?.digest;
      };
      const altered = Buffer.from(stream);
      altered[stream.length - 5] = (altered[stream.length - 5] ?? 0) ^ 1;
      expect(await digestOfForm(stream)).toBe(digestOf(content));
      expect(await digestOfForm(stream, 4_999)).toBeUndefined();
      // Of gzip, it is the checksum that is altered.
      const longer = ['garbage', Buffer.alloc(9)].map((more) => Buffer.concat([stream, Buffer.from(more)]));
      for (const form of [...longer, stream.subarray(0, -1), altered, Buffer.alloc(0)])
        expect(await digestOfForm(form)).not.toBe(digestOf(content));
    },
  );
});

it('readFile finds another identity after a replacement, and the same after a rename of its folder', async () => {
  const root = await emptyFolder();
  const identityOf = async (path: string) => (await readFile({ root, path, maxBytes: 0 }))?.identity;
  await publish(root, 'a/b', 'x');
  const first = await identityOf('a/b');
  await rename(join(root, 'a'), join(root, 'c'));
  expect(await identityOf('c/b')).toBe(first);
  await publish(root, 'c/b', 'y');
  expect(await identityOf('c/b')).not.toBe(first);
});

/** Whether a descriptor is that of a file below a test's folder. */
function isOpen(descriptor: number): boolean {
  try {
    return readlinkSync(`/proc/self/fd/${descriptor}`).includes('proxy-test-');
  } catch {
    return false;
  }
}

/** Calls of the file system that Node's threads have, or will have. */
const activeReads = (): number =>
  process.getActiveResourcesInfo().filter((name) => name.startsWith('FSReq')).length;

describe('readChunks', () => {
  const SIZE = 200_000;
  const CONTENT = Buffer.alloc(SIZE, '0123456789');

  async function opened(): Promise<{ root: string; descriptor: number }> {
    const root = await emptyFolder();
    await publish(root, 'large.csv', CONTENT);
    const descriptor = (await readFile({ root, path: 'large.csv', maxBytes: 0, keepOpen: true }))?.descriptor;
    if (descriptor === undefined) throw new Error('expected the file to be open');
    return { root, descriptor };
  }

  it.each([
    ['all of it', { first: 0, last: SIZE - 1 }],
    ['a part', { first: 7, last: 150_006 }],
    ['one byte', { first: SIZE - 1, last: SIZE - 1 }],
  ])('reads %s, and closes the file', async (_name, range) => {
    const { descriptor } = await opened();
    const chunks: Buffer[] = [];
    for await (const chunk of readChunks(descriptor, range)) chunks.push(chunk);
    expect(Buffer.concat(chunks).equals(CONTENT.subarray(range.first, range.last + 1))).toBe(true);
    await expect.poll(() => isOpen(descriptor)).toBe(false);
  });

  it('leaves half of Node’s threads to others, however many files are read', async () => {
    const files = await Promise.all(Array.from({ length: 20 }, opened));
    const streams = files.map(({ descriptor }) => readChunks(descriptor, { first: 0, last: SIZE - 1 }));
    const before = activeReads();
    const firsts = streams.map((stream) => stream.next());
    for (let microtask = 0; microtask < 10; microtask += 1) await Promise.resolve();
    expect(activeReads() - before).toBe(2);
    for (const { value } of await Promise.all(firsts)) expect(value?.length).toBe(64 * 1024);
    for (const stream of streams) await stream.return();
  });

  it('closes the file if the reader leaves', async () => {
    const { descriptor } = await opened();
    for await (const chunk of readChunks(descriptor, { first: 0, last: SIZE - 1 })) {
      expect(chunk.length).toBeLessThan(SIZE);
      break;
    }
    await expect.poll(() => isOpen(descriptor)).toBe(false);
  });

  it('throws if the file has become shorter than it was', async () => {
    const { root, descriptor } = await opened();
    await writeFile(join(root, 'large.csv'), 'short');
    const drain = async (): Promise<void> => {
      const chunks = readChunks(descriptor, { first: 0, last: SIZE - 1 });
      for await (const chunk of chunks) expect(chunk.length).toBeGreaterThan(0);
    };
    await expect(drain()).rejects.toThrow('the file has become 199995 bytes shorter');
    await expect.poll(() => isOpen(descriptor)).toBe(false);
  });
});
