/** The limits that a mirror keeps to. */
import { expect, it } from 'vitest';
import { Limits } from '../../generator/mirror/limits.js';

const LIMITS = {
  api: { tokens: 60, refill_seconds: 1 },
  download: { tokens: 200, refill_seconds: 60 },
  page: { tokens: 240, refill_seconds: 0.25 },
};

it('after a refusal, only the limit that refused is used up', () => {
  const limits = new Limits();
  limits.set(LIMITS);
  expect(limits.take('download', 1)).toBe(0);
  limits.drain('"api";r=0;t=1');
  // A download takes from both limits: one second for the API, and not a minute for the downloads.
  const waitMs = limits.take('download', 1);
  expect(waitMs).toBeGreaterThan(900);
  expect(waitMs).toBeLessThanOrEqual(1000);
  limits.drain('"download";r=0;t=60');
  expect(limits.take('download', 1)).toBeGreaterThan(59_000);
});

it('a refusal that names no limit uses up none', () => {
  const limits = new Limits();
  limits.set(LIMITS);
  limits.drain('');
  expect(limits.take('download', 1)).toBe(0);
});
