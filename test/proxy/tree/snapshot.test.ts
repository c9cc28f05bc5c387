import { link } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished, vi } from 'vitest';

import { Snapshots } from '../../../proxy/tree/snapshot.js';
import { emptyFolder, publishSnapshot, tree } from '../support.js';

const SERVING = 'snapshot 3, as of 2026-11-20T08:00:00Z';

/** Not started. */
function watch(root: string) {
  const log: string[] = [];
  const snapshots = new Snapshots(root, (line) => void log.push(line));
  onTestFinished(() => snapshots.stop());
  return { root, snapshots, log };
}

describe('Snapshots', () => {
  it('wait for the first snapshot, and look once a second', async () => {
    vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] });
    onTestFinished(() => void vi.useRealTimers());
    const { root, snapshots, log } = watch(await emptyFolder());
    snapshots.start();
    expect(snapshots.current).toBeUndefined();
    await publishSnapshot(root);
    vi.advanceTimersByTime(999);
    expect(snapshots.current).toBeUndefined();
    vi.advanceTimersByTime(1);
    expect(snapshots.current?.snapshot.sequence).toBe(3);
    expect(snapshots.isCurrent).toBe(true);
    expect(log).toEqual(['no snapshot.json: responding 503 until there is a good one', `serving ${SERVING}`]);
  });

  it('take a new file into service, and name a snapshot once', async () => {
    const { root, snapshots, log } = watch(await tree());
    snapshots.start();
    const version = snapshots.current?.version;
    // As a build without changes does, which renews its time.
    await link(join(root, 'snapshot.json'), join(root, 'previous.json'));
    snapshots.look();
    await publishSnapshot(root, { built_at: '2026-11-21T09:00:00Z' });
    snapshots.look();
    expect(snapshots.current?.snapshot.built_at).toBe('2026-11-21T09:00:00Z');
    expect(snapshots.current?.version).toBe(version);
    expect(log).toEqual([`serving ${SERVING}`]);
    await publishSnapshot(root, { sequence: 4 });
    snapshots.look();
    expect(snapshots.current?.version).not.toBe(version);
    expect(log.slice(1)).toEqual(['serving snapshot 4, as of 2026-11-20T08:00:00Z']);
  });
});
