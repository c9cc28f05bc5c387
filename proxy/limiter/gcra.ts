/**
 * A token bucket with continuous refill, as the generic cell rate algorithm (GCRA, ITU-T I.371): one integer
 * per client says it all. That integer is the client's theoretical arrival time, the moment its bucket is
 * full again, in whole milliseconds of the limiter's clock. Integers keep the sums exact: Retry-After is true
 * to the millisecond before it is rounded up to seconds.
 */

/**
 * A bucket: how many tokens it holds, and after how many whole milliseconds one comes back. Both are integers
 * of at least 1.
 */
export interface Quota {
  readonly tokens: number;
  readonly refillMs: number;
}

/** What a bucket answers to "one token, please". */
export interface Verdict {
  readonly allowed: boolean;
  /** Tokens in use, this one included if it was allowed: 1 to `tokens`. */
  readonly used: number;
  /** Milliseconds until the next token is back, at least 1. After a refusal: until a request passes. */
  readonly nextTokenMs: number;
  /** The arrival time to remember. After a refusal it is the old one: who is refused pays nothing. */
  readonly arrivalMs: number;
}

/** What a request comes to, whatever there is to remember. */
export type Outcome = Omit<Verdict, 'arrivalMs'>;

/**
 * Weighs one request; remembering `arrivalMs` is the caller's decision.
 *
 * @param arrivalMs what was remembered of this client, undefined for a client never seen (a full bucket)
 * @param nowMs the clock, whole milliseconds, never going backwards
 */
export function take(arrivalMs: number | undefined, nowMs: number, { tokens, refillMs }: Quota): Verdict {
  const full = arrivalMs === undefined || arrivalMs < nowMs ? nowMs : arrivalMs;
  // The refill time that would be outstanding with this token taken; the bucket bears tokens x refillMs of
  // it.
  const debtMs = full - nowMs + refillMs;
  const excessMs = debtMs - tokens * refillMs;
  if (excessMs > 0) return { allowed: false, used: tokens, nextTokenMs: excessMs, arrivalMs: full };
  const used = Math.ceil(debtMs / refillMs);
  return { allowed: true, used, nextTokenMs: debtMs - (used - 1) * refillMs, arrivalMs: nowMs + debtMs };
}

/**
 * Two buckets that a request takes from, as one: it passes if both allow, and of the two the scarcer is told.
 *
 * @param own the bucket in whose tokens the answer counts
 * @returns after a refusal, by either, the time until both have a token
 */
export function jointly(
  own: Verdict,
  { tokens }: Quota,
  other: Verdict,
  { tokens: otherTokens }: Quota,
): Outcome {
  if (own.allowed && other.allowed) {
    const left = otherTokens - other.used;
    return left < tokens - own.used ? { ...other, used: tokens - left } : own;
  }
  const nextTokenMs = Math.max(own.allowed ? 0 : own.nextTokenMs, other.allowed ? 0 : other.nextTokenMs);
  return { ...own, allowed: false, nextTokenMs };
}
