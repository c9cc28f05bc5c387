import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { describe, expect, it } from 'vitest';

import { LocalBuckets } from '../../../proxy/limiter/buckets.js';

const QUOTA = { burst: 3, emissionIntervalMs: 1000 };

function makeStore(maxClients = 100) {
  let nowMs = 1_800_000_000_000;
  const store = new LocalBuckets(QUOTA, () => nowMs, maxClients);
  /** Tokens in use after a request of each client, one after the other; 0 if refused. */
  const hits = (clients: string): number[] =>
    clients.split(' ').map((client) => {
      const { allowed, used } = store.take(client, 1);
      return allowed ? used : 0;
    });
  return { store, hits, advance: (ms: number) => void (nowMs += ms) };
}

describe('LocalBuckets in memory', () => {
  it('evicts the least recently seen client, refused or not, and counts evictions', () => {
    const { store, hits } = makeStore(3);
    hits('a a a a b b b b c c c c');
    // A refused client was seen as well: now b is the oldest.
    expect(hits('a d')).toEqual([0, 1]);
    expect([store.size, store.evictions]).toEqual([3, 1]);
    expect(hits('a c b')).toEqual([0, 0, 1]);
  });

  it('keeps no header in memory that a client’s address is a part of', () => {
    setFlagsFromString('--expose-gc');
    const { store } = makeStore(5_000);
    runInNewContext('gc()');
    const before = process.memoryUsage().heapUsed;
    for (let client = 0; client < 2_000; client += 1) {
      // As the parser of HTTP makes it: one flat string.
      const header = Buffer.from(`${'x'.repeat(15_000)}, 198.151.100.${1_000 + client}`).toString('latin1');
      store.take(header.slice(header.lastIndexOf(',') + 2), 1);
    }
    runInNewContext('gc()');
    // With slices it was 30 MB.
    expect(process.memoryUsage().heapUsed - before).toBeLessThan(3_000_000);
  });
});

it('LocalBuckets.quota gives everyone a full bucket when it changes, and changes nothing when it is the same', () => {
  const { store, hits } = makeStore();
  hits('a a a a');
  store.quota = { burst: 3, emissionIntervalMs: 1000 };
  expect(hits('a')).toEqual([0]);
  store.quota = { burst: 2, emissionIntervalMs: 1000 };
  expect(hits('a a a')).toEqual([1, 2, 0]);
});
