/**
 * A token bucket with continuous refill, as the generic cell rate algorithm (GCRA, ITU-T I.371).
 * The only state per client is the theoretical arrival time (TAT), at which its bucket is full
 * again. All times are whole milliseconds, so rounding errors do not accumulate.
 */

/** Both are integers of at least 1. */
export interface Quota {
  /** Tokens in a full bucket. */
  readonly burst: number;
  /** Milliseconds until one token is back. */
  readonly emissionIntervalMs: number;
}

export const BUCKETS = ['api', 'download', 'page'] as const;
export type BucketName = (typeof BUCKETS)[number];
export type Quotas = Readonly<Record<BucketName, Quota>>;

/** Before the first snapshot. */
export const DEFAULT_QUOTAS: Quotas = {
  api: { burst: 60, emissionIntervalMs: 1_000 },
  download: { burst: 12, emissionIntervalMs: 60_000 },
  page: { burst: 240, emissionIntervalMs: 250 },
};

export interface Decision {
  readonly allowed: boolean;
  /** Whole tokens in use, rounded up: 1 to `burst`. */
  readonly used: number;
  /** Until the next whole token; after a refusal, until the same request passes. At least 1. */
  readonly nextTokenMs: number;
  /** To be stored. Unchanged by a refusal. */
  readonly tat: number;
}

/** The refill time of a number of tokens, at least 1 ms; that of a refund is negative. */
export function emissionMs({ emissionIntervalMs }: Quota, cost: number): number {
  return Math.sign(cost) * Math.max(1, Math.round(emissionIntervalMs * Math.abs(cost)));
}

/**
 * Decides on a request. The caller stores the new TAT.
 *
 * @param tat undefined for an unknown client, whose bucket is full
 * @param cost in tokens, 0 < cost <= 1; a negative one is a refund, exact if the client sent nothing in between
 */
export function decide(tat: number | undefined, nowMs: number, quota: Quota, cost = 1): Decision {
  const { burst, emissionIntervalMs } = quota;
  const current = Math.max(tat ?? nowMs, nowMs);
  // The outstanding refill time, including this request's tokens.
  const debtMs = current - nowMs + emissionMs(quota, cost);
  const excessMs = debtMs - burst * emissionIntervalMs;
  if (excessMs > 0) return { allowed: false, used: burst, nextTokenMs: excessMs, tat: current };
  const used = Math.ceil(debtMs / emissionIntervalMs);
  const nextTokenMs = debtMs - (used - 1) * emissionIntervalMs;
  return { allowed: true, used, nextTokenMs, tat: nowMs + Math.max(0, debtMs) };
}
