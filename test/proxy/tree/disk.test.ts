import { openSync } from 'node:fs';
import { describe, expect, it, onTestFinished, vi } from 'vitest';

import { errorCode } from '../../../proxy/log.js';
import { openDisk, readFile, type FileRead } from '../../../proxy/tree/read.js';
import { TimeoutError } from '../../../proxy/timeout.js';
import { emptyFolder, openFiles, publish } from '../support.js';

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
  return { disk, read, startedRead, running, finish };
}

/** What is published in so many rounds: each of another length and letter. */
const roundOf = (round: number): string => String.fromCharCode(97 + (round % 26)).repeat(10_000 + round);

describe('openDisk', () => {
  it('reads what readFile reads, and says of a failure its code', async () => {
    const root = await emptyFolder();
    await publish(root, 'empty', '');
    const { read } = openDisk();
    for (const path of ['empty', 'gone']) {
      const request = { root, path, maxBytes: MAX };
      expect(await read(request)).toEqual(await readFile(request));
    }
    const memory = read({ root: `/proc/${process.pid}`, path: 'mem', maxBytes: MAX });
    expect(errorCode(await memory.catch((error: unknown) => error))).toMatch(/^(?:EIO|EPERM)$/);
    const status = read({ root: '/proc/self', path: 'status', maxBytes: MAX });
    await expect(status).rejects.toThrow('read 1 bytes of a file of 0');
  });

  it('gives each of many reads its own result, whose bytes are nobody else’s', async () => {
    const root = await emptyFolder();
    for (let index = 0; index < 50; index += 1) await publish(root, String(index), `file ${index}`);
    const { read } = openDisk();
    const paths = Array.from({ length: 120 }, (_, index) => index % 60);
    const files = await Promise.all(
      paths.map(async (path) => {
        for (let turns = 0; turns < path % 4; turns += 1) await turn();
        return await read({ root, path: String(path), maxBytes: MAX });
      }),
    );
    const texts = files.map((file) => file && Buffer.from(file.bytes ?? []).toString());
    expect(texts).toEqual(paths.map((path) => (path < 50 ? `file ${path}` : undefined)));
    const [first, second] = [files[0], files[60]];
    first?.bytes?.fill(0);
    expect(second?.bytes?.toString()).toBe('file 0');
    // Nor is it a part of something larger that it would keep in memory.
    expect(first?.bytes?.buffer.byteLength).toBeLessThanOrEqual(7);
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
    while (digests.size < 20) {
      const { bytes, size, digest = '' } = { size: 0, ...(await read({ root, path: 'a', maxBytes: MAX })) };
      const text = Buffer.from(bytes ?? []).toString();
      expect([text, size]).toEqual([roundOf(text.length - 10_000), text.length]);
      // No digest is of two contents.
      expect(digests.get(digest) ?? text).toBe(text);
      digests.set(digest, text);
    }
    done.abort();
    await publishing;
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

  it('has the time that a read asks for, also while it waits for others', async () => {
    const { read, disk } = heldDisk();
    for (let count = 1; count < MOST_READS; count += 1) void read();
    const brief = () => disk.read({ root: '/', path: 'x', maxBytes: 0, timeoutMs: 250 });
    const [running, waiting] = [brief(), brief()];
    await turn();
    vi.advanceTimersByTime(250);
    for (const each of [running, waiting])
      await expect(each).rejects.toThrow('the disk did not answer within 250 ms');
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
    expect(openFiles('/dev')).toContain('zero');
    finish();
    await expect.poll(() => openFiles('/dev')).not.toContain('zero');
  });
});
