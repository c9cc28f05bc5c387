import * as fc from 'fast-check';
import { expect, it } from 'vitest';

import { decide, type Quota } from '../../../proxy/limiter/gcra.js';

/** The textbook bucket: a level that rises with time, in milliseconds of refill, so that it is an integer. */
class TokenBucket {
  #levelMs: number;
  #lastMs: number;
  readonly #quota: Quota;
  constructor(quota: Quota, nowMs: number) {
    this.#quota = quota;
    this.#levelMs = quota.burst * quota.emissionIntervalMs;
    this.#lastMs = nowMs;
  }
  take(nowMs: number, cost: number): { allowed: boolean; used: number; nextTokenMs: number } {
    const { burst, emissionIntervalMs } = this.#quota;
    const costMs = Math.max(1, Math.round(cost * emissionIntervalMs));
    this.#levelMs = Math.min(burst * emissionIntervalMs, this.#levelMs + nowMs - this.#lastMs);
    this.#lastMs = nowMs;
    const allowed = this.#levelMs >= costMs;
    if (!allowed) return { allowed, used: burst, nextTokenMs: costMs - this.#levelMs };
    this.#levelMs -= costMs;
    const remaining = Math.floor(this.#levelMs / emissionIntervalMs);
    return {
      allowed,
      used: burst - remaining,
      nextTokenMs: (remaining + 1) * emissionIntervalMs - this.#levelMs,
    };
  }
}

const STEPS = 50_000;

const anyQuota = fc.record({
  burst: fc.integer({ min: 1, max: 100 }),
  emissionIntervalMs: fc.integer({ min: 1, max: 90_000 }),
});
const anyCost = fc.constantFrom(1, 1, 1, 0.5, 0.25, 0.1, 1 / 3, 0.01);

it(`decide agrees with a token bucket on decision, tokens and waiting time, over ${STEPS} random steps`, () => {
  const counts = { allowed: 0, refused: 0, full: 0 };
  const steps = fc.array(fc.tuple(fc.double({ min: 0, max: 1, noNaN: true }), anyCost), {
    minLength: 1000,
    maxLength: 1000,
  });
  fc.assert(
    fc.property(anyQuota, steps, fc.double({ min: 0.1, max: 3, noNaN: true }), (quota, steps, pace) => {
      let nowMs = 1_800_000_000_000;
      let tat: number | undefined;
      const bucket = new TokenBucket(quota, nowMs);
      for (const [share, cost] of steps) {
        // One in ten comes at once, one in a hundred after so long that the bucket is full, the
        // others around the time in which their tokens come back.
        const tokens = share < 0.1 ? 0 : share > 0.99 ? quota.burst : share * pace * cost;
        nowMs += Math.floor(tokens * quota.emissionIntervalMs);
        const expected = bucket.take(nowMs, cost);
        const before = tat;
        const { tat: next, ...decision } = decide(tat, nowMs, quota, cost);
        tat = next;
        // A refusal takes nothing.
        if (!decision.allowed && tat !== before) throw new Error(`a refusal moved ${before} to ${tat}`);
        if (!expected.allowed) counts.refused += 1;
        else if (expected.used === 1) counts.full += 1;
        else counts.allowed += 1;
        // Not expect(): that many calls would take long.
        if (JSON.stringify(decision) !== JSON.stringify(expected))
          throw new Error(`expected ${JSON.stringify(expected)}, got ${JSON.stringify(decision)}`);
      }
    }),
    { numRuns: STEPS / 1000 },
  );
  expect(Math.min(...Object.values(counts))).toBeGreaterThan(STEPS / 50);
});

it('a refund gives back exactly what was taken, and never overflows a bucket', () => {
  const debt = fc.double({ min: 0, max: 1, noNaN: true });
  fc.assert(
    fc.property(anyQuota, debt, anyCost, fc.nat(100_000), (quota, share, cost, pause) => {
      const before = 1_000_000 + Math.floor(share * quota.burst * quota.emissionIntervalMs);
      const taken = decide(before, 1_000_000, quota, cost);
      fc.pre(taken.allowed);
      const nowMs = 1_000_000 + pause;
      expect(decide(taken.tat, nowMs, quota, -cost)).toMatchObject({
        allowed: true,
        tat: Math.max(before, nowMs),
      });
    }),
  );
});
