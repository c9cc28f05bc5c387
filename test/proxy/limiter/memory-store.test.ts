import { describe, expect, it } from 'vitest';

import { MemoryStore } from '../../../proxy/limiter/memory-store.js';

const QUOTA = { tokens: 3, refillMs: 1000 };

function makeStore(maximumClients = 100): {
  store: MemoryStore;
  advance: (ms: number) => void;
  now: () => number;
} {
  let nowMs = 1_800_000_000_000;
  const store = new MemoryStore({ quota: QUOTA, maximumClients, clock: () => nowMs });
  return { store, advance: (ms) => void (nowMs += ms), now: () => nowMs };
}

function hits(store: MemoryStore, key: string): number {
  return store.increment(key).totalHits;
}

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

function makePair(
  api: number,
  download: number,
): { api: MemoryStore; download: MemoryStore; now: () => number } {
  const nowMs = 1_800_000_000_000;
  const clock = (): number => nowMs;
  const apiStore = new MemoryStore({ quota: { tokens: api, refillMs: 1000 }, maximumClients: 9, clock });
  const quota = { tokens: download, refillMs: 60_000 };
  return {
    api: apiStore,
    download: new MemoryStore({ quota, maximumClients: 9, clock, alsoFrom: apiStore }),
    now: clock,
  };
}

describe('MemoryStore with a second bucket', () => {
  it('takes nothing from the second if the first refuses', () => {
    const { api, download } = makePair(5, 2);
    expect([1, 2, 3, 4].map(() => hits(download, 'a'))).toEqual([1, 2, 3, 3]);
    expect(hits(api, 'a')).toBe(3);
  });

  it('takes nothing from the first if the second refuses, and waits for the second only', () => {
    const { api, download, now } = makePair(2, 9);
    hits(api, 'a');
    hits(api, 'a');
    const refused = download.increment('a');
    expect(refused.totalHits).toBe(10);
    expect(refused.resetTime?.getTime()).toBe(now() + 1000);
    // With the API bucket out of the way, the download bucket shows what it has spent.
    api.follow({ tokens: 100, refillMs: 1000 });
    expect(hits(download, 'a')).toBe(1);
  });

  it('waits for the later of the two if both refuse', () => {
    const { api, download, now } = makePair(1, 1);
    hits(download, 'a');
    expect(hits(api, 'a')).toBe(2);
    expect(download.increment('a').resetTime?.getTime()).toBe(now() + 60_000);
  });

  it('does not forget a client in the middle of being refused', () => {
    const { api, download } = makePair(99, 1);
    for (const key of ['a', 'b', 'c', 'd', 'e', 'f', 'g', 'h', 'i']) hits(download, key);
    expect(hits(download, 'a')).toBe(2);
    expect(hits(download, 'j')).toBe(1);
    expect(hits(download, 'a')).toBe(2);
    expect(hits(download, 'b')).toBe(1);
    expect([api.size, download.size]).toEqual([9, 9]);
  });

  it('tells the scarcer of the two as what is left', () => {
    const { api, download } = makePair(4, 9);
    hits(api, 'a');
    // The API bucket has 2 left after this one, so of the 9 downloads 7 count as used.
    expect(hits(download, 'a')).toBe(7);
  });
});

describe('MemoryStore memory', () => {
  it('never remembers more clients than it may, forgets the least recently seen, and counts those it forgave', () => {
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

  it('does not count as forgiven whose bucket was full again', () => {
    const { store, advance } = makeStore(3);
    for (const key of ['a', 'b', 'c']) store.increment(key);
    advance(60_000);
    hits(store, 'd');
    expect(store.size).toBe(3);
    expect(store.evictions).toBe(0);
  });

  it('stays bounded and quick under 300,000 distinct clients', () => {
    const { store } = makeStore(100_000);
    const startedMs = performance.now();
    for (let client = 0; client < 300_000; client += 1)
      store.increment(`10.${client >> 16}.${client >> 8}.${client}`);
    // 1 us each; with a fresh search for the oldest key it took 40.
    expect(performance.now() - startedMs).toBeLessThan(5_000);
    expect(store.size).toBeLessThanOrEqual(100_000);
    expect(store.size).toBeGreaterThan(98_000);
    expect(store.evictions).toBe(300_000 - store.size);
  });
});

describe('MemoryStore.follow', () => {
  it('starts everyone afresh under a changed quota, and leaves them alone under the same', () => {
    const { store } = makeStore();
    for (let count = 0; count < 4; count += 1) store.increment('a');
    store.follow({ tokens: 3, refillMs: 1000 });
    expect(hits(store, 'a')).toBe(4);
    store.follow({ tokens: 2, refillMs: 1000 });
    expect([1, 2, 3].map(() => hits(store, 'a'))).toEqual([1, 2, 3]);
    expect(hits(store, 'a')).toBe(3);
  });
});

describe('MemoryStore.decrement and resetKey', () => {
  it('give back one token, and all of them', () => {
    const { store } = makeStore();
    for (let count = 0; count < 4; count += 1) store.increment('a');
    store.decrement('a');
    expect([1, 2].map(() => hits(store, 'a'))).toEqual([3, 4]);
    store.resetKey('a');
    expect(hits(store, 'a')).toBe(1);
  });
});
