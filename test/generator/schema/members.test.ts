/** What golden trees can't show: the readings of other records stand before and behind those of one. */
import { expect, it } from 'vitest';
import { change, peak } from '../../../generator/schema/members.js';

const other = ['2200-01-01T00:00:00Z', Number.MAX_SAFE_INTEGER] as const;

/** Peak and change of a record with these readings. */
function of(...own: readonly (readonly [time: string, count: number])[]) {
  const all = [other, ...own, other];
  const columns = { measured_at: all.map(([time]) => time), member_count: all.map(([, count]) => count) };
  const entries = { start: 1, count: own.length, columns };
  return [peak.compute(entries), change.compute(entries)];
}

it('peak and change look at the readings of their own record alone', () => {
  const nothing = { h24: null, d7: null, d30: null };
  expect(of()).toEqual([null, nothing]);
  const [first, last] = [
    { member_count: 7, measured_at: '2026-11-19T08:00:00Z' },
    { member_count: 5, measured_at: '2026-11-20T08:00:00Z' },
  ];
  expect(of([first.measured_at, 7])).toEqual([first, nothing]);
  const h24 = { delta: -2, from: 7, to: 5, from_at: first.measured_at, to_at: last.measured_at };
  expect(of([first.measured_at, 7], [last.measured_at, 5])).toEqual([first, { ...nothing, h24 }]);
});
