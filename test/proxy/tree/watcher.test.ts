import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';

import { SnapshotFollower } from '../../proxy/follower.js';
import { emptyFolder, publish, publishSnapshot } from './support.js';

async function makeFollower(): Promise<{
  root: string;
  follower: SnapshotFollower;
  log: string[];
  nextLook: () => Promise<void>;
}> {
  const root = await emptyFolder();
  const log: string[] = [];
  let nowMs = 1_000_000;
  const follower = new SnapshotFollower(root, { clock: () => nowMs, log: (line) => void log.push(line) });
  const nextLook = async (): Promise<void> => {
    nowMs += 1_000;
    await follower.refresh();
  };
  return { root, follower, log, nextLook };
}

describe('SnapshotFollower.start', () => {
  it('throws for a tree it can not serve', async () => {
    const { root, follower } = await makeFollower();
    await publishSnapshot(root, { format: 2 });
    await expect(follower.start()).rejects.toThrow('tree is of format 2, this proxy reads format 1');
  });

  it('waits if there is no snapshot, and says so', async () => {
    const { follower, log } = await makeFollower();
    await follower.start();
    expect(follower.snapshot).toBeUndefined();
    expect(log).toEqual(['no snapshot.json: answering 503 until there is a good one']);
  });
});

describe('SnapshotFollower.refresh', () => {
  it('looks once a second at most, and only when asked', async () => {
    let nowMs = 0;
    const follower = new SnapshotFollower(await emptyFolder(), { clock: () => nowMs, log: () => undefined });
    await follower.start();
    nowMs = 999;
    expect(follower.refresh()).toBeUndefined();
    nowMs = 1_000;
    const looking = follower.refresh();
    expect(looking).toBeInstanceOf(Promise);
    // Whoever comes while it looks waits for the same look.
    expect(follower.refresh()).toBe(looking);
    await looking;
    expect(follower.refresh()).toBeUndefined();
  });

  it('takes the first snapshot into service when it appears', async () => {
    const { root, follower, log, nextLook } = await makeFollower();
    await follower.start();
    await publishSnapshot(root);
    await nextLook();
    expect(follower.snapshot?.sequence).toBe(3);
    expect(log.at(-1)).toBe('serving snapshot 3, as of 2026-11-20T08:00:00Z');
  });

  it('counts a generation for each new file, and none for the same one', async () => {
    const { root, follower, nextLook } = await makeFollower();
    await publishSnapshot(root);
    await follower.start();
    const { generation } = follower;
    await nextLook();
    expect(follower.generation).toBe(generation);
    // The same bytes again, as a publisher may write them: files beside it may have changed.
    await publishSnapshot(root);
    await nextLook();
    expect(follower.generation).toBe(generation + 1);
  });

  it.each([
    ['of a newer format', '{"format":2}', 'tree is of format 2, this proxy reads format 1'],
    ['cut short', '{"format":1,', 'snapshot.json is no JSON'],
  ])(
    'keeps the last good snapshot when the new one is %s, and says so once for each broken file',
    async (_name, text, message) => {
      const { root, follower, log, nextLook } = await makeFollower();
      await publishSnapshot(root);
      await follower.start();
      await publish(root, 'snapshot.json', text);
      for (let count = 0; count < 3; count += 1) await nextLook();
      expect(follower.snapshot?.sequence).toBe(3);
      const complaint = `${message}: still serving snapshot 3, as of 2026-11-20T08:00:00Z`;
      expect(log.slice(1)).toEqual([complaint]);
      await publish(root, 'snapshot.json', text);
      for (let count = 0; count < 3; count += 1) await nextLook();
      expect(log.slice(1)).toEqual([complaint, complaint]);
      await publishSnapshot(root, { sequence: 4 });
      await nextLook();
      expect(follower.snapshot?.sequence).toBe(4);
    },
  );

  it('keeps the last good snapshot when the file is gone, and says so once', async () => {
    const { root, follower, log, nextLook } = await makeFollower();
    await publishSnapshot(root);
    await follower.start();
    await rm(join(root, 'snapshot.json'));
    for (let count = 0; count < 3; count += 1) await nextLook();
    expect(follower.snapshot?.sequence).toBe(3);
    expect(log.slice(1)).toEqual(['no snapshot.json: still serving snapshot 3, as of 2026-11-20T08:00:00Z']);
  });
});
