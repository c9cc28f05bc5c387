import { array, assert as check, double, integer, nat, property, record } from 'fast-check';
import { describe, expect, it } from 'vitest';

import { infoOf } from '../../../proxy/limiter/client-info.js';
import { jointly, take, type Outcome, type Quota, type Verdict } from '../../../proxy/limiter/gcra.js';

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
  take(nowMs: number): { allowed: boolean; remaining: number; nextTokenMs: number; retryAfter: number } {
    const { tokens, refillMs } = this.#quota;
    this.#levelMs = Math.min(tokens * refillMs, this.#levelMs + nowMs - this.#lastMs);
    this.#lastMs = nowMs;
    const allowed = this.#levelMs >= refillMs;
    if (allowed) this.#levelMs -= refillMs;
    const remaining = Math.floor(this.#levelMs / refillMs);
    const nextTokenMs = (remaining + 1) * refillMs - this.#levelMs;
    return { allowed, remaining, nextTokenMs, retryAfter: Math.ceil(nextTokenMs / 1000) };
  }
}

/** The long run: `GCRA_STEPS=1000000 npx vitest run --config test/vitest.config.ts gcra`. */
const STEPS = Number(process.env.GCRA_STEPS ?? 50_000);

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

  it(`agrees with a naive token bucket in decision, remaining tokens and Retry-After, over ${STEPS} random steps`, () => {
    const counts = { steps: 0, allowed: 0, refused: 0, full: 0 };
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
          // One in ten comes at once, one in a hundred after so long that the bucket is full, the others
          // around the refill time.
          const isLong = share > 0.99;
          nowMs += Math.floor(
            share < 0.1 ? 0 : isLong ? quota.tokens * quota.refillMs : share * pace * quota.refillMs,
          );
          const expected = naive.take(nowMs);
          const verdict = take(arrivalMs, nowMs, quota);
          ({ arrivalMs } = verdict);
          const { totalHits, resetTime } = infoOf(verdict, quota, nowMs);
          const told = {
            allowed: totalHits <= quota.tokens,
            remaining: Math.max(0, quota.tokens - totalHits),
            nextTokenMs: verdict.nextTokenMs,
            retryAfter: (Number(resetTime) - nowMs) / 1000,
          };
          counts.steps += 1;
          if (!expected.allowed) counts.refused += 1;
          else if (expected.remaining === quota.tokens - 1) counts.full += 1;
          else counts.allowed += 1;
          // Not expect(): half a million of those take a minute.
          if (JSON.stringify(told) !== JSON.stringify(expected)) {
            throw new Error(`expected ${JSON.stringify(expected)}, got ${JSON.stringify(told)}`);
          }
        }
      }),
      { numRuns: STEPS / 1000 },
    );
    expect(counts.steps).toBe(STEPS);
    // All three states were met.
    expect(Math.min(counts.allowed, counts.refused, counts.full)).toBeGreaterThan(STEPS / 50);
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

const verdict = (allowed: boolean, used: number, nextTokenMs: number): Verdict => ({
  allowed,
  used,
  nextTokenMs,
  arrivalMs: 0,
});

describe('jointly', () => {
  const quota = { tokens: 10, refillMs: 1000 };
  const other = { tokens: 4, refillMs: 5000 };
  const of = (own: Verdict, others: Verdict): Outcome => jointly(own, quota, others, other);

  it('refuses if either does, until both have a token', () => {
    expect(of(verdict(false, 10, 300), verdict(true, 2, 4000))).toMatchObject({
      allowed: false,
      nextTokenMs: 300,
    });
    expect(of(verdict(true, 5, 900), verdict(false, 4, 4000))).toMatchObject({
      allowed: false,
      nextTokenMs: 4000,
    });
    expect(of(verdict(false, 10, 300), verdict(false, 4, 200))).toMatchObject({
      allowed: false,
      nextTokenMs: 300,
    });
  });

  it('tells the one with fewer tokens left, in tokens of the first', () => {
    expect(of(verdict(true, 8, 900), verdict(true, 1, 4000))).toMatchObject({
      allowed: true,
      used: 8,
      nextTokenMs: 900,
    });
    expect(of(verdict(true, 2, 900), verdict(true, 3, 4000))).toMatchObject({
      allowed: true,
      used: 9,
      nextTokenMs: 4000,
    });
  });
});
