import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { describe, expect, it } from 'vitest';

import { formatKey, MemoryStore, parseKey } from '../../../proxy/limiter/buckets.js';

const QUOTA = { burst: 3, emissionIntervalMs: 1000 };

function makeStore(maxClients = 100) {
  let nowMs = 1_800_000_000_000;
  const store = new MemoryStore(QUOTA, () => nowMs, maxClients);
  /** The hits of some requests, one after the other. */
  const hits = (keys: string): number[] => keys.split(' ').map((key) => store.increment(key).totalHits);
  return { store, hits, advance: (ms: number) => void (nowMs += ms), now: () => nowMs };
}

it('formatKey and parseKey carry the cost with the client', () => {
  expect([formatKey('192.0.2.7', 1), formatKey('192.0.2.7', 0.25)]).toEqual(['192.0.2.7', '192.0.2.7@0.25']);
  for (const cost of [1, 0.01, 1 / 3, 1e-9])
    expect(parseKey(formatKey('2001:db8::/56', cost))).toEqual({ client: '2001:db8::/56', cost });
});

describe('MemoryStore.increment', () => {
  it('returns limit + 1 for a refusal, again and again, and takes nothing; clients are apart', () => {
    const { hits, advance } = makeStore();
    expect(hits('a a a a a a b')).toEqual([1, 2, 3, 4, 4, 4, 1]);
    advance(1000);
    expect(hits('a a')).toEqual([3, 4]);
  });

  it('takes the cost that the key names, from the bucket of the client', () => {
    const { store, hits } = makeStore();
    expect(hits('a@0.25 a@0.25 a@0.25 a@0.25 a a a')).toEqual([1, 1, 1, 1, 2, 3, 4]);
    expect(store.size).toBe(1);
  });

  it('sets resetTime to now plus whole seconds until the next token', () => {
    const { store, hits, advance, now } = makeStore();
    hits('a a a');
    for (const ms of [300, 699]) {
      advance(ms);
      expect(store.increment('a').resetTime?.getTime()).toBe(now() + 1000);
    }
    advance(1);
    expect(hits('a')).toEqual([3]);
  });
});

describe('MemoryStore memory', () => {
  it('evicts the least recently seen client, refused or not, and counts evictions', () => {
    const { store, hits } = makeStore(3);
    hits('a a a a b b b b c c c c');
    // A refused client was seen as well: now b is the oldest.
    expect(hits('a d')).toEqual([4, 1]);
    expect([store.size, store.evictions]).toEqual([3, 1]);
    expect(hits('a c b')).toEqual([4, 4, 1]);
  });

  it('counts the eviction of a bucket until the millisecond in which it is full', () => {
    const { store, hits, advance } = makeStore(1);
    for (const [client, ms, evictions] of ['a 0 0', 'b 999 1', 'c 1000 1'].map((row) => row.split(' '))) {
      advance(Number(ms));
      hits(client ?? '');
      expect([store.size, store.evictions]).toEqual([1, Number(evictions)]);
    }
  });

  it('keeps no header in memory that a client’s address is a part of', () => {
    setFlagsFromString('--expose-gc');
    const { store } = makeStore(5_000);
    runInNewContext('gc()');
    const before = process.memoryUsage().heapUsed;
    for (let client = 0; client < 2_000; client += 1) {
      // As the parser of HTTP makes it: one flat string.
      const header = Buffer.from(`${'x'.repeat(15_000)}, 198.151.100.${1_000 + client}`).toString('latin1');
      store.increment(header.slice(header.lastIndexOf(',') + 2));
    }
    runInNewContext('gc()');
    // With slices it was 30 MB.
    expect(process.memoryUsage().heapUsed - before).toBeLessThan(3_000_000);
  });
});

it('MemoryStore.quota gives everyone a full bucket when it changes, and changes nothing when it is the same', () => {
  const { store, hits } = makeStore();
  hits('a a a a');
  store.quota = { burst: 3, emissionIntervalMs: 1000 };
  expect(hits('a')).toEqual([4]);
  store.quota = { burst: 2, emissionIntervalMs: 1000 };
  expect(hits('a a a a')).toEqual([1, 2, 3, 3]);
  store.quota = { burst: 2, emissionIntervalMs: 2000 };
  expect(store.quota).toEqual({ burst: 2, emissionIntervalMs: 2000 });
  expect(hits('a')).toEqual([1]);
  expect(store.evictions).toBe(0);
});

it('MemoryStore.decrement and resetKey give back one token, a part of one, or all', () => {
  const { store, hits, advance, now } = makeStore();
  hits('a a a a');
  store.decrement('a');
  expect(hits('a a')).toEqual([3, 4]);
  store.decrement('a@0.25');
  advance(500);
  expect(store.increment('a').resetTime?.getTime()).toBe(now() + 1000);
  advance(250);
  expect(hits('a')).toEqual([3]);
  store.resetKey('a');
  expect(hits('a')).toEqual([1]);
  store.decrement('unknown');
  expect(store.size).toBe(1);
});
