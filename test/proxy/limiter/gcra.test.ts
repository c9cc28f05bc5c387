import { array, assert as check, double, integer, nat, property, record } from 'fast-check';
import { describe, expect, it } from 'vitest';

import { take, type Quota } from '../../../proxy/limiter/gcra.js';

/**
 * The textbook bucket: a level that rises with time, told in milliseconds of refill so that it stays an
 * integer.
 */
class NaiveBucket {
  #levelMs: number;
  #lastMs: number;
  readonly #quota: Quota;
  constructor(quota: Quota, nowMs: number) {
    this.#quota = quota;
    this.#levelMs = quota.tokens * quota.refillMs;
    this.#lastMs = nowMs;
  }
  take(nowMs: number): { allowed: boolean; remaining: number; nextTokenMs: number } {
    const { tokens, refillMs } = this.#quota;
    this.#levelMs = Math.min(tokens * refillMs, this.#levelMs + nowMs - this.#lastMs);
    this.#lastMs = nowMs;
    const allowed = this.#levelMs >= refillMs;
    if (allowed) this.#levelMs -= refillMs;
    const remaining = Math.floor(this.#levelMs / refillMs);
    return { allowed, remaining, nextTokenMs: (remaining + 1) * refillMs - this.#levelMs };
  }
}

const API: Quota = { tokens: 60, refillMs: 1000 };

describe('take', () => {
  it('refuses the request after the last token, and leaves what is remembered as it was', () => {
    let arrivalMs: number | undefined;
    for (let count = 1; count <= 60; count += 1) {
      const verdict = take(arrivalMs, 5_000, API);
      expect(verdict).toMatchObject({ allowed: true, used: count });
      ({ arrivalMs } = verdict);
    }
    const refused = take(arrivalMs, 5_000, API);
    expect(refused).toEqual({ allowed: false, used: 60, nextTokenMs: 1000, arrivalMs });
  });

  it('gives tokens back continuously, not at the end of a window', () => {
    const empty = 5_000 + 60 * 1000;
    expect(take(empty, 5_999, API)).toMatchObject({ allowed: false, nextTokenMs: 1 });
    expect(take(empty, 6_000, API)).toMatchObject({ allowed: true, used: 60 });
    expect(take(empty, 35_000, API)).toMatchObject({ allowed: true, used: 31 });
  });

  it('never holds more than its tokens, however long a client stays away', () => {
    expect(take(5_000, 9_000_000_000, API)).toMatchObject({ allowed: true, used: 1, nextTokenMs: 1000 });
  });

  it('agrees with a naive token bucket in decision, remaining tokens and waiting time, over 500,000 random steps', () => {
    let steps = 0;
    const quotas = record({
      tokens: integer({ min: 1, max: 100 }),
      refillMs: integer({ min: 1, max: 90_000 }),
    });
    const pauses = array(double({ min: 0, max: 1, noNaN: true }), { minLength: 1000, maxLength: 1000 });
    check(
      property(quotas, pauses, double({ min: 0.1, max: 3, noNaN: true }), (quota, shares, pace) => {
        let nowMs = 1_800_000_000_000;
        let arrivalMs: number | undefined;
        const naive = new NaiveBucket(quota, nowMs);
        for (const share of shares) {
          // Pauses around the refill time, so that the bucket is full, empty and in between.
          nowMs += Math.floor(share * pace * quota.refillMs);
          const expected = naive.take(nowMs);
          const verdict = take(arrivalMs, nowMs, quota);
          ({ arrivalMs } = verdict);
          steps += 1;
          const told = {
            allowed: verdict.allowed,
            remaining: quota.tokens - verdict.used,
            nextTokenMs: verdict.nextTokenMs,
          };
          // Not expect(): half a million of those take a minute.
          if (JSON.stringify(told) !== JSON.stringify(expected)) {
            throw new Error(`expected ${JSON.stringify(expected)}, got ${JSON.stringify(told)}`);
          }
        }
      }),
      { numRuns: 500 },
    );
    expect(steps).toBe(500_000);
  });

  it('lets a refused client pass after exactly the time it names, and not a millisecond before', () => {
    check(
      property(
        integer({ min: 1, max: 50 }),
        integer({ min: 1, max: 90_000 }),
        nat(200_000),
        (tokens, refillMs, late) => {
          const quota = { tokens, refillMs };
          const nowMs = 1_000_000 + Math.min(late, refillMs - 1);
          const refused = take(1_000_000 + tokens * refillMs, nowMs, quota);
          expect(refused.allowed).toBe(false);
          expect(take(refused.arrivalMs, nowMs + refused.nextTokenMs - 1, quota).allowed).toBe(false);
          expect(take(refused.arrivalMs, nowMs + refused.nextTokenMs, quota).allowed).toBe(true);
        },
      ),
    );
  });
});
