/** The limits as nginx can count them. */
import { Failure } from '../../base/errors.js';
import { BUCKETS, countedBy, downloadCost, type Bucket } from '../../routes/route.js';
import type { Snapshot } from '../../tree/snapshot-json.js';

/** What nginx can charge for a file: a whole download, a tenth of one, or a hundredth. */
const DOWNLOAD_PARTS = [1, 10, 100] as const;
export type DownloadPart = (typeof DOWNLOAD_PARTS)[number];

/** The smallest part of a download that covers what a file of so many bytes costs. */
export function partOf(bytes: number, { download }: Snapshot['limits']): DownloadPart {
  const cost = downloadCost(bytes, bytes, download.token_bytes);
  return DOWNLOAD_PARTS.findLast((part) => cost <= 1 / part) ?? 1;
}

/** The zones of the parts of a download: nginx counts requests, so a tenth has ten times the limit. */
export function downloadZones({ download }: Snapshot['limits']) {
  return DOWNLOAD_PARTS.filter((part) => part > 1).map((part) => {
    const { tokens, refill_seconds: refill } = download;
    const { rate } = nearest('download', { tokens, refill_seconds: refill / part });
    return { part, rate, zone: `zone=download_${part} burst=${tokens * part - 1} nodelay` };
  });
}

/** The limits by bucket. @throws Failure usage: a limit that nginx can't count */
export function ratesOf(limits: Snapshot['limits']) {
  const rates = BUCKETS.map((bucket) => ({ bucket, ...limits[bucket], ...nearest(bucket, limits[bucket]) }));
  return rates.map(({ bucket, tokens, refill_seconds: refill, rate, seconds }) => {
    const policies = countedBy(bucket)
      .flatMap((name) => rates.filter((other) => other.bucket === name))
      .map((other) => `"${other.bucket}";q=${other.tokens};w=${Math.ceil(other.tokens * other.seconds)}`);
    return {
      bucket,
      /** Of limit_req_zone. */
      rate,
      /** The parameters of limit_req, which refuses a burst of 0. */
      zone: `zone=${bucket}${tokens > 1 ? ` burst=${tokens - 1} nodelay` : ''}`,
      /** RateLimit-Policy: the limits that a request of this bucket takes from. */
      policy: policies.join(', '),
      /** RateLimit after a refusal. */
      state: `"${bucket}";r=0;t=${Math.ceil(seconds)}`,
      /** Retry-After: the most seconds until the next request is allowed. */
      retryAfter: Math.ceil(seconds),
      /** How it differs from the published limit. */
      note:
        seconds === refill
          ? undefined
          : `limit "${bucket}": one request is back after ${Math.round(seconds * 1000) / 1000} s instead of ${refill} s`,
    };
  });
}

/**
 * The rate that is equal or the next slower one. nginx counts whole requests a second or a minute,
 * as thousandths of a request a second, rounded down (ngx_http_limit_req_module.c). If a request is back after 1,
 * 1/2, 1/3 … seconds, that is the token bucket of the proxy, to the millisecond.
 */
function nearest(
  bucket: Bucket,
  { refill_seconds: refill }: Snapshot['limits'][Bucket],
): { rate: string; seconds: number } {
  const perSecond = Math.round(1 / refill);
  if (perSecond >= 1 && Math.abs(perSecond * refill - 1) < 1e-9) {
    return { rate: `${perSecond}r/s`, seconds: refill };
  }
  const perMinute = Math.max(1, Math.floor(60 / refill));
  const seconds = 1000 / Math.floor((perMinute * 1000) / 60);
  if (seconds >= refill) return { rate: `${perMinute}r/m`, seconds };
  throw Failure.usage(
    `limits.${bucket}.refill_seconds is ${refill} in the published tree, expected at most ${seconds}: nginx can't count less than a request a minute`,
  );
}
