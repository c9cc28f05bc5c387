import { execFileSync } from 'node:child_process';
import { readdirSync, readlinkSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';

import { errorCode } from '../../../proxy/log.js';
import { TimeoutError } from '../../../proxy/timeout.js';
import { openDisk, type Disk } from '../../../proxy/tree/disk.js';
import { readNow } from '../../../proxy/tree/files.js';
import { emptyFolder, publish } from '../support.js';

/** Compiled, as it runs in service. */
const WORKER = new URL('../../../build/proxy/tree/disk-worker.js', import.meta.url);
const MAX = 1_000_000;

function disk(): Disk {
  const opened = openDisk(WORKER);
  onTestFinished(() => opened.close());
  return opened;
}

/** A disk that gives up after 100 ms, with a thread that blocks for half a second, as in a system call. */
function hangingDisk(on: string, file: string): Disk {
  const script = `import { openSync } from 'node:fs';
    import { parentPort } from 'node:worker_threads';
    parentPort.on('message', (batch) => {
      const results = batch.map(() => ({ file: ${file} }));
      if (batch.some(${on})) Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 500);
      parentPort.postMessage(results);
    });`;
  const opened = openDisk(new URL(`data:text/javascript,${encodeURIComponent(script)}`), 100);
  onTestFinished(() => opened.close());
  return opened;
}

/** What is published in so many rounds: each of another length and letter. */
function roundOf(round: number): string {
  return String.fromCharCode(97 + (round % 26)).repeat(10_000 + round);
}

/** What the descriptors of this process are open on. */
function openFiles(): string[] {
  return readdirSync('/proc/self/fd').flatMap((name) => {
    try {
      return [readlinkSync(`/proc/self/fd/${name}`)];
    } catch {
      return [];
    }
  });
}

describe('openDisk', () => {
  it('reads what readNow reads, bytes and all, and says of a failure its code', async () => {
    const root = await emptyFolder();
    await publish(root, 'a.json', '{"a":1}');
    await publish(root, 'empty', '');
    const { read } = disk();
    for (const path of ['a.json', 'empty', 'gone']) {
      const request = { root, path, maxBytes: MAX };
      const [file, now] = [await read(request), readNow(request)];
      expect(file && { ...file, bytes: Buffer.from(file.bytes ?? 'x') }).toEqual(
        now && { ...now, bytes: Buffer.from(now.bytes ?? 'x') },
      );
    }
    const failure: unknown = await read({ root: `/proc/${process.pid}`, path: 'mem', maxBytes: MAX }).catch(
      (error: unknown) => error,
    );
    expect(String(failure)).toMatch(/EIO|EPERM/);
    expect(errorCode(failure)).toMatch(/^(?:EIO|EPERM)$/);
    await expect(read({ root: '/proc/self', path: 'status', maxBytes: MAX })).rejects.toMatchObject({
      message: 'read 1 bytes of a file of 0',
      code: undefined,
    });
    // The thread lives on.
    expect((await read({ root, path: 'a.json', maxBytes: MAX }))?.size).toBe(7);
  });

  it('gives each of many reads its own result, in whatever turn it was asked for', async () => {
    const root = await emptyFolder();
    for (let index = 0; index < 50; index += 1) await publish(root, String(index), `file ${index}`);
    const { read } = disk();
    const contentOf = async (index: number): Promise<string> => {
      for (let turn = 0; turn < index % 4; turn += 1) await new Promise(setImmediate);
      const failing = { root: `/proc/${process.pid}`, path: 'mem', maxBytes: MAX };
      if (index % 7 === 6) return read(failing).then(String, () => 'error');
      const file = await read({ root, path: String(index), maxBytes: MAX });
      return file === undefined ? 'none' : Buffer.from(file.bytes ?? []).toString();
    };
    const indexes = [...Array.from({ length: 80 }).keys()];
    expect(await Promise.all(indexes.map(contentOf))).toEqual(
      indexes.map((index) => (index % 7 === 6 ? 'error' : index < 50 ? `file ${index}` : 'none')),
    );
  });

  it('hands over bytes that are nobody else’s', async () => {
    const root = await emptyFolder();
    await publish(root, 'a', 'aaaa');
    await publish(root, 'b', 'bbbb');
    const { read } = disk();
    const [a, b, again] = await Promise.all(
      ['a', 'b', 'a'].map((path) => read({ root, path, maxBytes: MAX })),
    );
    expect(new Set([a?.bytes?.buffer, b?.bytes?.buffer, again?.bytes?.buffer]).size).toBe(3);
    expect(a?.bytes?.buffer.byteLength).toBeLessThanOrEqual(5);
    a?.bytes?.fill(0);
    expect(Buffer.from(again?.bytes ?? []).toString()).toBe('aaaa');
  });

  it('reads a file that is replaced all the while whole, in one state or another', async () => {
    const root = await emptyFolder();
    await publish(root, 'a', roundOf(0));
    const { read } = disk();
    const done = new AbortController();
    const publishing = (async () => {
      for (let round = 1; !done.signal.aborted; round += 1) await publish(root, 'a', roundOf(round));
    })();
    const digests = new Map<string, string>();
    for (let count = 0; count < 200 || digests.size < 6; count += 1) {
      const file = await read({ root, path: 'a', maxBytes: MAX });
      const text = Buffer.from(file?.bytes ?? []).toString();
      if (text !== roundOf(text.length - 10_000) || file?.size !== text.length)
        throw new Error('a torn file');
      const known = digests.get(file.digest ?? '') ?? text;
      if (known !== text) throw new Error('one digest for two contents');
      digests.set(file.digest ?? '', text);
    }
    done.abort();
    await publishing;
    expect(digests.size).toBeGreaterThan(5);
  });

  it('gives up on reads of a disk that hangs, refuses others at once, and goes on when it answers', async () => {
    const hanging = hangingDisk('({ path }) => path === "hangs"', 'undefined');
    const read = (path: string) => hanging.read({ root: '/', path, maxBytes: 1 });
    // A busy machine may take longer to start the thread.
    await expect.poll(() => read('starts').catch((error: unknown) => error)).toBeUndefined();
    expect(hanging.isHanging).toBe(false);
    const first = read('hangs');
    await new Promise(setImmediate);
    const behind = read('behind');
    await expect(first).rejects.toThrow(TimeoutError);
    await expect(behind).rejects.toThrow(TimeoutError);
    expect(hanging.isHanging).toBe(true);
    await expect(read('at once')).rejects.toThrow(TimeoutError);
    await expect.poll(() => hanging.isHanging).toBe(false);
    expect(await read('again')).toBeUndefined();
  });

  it('closes a file that was opened for a read it had given up', async () => {
    const slow = hangingDisk('() => true', '{ descriptor: openSync("/dev/zero") }');
    const opening = slow.read({ root: '/', path: 'x', maxBytes: 0, keepOpen: true });
    await expect(opening).rejects.toThrow(TimeoutError);
    // A busy machine may take longer to start the thread.
    await expect.poll(() => slow.isHanging, { timeout: 10_000 }).toBe(false);
    await expect.poll(() => openFiles().includes('/dev/zero')).toBe(false);
  });

  it('lets the process end once it is closed', async () => {
    const root = await emptyFolder();
    await writeFile(
      join(root, 'main.mjs'),
      `const { openDisk } = await import(${JSON.stringify(new URL('disk.js', WORKER).href)});
      const disk = openDisk(new URL(${JSON.stringify(WORKER.href)}));
      await disk.read({ root: '/', path: 'nothing-here', maxBytes: 1 });
      await disk.close();
      console.log('closed');`,
    );
    const output = execFileSync(process.execPath, [join(root, 'main.mjs')], { timeout: 20_000 });
    expect(output.toString()).toBe('closed\n');
  });
});
