/** What the pages of records compute: lines, spans of names, and what somebody typed to find one. */
import { describe, expect, it } from 'vitest';
import { soughtBy } from '../../../../generator/outputs/pages/address.js';
import { axisRange, highest, lineOf, usefulRanges } from '../../../../generator/outputs/pages/series.js';
import { spansOf, ticksOf } from '../../../../generator/outputs/pages/spans.js';
import { matching } from '../../../support/values.js';

const readings = (...all: readonly (readonly [day: number, member_count: number])[]) =>
  all.map(([day, member_count]) => ({ measured_at: `2026-11-0${day}T00:00:00Z`, member_count }));

it('the line of a history has each reading, and nothing in a gap; its peak is the earliest of the highest', () => {
  const line = lineOf(readings([1, 10], [2, 12], [3, 11], [7, 20], [8, 20]));
  expect(line.counts).toEqual([10, 12, 11, null, 20, 20]);
  expect(line.times).toEqual([1, 2, 3, 5, 7, 8].map((day) => Date.UTC(2026, 10, day) / 1000));
  expect(line.gaps).toBe(1);
  expect(highest(readings([1, 3], [2, 9], [3, 9], [4, 2]))).toBe(1);
});

it.each([
  [100, 200, [92, 208]],
  [0, 100, [0, 108]],
  [1000, 1000, [920, 1080]],
  [0, 0, [0, 1]],
  [24, 25, [23, 26]],
])('an axis of %i to %i has room, a height, whole numbers, and nothing below 0', (low, high, range) => {
  expect(axisRange(low, high)).toEqual(range);
});

it.each([
  [[0, 10], []],
  [
    [0, 400, 401],
    [365, 90],
  ],
  [[0, 200, 401], [365]],
  [[0, 1000], []],
])('for readings on days %j, useful ranges are offered', (days, ranges) => {
  const times = days.map((day) => day * 86_400);
  expect(usefulRanges(times).map((range) => range.days)).toEqual(ranges);
});

it('the span of a name that a day dates begins within it', () => {
  const read = { changed_after: null, changed_before: null };
  const [old, now] = spansOf(
    [
      {
        ...read,
        first_measured_at: '2020-09-16T08:00:00Z',
        last_measured_at: '2020-09-16T09:00:00Z',
        changed_at: null,
      },
      {
        ...read,
        first_measured_at: '2020-09-16T18:00:00Z',
        last_measured_at: '2020-09-20T08:00:00Z',
        changed_at: '2020-09-16',
      },
    ],
    '2020-09-01',
  );
  // It was read on the day on which it ended: it didn't end before.
  expect(old).toEqual({
    start: Date.UTC(2020, 8, 16, 8),
    end: Date.UTC(2020, 8, 16, 8),
    latest: Date.UTC(2020, 8, 17),
    begun: 'first read 16 September 2020, 08:00 UTC',
  });
  expect(now?.start).toBe(Date.UTC(2020, 8, 16, 18));
});

it.each([
  ['2026-01-15', '2026-05-02', 6, 'Feb 2026 | Mar 2026 | Apr 2026 | May 2026'],
  ['2023-03-24', '2026-10-12', 6, '2024 | 2025 | 2026'],
  ['1990-03-24', '2026-10-12', 4, '2000 | 2010 | 2020'],
  ['2026-01-02', '2026-01-20', 6, ''],
])('an axis from %s to %s has round dates, at most %i', (from, to, most, dates) => {
  const ticks = ticksOf(Date.parse(from), Date.parse(to), most);
  expect(ticks.map(({ words }) => words).join(' | ')).toBe(dates);
});

const record = (id: string, more: object = {}) => ({ is: 'record', id, ...more });
const name = (text: string) => ({ is: 'name', name: text });

describe('what somebody typed', () => {
  const club = [{ kind: 'group', one: 'club', many: 'clubs' }] as const;

  it.each<[string, object]>([
    ['http://127.0.0.1:8080/api/v1/user/1042', record('1042', { kind: 'user' })],
    ['https://register.example/api/v1/game/7.json', record('7', { kind: 'game' })],
    ['https://platform.example/groups/45/Snowy-River#!/about', record('45', { kind: 'group' })],
    ['platform.example/users/45/profile', record('45', { kind: 'user' })],
    ['https://platform.example/de/catalog/45/Hat', record('45', { kind: 'item' })],
    ['https://platform.example/forums/3/groups/45', record('45', { kind: 'group' })],
    ['https://cluborama.example/Clubs/45', record('45', { kind: 'group' })],
    ['45', record('45', { name: '45' })],
    [' #45 ', record('45', { name: '45' })],
    ['0045', record('45', { name: '0045' })],
    ['9007199254740991', record('9007199254740991', { name: '9007199254740991' })],
    ...['0', '9007199254740992', 'Fans of AC/DC', 'Team 45', 'a/45b', 'שלום', '<b>45</b>'].map(
      (text): [string, object] => [text, name(text)],
    ),
    [' marlow_finch ', name('marlow_finch')],
    ['"1337"', name('1337')],
  ])('%s is an id, a name, or either', (text, sought) => {
    expect(soughtBy(text, club)).toEqual(sought);
  });

  it('may be an id of the platform, where there are any: a number that no id can be', () => {
    const address = 'https://platform.example/groups/81384788765712384';
    expect(soughtBy(address, [], true)).toEqual({ ...name('81384788765712384'), kind: 'group' });
  });

  it.each(['', '   ', 'https://platform.example/groups/0', 'https://platform.example/guild/45'])(
    '"%s" is nothing, and it says why',
    (text) => {
      expect(soughtBy(text, club)).toMatchObject({ is: 'nothing', why: matching(/\.$/) });
    },
  );
});
