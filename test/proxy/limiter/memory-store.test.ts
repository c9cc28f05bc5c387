import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { describe, expect, it } from 'vitest';

import { keyOf, MemoryStore, parseKey } from '../../../proxy/limiter/memory-store.js';

const QUOTA = { burst: 3, emissionIntervalMs: 1000 };

function makeStore(maxClients = 100): {
  store: MemoryStore;
  advance: (ms: number) => void;
  now: () => number;
} {
  let nowMs = 1_800_000_000_000;
  const store = new MemoryStore({ quota: QUOTA, maxClients, clock: () => nowMs });
  return { store, advance: (ms) => void (nowMs += ms), now: () => nowMs };
}

function collect(): void {
  runInNewContext('gc()');
}

function hits(store: MemoryStore, key: string): number {
  return store.increment(key).totalHits;
}

describe('keyOf and parseKey', () => {
  it('carry the cost with the client', () => {
    expect(keyOf('192.0.2.7', 1)).toBe('192.0.2.7');
    expect(keyOf('198.51.100.7', 0.25)).toBe('198.51.100.7@0.25');
    for (const client of ['2001:db8::/56', '192.0.2.7', '']) {
      for (const cost of [1, 0.01, 1 / 3, 1e-9]) {
        expect(parseKey(keyOf(client, cost))).toEqual({ client, cost });
      }
    }
    expect(parseKey('192.0.2.7@1')).toEqual({ client: '192.0.2.7', cost: 1 });
  });

  it.each(['a@', 'a@0', 'a@-1', 'a@1.5', 'a@x', 'a@NaN'])('refuse %s', (key) => {
    expect(() => parseKey(key)).toThrow(RangeError);
  });
});

describe('MemoryStore.increment', () => {
  it('returns limit + 1 for a refusal, again and again, and takes nothing', () => {
    const { store, advance } = makeStore();
    expect([1, 2, 3, 4, 5, 6].map(() => hits(store, 'a'))).toEqual([1, 2, 3, 4, 4, 4]);
    advance(1000);
    expect([1, 2].map(() => hits(store, 'a'))).toEqual([3, 4]);
  });

  it('counts tokens in use as an integer of at least 1, also between two refills', () => {
    const { store, advance } = makeStore();
    hits(store, 'a');
    advance(400);
    expect(hits(store, 'a')).toBe(2);
    advance(10_000);
    expect(hits(store, 'a')).toBe(1);
  });

  it('takes the cost that the key names, from the bucket of the client', () => {
    const { store } = makeStore();
    expect([1, 2, 3, 4].map(() => hits(store, 'a@0.25'))).toEqual([1, 1, 1, 1]);
    expect([1, 2, 3].map(() => hits(store, 'a'))).toEqual([2, 3, 4]);
    expect(store.size).toBe(1);
  });

  it('sets resetTime to now plus whole seconds until the next token', () => {
    const { store, advance, now } = makeStore();
    for (let count = 0; count < 3; count += 1) store.increment('a');
    advance(300);
    expect(store.increment('a').resetTime?.getTime()).toBe(now() + 1000);
    advance(699);
    expect(store.increment('a').resetTime?.getTime()).toBe(now() + 1000);
    advance(1);
    expect(hits(store, 'a')).toBe(3);
  });

  it('keeps clients apart', () => {
    const { store } = makeStore();
    for (let count = 0; count < 4; count += 1) store.increment('a');
    expect(hits(store, 'b')).toBe(1);
  });
});

describe('MemoryStore memory', () => {
  it('evicts the least recently seen client, refused or not, and counts evictions', () => {
    const { store } = makeStore(3);
    for (const key of ['a', 'b', 'c']) for (let count = 0; count < 4; count += 1) store.increment(key);
    // A refused client was seen as well: now b is the oldest.
    expect(hits(store, 'a')).toBe(4);
    expect(hits(store, 'd')).toBe(1);
    expect(store.size).toBe(3);
    expect(store.evictions).toBe(1);
    expect(hits(store, 'a')).toBe(4);
    expect(hits(store, 'c')).toBe(4);
    expect(hits(store, 'b')).toBe(1);
  });

  it('does not count the eviction of a bucket that was full again', () => {
    const { store, advance } = makeStore(3);
    for (const key of ['a', 'b', 'c']) store.increment(key);
    advance(60_000);
    hits(store, 'd');
    expect(store.size).toBe(3);
    expect(store.evictions).toBe(0);
  });

  it('counts the eviction of a bucket until the millisecond in which it is full', () => {
    for (const [ms, evictions] of [
      [999, 1],
      [1000, 0],
    ] as const) {
      const { store, advance } = makeStore(1);
      store.increment('a');
      advance(ms);
      store.increment('b');
      expect(store.evictions).toBe(evictions);
    }
  });

  it('stays bounded and quick under 300,000 clients', () => {
    const { store } = makeStore(100_000);
    const startedMs = performance.now();
    for (let client = 0; client < 300_000; client += 1)
      store.increment(`10.${client >> 16}.${client >> 8}.${client}`);
    expect(performance.now() - startedMs).toBeLessThan(5_000);
    expect(store.size).toBe(100_000);
    expect(store.evictions).toBe(200_000);
  });

  it('keeps no header in memory that a client’s address is a part of', () => {
    setFlagsFromString('--expose-gc');
    const { store } = makeStore(5_000);
    collect();
    const before = process.memoryUsage().heapUsed;
    for (let client = 0; client < 2_000; client += 1) {
      // As the parser of HTTP makes it: one flat string.
      const header = Buffer.from(`${'x'.repeat(15_000)}, 198.151.100.${1_000 + client}`).toString('latin1');
      store.increment(header.slice(header.lastIndexOf(',') + 2));
    }
    collect();
    // With slices it was 30 MB.
    expect(process.memoryUsage().heapUsed - before).toBeLessThan(3_000_000);
  });
});

describe('MemoryStore.quota', () => {
  it('starts everyone with a full bucket when it changes, and changes nothing when it is the same', () => {
    const { store } = makeStore();
    for (let count = 0; count < 4; count += 1) store.increment('a');
    store.quota = { burst: 3, emissionIntervalMs: 1000 };
    expect(hits(store, 'a')).toBe(4);
    store.quota = { burst: 2, emissionIntervalMs: 1000 };
    expect([1, 2, 3].map(() => hits(store, 'a'))).toEqual([1, 2, 3]);
    expect(hits(store, 'a')).toBe(3);
    store.quota = { burst: 2, emissionIntervalMs: 2000 };
    expect(store.quota).toEqual({ burst: 2, emissionIntervalMs: 2000 });
    expect(hits(store, 'a')).toBe(1);
    expect(store.evictions).toBe(0);
  });
});

describe('MemoryStore.decrement and resetKey', () => {
  it('give back one token, a part of one, or all', () => {
    const { store, advance, now } = makeStore();
    for (let count = 0; count < 4; count += 1) store.increment('a');
    store.decrement('a');
    expect([1, 2].map(() => hits(store, 'a'))).toEqual([3, 4]);
    store.decrement('a@0.25');
    advance(500);
    expect(store.increment('a').resetTime?.getTime()).toBe(now() + 1000);
    advance(250);
    expect(hits(store, 'a')).toBe(3);
    store.resetKey('a');
    expect(hits(store, 'a')).toBe(1);
    store.decrement('unknown');
    expect(store.size).toBe(1);
  });
});
