import type { Snapshot } from './snapshot.js';

/** Whether this process should be sent requests, and why not. */

export interface Readiness {
  readonly status: 200 | 503;
  readonly body: Readonly<Record<string, string | number | boolean | null>>;
}

/**
 * @param snapshot the one in service
 * @param nowMs time of day
 * @param maxAgeMs how long ago it may have been built; undefined for any time
 * @param isStopping whether no new connections are accepted
 */
export function readinessOf(
  snapshot: Snapshot | undefined,
  nowMs: number,
  maxAgeMs: number | undefined,
  isStopping: boolean,
): Readiness {
  if (snapshot === undefined) return { status: 503, body: { ready: false, reason: 'no snapshot yet' } };
  const { sequence, as_of, built_at } = snapshot;
  const ageMs = ageOf(snapshot, nowMs);
  const reason = isStopping
    ? 'stopping'
    : maxAgeMs !== undefined && ageMs > maxAgeMs
      ? `the snapshot was built more than ${maxAgeMs / 1000} s ago`
      : undefined;
  const facts = { sequence, as_of, built_at, age_seconds: Math.floor(ageMs / 1000) };
  return reason === undefined
    ? { status: 200, body: { ready: true, ...facts } }
    : { status: 503, body: { ready: false, reason, ...facts } };
}

/** Milliseconds since a snapshot was built, by this machine's clock; none if the builder's is ahead of it. */
export function ageOf({ built_at }: Snapshot, nowMs: number): number {
  return Math.max(0, nowMs - Date.parse(built_at));
}
