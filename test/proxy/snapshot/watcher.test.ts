import { link } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished, vi } from 'vitest';

import type { QuotaOverrides } from '../../../proxy/snapshot/active.js';
import { SnapshotWatcher } from '../../../proxy/snapshot/watcher.js';
import type { Disk } from '../../../proxy/tree/read.js';
import { TimeoutError } from '../../../proxy/timeout.js';
import { containing } from '../../support/values.js';
import {
  controlledDisk,
  emptyFolder,
  inService,
  INLINE_DISK,
  publish,
  publishSnapshot,
  tree,
} from '../support.js';

const NO_OVERRIDES: QuotaOverrides = { api: {}, download: {}, page: {} };

function watch(root: string, { disk = INLINE_DISK, overrides = NO_OVERRIDES } = {}) {
  const log: string[] = [];
  const watcher = new SnapshotWatcher(root, overrides, disk, { log: (line) => void log.push(line) });
  onTestFinished(() => watcher.stop());
  return { root, watcher, log };
}

/** Watches a folder with a snapshot. */
const started = async (disk = INLINE_DISK) => {
  const watching = watch(await tree(), { disk });
  await watching.watcher.start();
  return watching;
};

/** Each read of snapshot.json waits until it is let go. */
function heldDisk() {
  const waiting: (() => Promise<unknown>)[] = [];
  let count = 0;
  const read: Disk['read'] = (request) => {
    if (request.path !== 'snapshot.json') return INLINE_DISK.read(request);
    count += 1;
    return new Promise((settle, reject) => {
      waiting.push(() => INLINE_DISK.read(request).then(settle, reject));
    });
  };
  const letGo = (): Promise<unknown> => Promise.all(waiting.splice(0).map((each) => each()));
  return { disk: { read }, letGo, reads: () => count };
}

describe('SnapshotWatcher.start', () => {
  it('waits for a disk that hangs, and throws its failures', async () => {
    const { disk, interfere } = controlledDisk();
    const { watcher, log } = watch(await tree(), { disk });
    interfere(() => Promise.reject(Object.assign(new Error('i/o error'), { code: 'EIO' })));
    await expect(watcher.start()).rejects.toThrow('i/o error');
    interfere(() => Promise.reject(new TimeoutError('the disk did not answer within 5000 ms')));
    await watcher.start();
    expect([watcher.active, watcher.isPresent, watcher.isReadable]).toEqual([undefined, false, false]);
    expect(log).toEqual([
      "snapshot.json can't be read (TimeoutError: the disk did not answer within 5000 ms): " +
        'responding 503 until there is a good one',
    ]);
    interfere(undefined);
    await watcher.poll();
    expect([watcher.active?.snapshot.sequence, watcher.isReadable]).toEqual([3, true]);
  });

  it('looks once a second from then on, and not while a look is under way', async () => {
    const root = await tree();
    vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] });
    onTestFinished(() => void vi.useRealTimers());
    const { disk, letGo, reads } = heldDisk();
    const { watcher } = watch(root, { disk });
    const started = watcher.start();
    await letGo();
    await started;
    vi.advanceTimersByTime(999);
    expect(reads()).toBe(1);
    vi.advanceTimersByTime(1);
    expect(reads()).toBe(2);
    vi.advanceTimersByTime(10_000);
    expect(reads()).toBe(2);
    await letGo();
    await new Promise(setImmediate);
    const before = reads();
    vi.advanceTimersByTime(1_000);
    expect(reads()).toBe(before + 1);
    watcher.stop();
    await letGo();
    await new Promise(setImmediate);
    vi.advanceTimersByTime(5_000);
    expect(reads()).toBe(before + 1);
  });
});

