import { openSync, readdirSync, readlinkSync } from 'node:fs';
import { describe, expect, it, onTestFinished, vi } from 'vitest';

import { errorCode } from '../../../proxy/log.js';
import { openDisk, readFile, TimeoutError, type FileRead } from '../../../proxy/tree/read.js';
import { emptyFolder, publish } from '../support.js';

const MAX = 1_000_000;
const MOST_READS = 64;

/** A turn of the event loop, at whose end reads start. */
const turn = (): Promise<void> => new Promise(setImmediate);

/** A disk whose reads return when the test says so, and a clock that it moves. */
function heldDisk(file?: FileRead) {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
  onTestFinished(() => void vi.useRealTimers());
  const running: (() => void)[] = [];
  const disk = openDisk(() => new Promise((resolve) => running.push(() => resolve(file))));
  const read = (): Promise<FileRead | undefined> => disk.read({ root: '/', path: 'x', maxBytes: 0 });
  /** A read that has started. */
  const startedRead = async () => {
    const reading = read();
    // If it fails, the test looks later.
    reading.catch(() => undefined);
    await turn();
    return { reading };
  };
  const finish = (count = running.length): void => {
    for (const end of running.splice(0, count)) end();
  };
  return { read, startedRead, running, finish };
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
  it('reads what readFile reads, bytes and all, and says of a failure its code', async () => {
    const root = await emptyFolder();
    await publish(root, 'a.json', '{"a":1}');
    await publish(root, 'empty', '');
    const { read } = openDisk();
    for (const path of ['a.json', 'empty', 'gone']) {
      const request = { root, path, maxBytes: MAX };
      expect(await read(request)).toEqual(await readFile(request));
    }
    const failure: unknown = await read({ root: `/proc/${process.pid}`, path: 'mem', maxBytes: MAX }).catch(
      (error: unknown) => error,
    );
    expect(String(failure)).toMatch(/EIO|EPERM/);
    expect(errorCode(failure)).toMatch(/^(?:EIO|EPERM)$/);
    await expect(read({ root: '/proc/self', path: 'status', maxBytes: MAX })).rejects.toThrow(
      'read 1 bytes of a file of 0',
    );
    expect((await read({ root, path: 'a.json', maxBytes: MAX }))?.size).toBe(7);
  });

  it('gives each of many reads its own result, in whatever turn it was asked for', async () => {
    const root = await emptyFolder();
    for (let index = 0; index < 50; index += 1) await publish(root, String(index), `file ${index}`);
    const { read } = openDisk();
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
    const { read } = openDisk();
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
    const { read } = openDisk();
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
});

describe('openDisk: a slow disk', () => {
  it(`refuses nothing: ${MOST_READS} reads run at once, and time counts from the start of each`, async () => {
    const { read, running, finish } = heldDisk();
    const reads = Array.from({ length: 180 }, read);
    for (let left = reads.length; left > 0; left -= MOST_READS) {
      await turn();
      expect(running.length).toBe(Math.min(MOST_READS, left));
      vi.advanceTimersByTime(4_999);
      finish();
    }
    expect(await Promise.all(reads)).toEqual(reads.map(() => undefined));
  });

  it('has what arrived during a pause of the process', async () => {
    const { startedRead, finish } = heldDisk();
    const { reading } = await startedRead();
    vi.advanceTimersByTime(60_000);
    finish();
    expect(await reading).toBeUndefined();
  });
});

describe('openDisk: a disk that hangs', () => {
  it('fails each read that runs for 5 s', async () => {
    const { read, startedRead, running, finish } = heldDisk();
    const { reading: oldest } = await startedRead();
    vi.advanceTimersByTime(4_999);
    const younger = Array.from({ length: MOST_READS - 1 }, read);
    const behind = read();
    behind.catch(() => undefined);
    await turn();
    vi.advanceTimersByTime(1);
    await expect(oldest).rejects.toThrow('the disk did not answer within 5000 ms');
    const [hanging] = running.splice(0, 1);
    // Those that run have their own time, and let the next one start.
    finish();
    expect(await Promise.all(younger)).toEqual(younger.map(() => undefined));
    await turn();
    finish();
    expect(await behind).toBeUndefined();
    hanging?.();
  });

  it('fails what waits for 10 s, and not what waited less', async () => {
    const { read, finish } = heldDisk();
    const hanging = Array.from({ length: MOST_READS }, read);
    await turn();
    const waiting = read();
    await turn();
    vi.advanceTimersByTime(5_000);
    for (const each of hanging) await expect(each).rejects.toThrow(TimeoutError);
    const younger = read();
    await turn();
    vi.advanceTimersByTime(5_000);
    await expect(waiting).rejects.toThrow('the disk did not answer within 10000 ms');
    finish();
    await turn();
    finish();
    expect(await younger).toBeUndefined();
  });

  it('has the time that a read asks for', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
    onTestFinished(() => void vi.useRealTimers());
    const disk = openDisk(() => new Promise(() => undefined));
    const reading = disk.read({ root: '/', path: 'x', maxBytes: 0, timeoutMs: 250 });
    await turn();
    vi.advanceTimersByTime(250);
    await expect(reading).rejects.toThrow('the disk did not answer within 250 ms');
  });

  it('keeps the places of its reads until they return', async () => {
    const { read, running, finish } = heldDisk();
    const reads = Array.from({ length: MOST_READS }, read);
    await turn();
    vi.advanceTimersByTime(5_000);
    for (const each of reads) await expect(each).rejects.toThrow(TimeoutError);
    finish();
    await turn();
    const next = Array.from({ length: MOST_READS + 1 }, read);
    await turn();
    expect(running.length).toBe(MOST_READS);
    finish();
    await turn();
    finish();
    await Promise.all(next);
  });

  it('closes a file that was opened for a read it had given up', async () => {
    const state = { root: '/', identity: '', size: 0, modifiedMs: 0, changedMs: 0 };
    const file = { ...state, bytes: undefined, digest: undefined, descriptor: openSync('/dev/zero', 'r') };
    const { startedRead, finish } = heldDisk(file);
    const { reading } = await startedRead();
    vi.advanceTimersByTime(5_000);
    await expect(reading).rejects.toThrow(TimeoutError);
    expect(openFiles()).toContain('/dev/zero');
    finish();
    await expect.poll(() => openFiles().includes('/dev/zero')).toBe(false);
  });
});
