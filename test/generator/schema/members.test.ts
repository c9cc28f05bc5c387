/** What golden trees can't show: records of few readings. */
import { expect, it } from 'vitest';
import { change, peak } from '../../../generator/schema/members.js';

/** Peak and change of a record with these readings. */
function of(...own: readonly (readonly [time: string, count: number])[]) {
  const columns = { measured_at: own.map(([time]) => time), member_count: own.map(([, count]) => count) };
  const entries = { count: own.length, columns };
  return [peak.compute(entries), change.compute(entries)];
}

it('a peak needs one reading, and a change two', () => {
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