describe('SnapshotWatcher.poll', () => {
  it('settles after a look that began after the call, and shares it', async () => {
    const root = await tree();
    const { disk, letGo, reads } = heldDisk();
    const { watcher } = watch(root, { disk });
    const started = watcher.start();
    await letGo();
    await started;
    const first = watcher.poll();
    expect(reads()).toBe(2);
    // This look may have begun before the caller saw what it wants confirmed.
    const second = watcher.poll();
    expect(watcher.poll()).toBe(second);
    await letGo();
    await first;
    await new Promise(setImmediate);
    expect(reads()).toBe(3);
    await letGo();
    await second;
    expect(reads()).toBe(3);
  });

  it('counts an epoch for each new file, and none for the same one, and names a snapshot once', async () => {
    const { root, watcher, log } = await started();
    const { epoch } = inService(watcher);
    await watcher.poll();
    expect(watcher.active?.epoch).toBe(epoch);
    // As a build does, which keeps the snapshot before its own; and as a build without changes does.
    await link(join(root, 'snapshot.json'), join(root, 'previous.json'));
    await watcher.poll();
    await publishSnapshot(root);
    await watcher.poll();
    expect(watcher.active?.epoch).toBe(epoch + 2);
    expect(log).toEqual(['serving snapshot 3, as of 2026-11-20T08:00:00Z']);
    await publishSnapshot(root, { sequence: 4 });
    await watcher.poll();
    expect(log.slice(1)).toEqual(['serving snapshot 4, as of 2026-11-20T08:00:00Z']);
  });

  it('says which limits differ from the published ones when the first snapshot appears, and once', async () => {
    const overrides = { api: { burst: 5 }, download: {}, page: { emissionIntervalMs: 3 } };
    const { root, watcher, log } = watch(await emptyFolder(), { overrides });
    await watcher.start();
    for (const sequence of [3, 4]) {
      await publishSnapshot(root, { sequence });
      await watcher.poll();
    }
    expect(log).toEqual([
      'no snapshot.json: responding 503 until there is a good one',
      'serving snapshot 3, as of 2026-11-20T08:00:00Z',
      'limits set by hand: api 5, one back in 1 s; download 12, one back in 60 s; page 240, one back in 0.003 s; ' +
        'the published texts say api 60, one back in 1 s; download 12, one back in 60 s; page 240, one back in 0.25 s',
      'serving snapshot 4, as of 2026-11-20T08:00:00Z',
    ]);
    expect(watcher.active?.quotas).toEqual({
      api: { burst: 5, emissionIntervalMs: 1_000 },
      download: { burst: 12, emissionIntervalMs: 60_000 },
      page: { burst: 240, emissionIntervalMs: 3 },
    });
  });

  it('keeps the last good snapshot when the new one is broken, and says so once for each broken file', async () => {
    const { root, watcher, log } = await started();
    const { document } = inService(watcher);
    const complaint = 'snapshot.json is not JSON (see verify --repair): still serving snapshot 3, as of';
    for (const times of [1, 2]) {
      await publish(root, 'snapshot.json', '{"format":5,');
      for (let count = 0; count < 3; count += 1) await watcher.poll();
      expect(watcher.active?.document).toBe(document);
      expect([watcher.isPresent, watcher.isReadable]).toEqual([true, false]);
      expect(log.slice(1)).toEqual(Array.from({ length: times }, () => containing(complaint)));
    }
    await publishSnapshot(root, { sequence: 4 });
    await watcher.poll();
    expect([watcher.active?.snapshot.sequence, watcher.isReadable]).toEqual([4, true]);
  });

  it('keeps the last good snapshot when the disk fails, and says with which error', async () => {
    const { disk, interfere } = controlledDisk();
    const { watcher, log } = await started(disk);
    interfere(() => Promise.reject(Object.assign(new Error('stale handle'), { code: 'ESTALE' })));
    for (let count = 0; count < 3; count += 1) await watcher.poll();
    const serving = 'still serving snapshot 3, as of 2026-11-20T08:00:00Z';
    expect(log.slice(1)).toEqual([`snapshot.json can't be read (ESTALE): ${serving}`]);
    expect(watcher.isReadable).toBe(false);
  });
});
