import { describe, expect, it } from 'vitest';

import { readinessOf } from '../../proxy/readiness.js';
import { parseSnapshot } from '../../proxy/snapshot.js';
import { snapshotJson } from './support.js';

const SNAPSHOT = parseSnapshot(JSON.stringify(snapshotJson()));
const BUILT_MS = Date.UTC(2026, 10, 20, 9, 0, 0);
const FACTS = { sequence: 3, as_of: '2026-11-20T08:00:00Z', built_at: '2026-11-20T09:00:00Z' };

describe('readinessOf', () => {
  it('is 503 before the first snapshot', () => {
    expect(readinessOf(undefined, BUILT_MS, undefined, false)).toEqual({
      status: 503,
      body: { ready: false, reason: 'no snapshot yet' },
    });
  });

  it('is 503 for a snapshot beyond the age, and says by what', () => {
    expect(readinessOf(SNAPSHOT, BUILT_MS + 60_001, 60_000, false)).toEqual({
      status: 503,
      body: { ready: false, reason: 'the snapshot was built more than 60 s ago', ...FACTS, age_seconds: 60 },
    });
  });

  it('is 503 while stopping', () => {
    expect(readinessOf(SNAPSHOT, BUILT_MS, undefined, true)).toMatchObject({
      status: 503,
      body: { reason: 'stopping' },
    });
  });

  it('is 200 with the facts up to that age, at any age if none is set, and if our clock is behind', () => {
    for (const [nowMs, maxAgeMs, age] of [
      [BUILT_MS + 60_000, 60_000, 60],
      [BUILT_MS + 86_400_000, undefined, 86_400],
      [BUILT_MS - 5_000, 60_000, 0],
    ] as const) {
      expect(readinessOf(SNAPSHOT, nowMs, maxAgeMs, false)).toEqual({
        status: 200,
        body: { ready: true, ...FACTS, age_seconds: age },
      });
    }
  });
});
