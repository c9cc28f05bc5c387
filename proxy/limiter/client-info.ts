import type { ClientRateLimitInfo } from 'express-rate-limit';

import type { Outcome, Quota } from './gcra.js';

/**
 * An outcome in express-rate-limit's terms. That allows a request if `totalHits <= limit`, so `totalHits` is
 * the tokens in use (at least 1) when it is allowed, and `limit + 1` when it is refused. `resetTime` is now
 * plus whole seconds until the next token.
 */
export function infoOf(
  { allowed, used, nextTokenMs }: Outcome,
  { tokens }: Quota,
  nowMs: number,
): ClientRateLimitInfo {
  const resetTime = new Date(nowMs + Math.ceil(nextTokenMs / 1000) * 1000);
  return { totalHits: allowed ? used : tokens + 1, resetTime };
}
