import { execFileSync } from 'node:child_process';
import { readdirSync } from 'node:fs';
import { mkdir, symlink } from 'node:fs/promises';
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

/** Calls of the file system that Node's threads have, or will have. */
const activeReads = (): number =>
  process.getActiveResourcesInfo().filter((name) => name.startsWith('FSReq')).length;

it('readChunks leaves half of Node’s threads to others, however many files are read', async () => {
  const root = await emptyFolder();
  await publish(root, 'large.csv', Buffer.alloc(200_000));
  const request = { root, path: 'large.csv', maxBytes: 0, keepOpen: true };
  const files = await Promise.all(Array.from({ length: 20 }, () => readFile(request)));
  const streams = files.map((file) => readChunks(file?.descriptor ?? -1, { first: 0, last: 199_999 }));
  const before = activeReads();
  const firsts = streams.map((stream) => stream.next());
  for (let microtask = 0; microtask < 10; microtask += 1) await Promise.resolve();
  expect(activeReads() - before).toBe(2);
  for (const { value } of await Promise.all(firsts)) expect(value?.length).toBe(64 * 1024);
  for (const stream of streams) await stream.return();
});
