/** What pages are made of, piece by piece: charts, numbers, dates, the words of an operator, and what somebody sought. */
import { describe, expect, it } from 'vitest';
import { leastTime } from '../../../../generator/outputs/downloads/recipes.js';
import { asksForCredit } from '../../../../generator/outputs/licence.js';
import { soughtBy } from '../../../../generator/outputs/pages/address.js';
import { gapsBefore } from '../../../../generator/outputs/pages/gaps.js';
import { levelsOf, lineChart, ticksOf } from '../../../../generator/outputs/pages/line-chart.js';
import { comparePoints, pagesWith } from '../../../../generator/outputs/pages/name-search.js';
import {
  axisRange,
  highest,
  lineOf,
  readingAt,
  usefulRanges,
} from '../../../../generator/outputs/pages/series.js';
import { spansOf, ticksOf as datesOf } from '../../../../generator/outputs/pages/spans.js';
import { sparkline } from '../../../../generator/outputs/pages/sparkline.js';
import { amount, integer, interval, size, span } from '../../../../generator/outputs/pages/words.js';
import { withArticle, wordsIn } from '../../../../generator/schema/words.js';
import { matching } from '../../../support/values.js';

const DAY = 86_400_000;

it.each([
  ['later than one and a half usual intervals', [0, 10, 20, 35, 45, 60.1, 70], [5]],
  ['31 days later', [0, 31 * DAY], []],
  ['more than 31 days later, however usual', [0, 40 * DAY, 80 * DAY, 120 * DAY], [1, 2, 3]],
])('the gaps of readings, the last ones %s', (_, times, gaps) => {
  expect([...gapsBefore(times)]).toEqual(gaps);
});

it('what is a usual interval is known from around a reading, since a register may come to read more often', () => {
  const weekly = Array.from({ length: 20 }, (_, index) => index * 168);
  const hourly = Array.from({ length: 100 }, (_, index) => 19 * 168 + 1 + index);
  expect([...gapsBefore([...weekly, ...hourly])]).toEqual([]);
  // A day without readings among the hours.
  const late = hourly.map((time, index) => (index < 50 ? time : time + 24));
  expect([...gapsBefore([...weekly, ...late])]).toEqual([70]);
});

const reading = (day: number, member_count: number) => ({
  measured_at: `2026-11-${String(day).padStart(2, '0')}T00:00:00Z`,
  member_count,
});

/** One an hour. */
const MANY = Array.from({ length: 20_000 }, (_, index) => ({
  measured_at: new Date(index * 3_600_000).toISOString(),
  member_count: index,
}));

it('a sparkline breaks at a gap, shows a reading alone as a dot, and draws real readings alone, a bounded number', () => {
  const days = [1, 2, 3, 9, 15, 16, 17, 18];
  const broken = sparkline(days.map((day) => reading(day, day))) ?? '';
  expect(broken.match(/M/g)).toHaveLength(3);
  expect(broken).toMatch(/M[\d.]+ [\d.]+h0M/);
  const long = sparkline(MANY.map((each, index) => ({ ...each, member_count: index % 2 }))) ?? '';
  expect(long.split(/[ML]/).length).toBeLessThan(250);
  for (const [, level] of long.matchAll(/[ML][\d.]+ ([\d.]+)/g)) expect(['2', '26']).toContain(level);
});

it('a line chart has a dot for each reading, a line between neighbours alone, and an area for each gap', () => {
  // Days 1, 2, 3, 8, 9, 11: ten days are 1000 units; the usual interval is one day.
  const chart = lineChart([1, 2, 3, 8, 9, 11].map((day) => reading(day, day === 8 ? 40 : 10)));
  // The levels are 10, 20, 30 and 40, so 10 is at the bottom and 40 at the top.
  expect(chart).toMatchObject({
    dots: 'M0 1000h0M100 1000h0M200 1000h0M700 0h0M800 1000h0M1000 1000h0',
    line: 'M0 1000L100 1000L200 1000M700 0L800 1000M1000 1000h0',
    gaps: [
      { x: 20, width: 50 },
      { x: 80, width: 20 },
    ],
    peak: { x: 70, y: 0, anchor: 'middle', index: 3 },
    base: 10,
  });
  const levels = chart?.levels.map(({ y, value }) => `${value} at ${y}`);
  expect(levels).toEqual(['10 at 100', '20 at 66.67', '30 at 33.33', '40 at 0']);
  // Of many readings the last one of each place.
  const dots = lineChart(MANY)?.dots.split('M').slice(1) ?? [];
  expect(dots).toHaveLength(501);
  // The levels are 0, 10,000 and 20,000; the first cell ends with reading 19 of 19,999.
  expect([dots[0], dots.at(-1)]).toEqual(['0 999h0', '1000 0h0']);
});

it.each([
  [91_737_206, 280_114_906, [0, 100_000_000, 200_000_000, 300_000_000]],
  [271_964_653, 282_944_583, [270_000_000, 275_000_000, 280_000_000, 285_000_000]],
  [7, 7, [7, 8, 9]],
])('levels of %i to %i are round, and hold all values', (low, high, levels) => {
  expect(levelsOf(low, high)).toEqual(levels);
});

it.each([
  ['2026-11-01T08:00:00Z', '2026-11-05T07:00:00Z', 4, '3 Nov 2026 | 5 Nov 2026'],
  ['2024-12-22T08:00:00Z', '2026-11-20T07:06:27Z', 23, 'Jan 2025 | Jul 2025 | Jan 2026 | Jul 2026'],
  // A reading at the very start of a month is at a tick.
  ['2026-01-01T00:00:00Z', '2026-04-01T00:00:00Z', 4, 'Jan 2026 | Feb 2026 | Mar 2026 | Apr 2026'],
])('ticks from %s to %s are %i days or months, of which a few are named', (from, to, count, names) => {
  const ticks = ticksOf(Date.parse(from), Date.parse(to));
  expect(ticks).toHaveLength(count);
  expect(ticks.flatMap(({ label }) => label ?? []).join(' | ')).toBe(names);
});

it.each([
  ['2026-01-15', '2026-05-02', 6, 'Feb 2026 | Mar 2026 | Apr 2026 | May 2026'],
  ['2025-01-15', '2026-05-02', 6, 'Apr 2025 | Jul 2025 | Oct 2025 | Jan 2026 | Apr 2026'],
  ['2023-03-24', '2026-10-12', 6, '2024 | 2025 | 2026'],
  ['1990-03-24', '2026-10-12', 4, '2000 | 2010 | 2020'],
  ['2026-01-02', '2026-01-20', 6, ''],
])('an axis from %s to %s has round dates, at most %i', (from, to, most, dates) => {
  const ticks = datesOf(Date.parse(from), Date.parse(to), most);
  expect(ticks.map(({ words }) => words).join(' | ')).toBe(dates);
});

it('the line of a history has each reading, and nothing in a gap; its peak is the earliest of the highest', () => {
  const line = lineOf([1, 2, 3, 7, 8].map((day, at) => reading(day, [10, 12, 11, 20, 20][at] ?? 0)));
  expect(line.counts).toEqual([10, 12, 11, null, 20, 20]);
  expect(line.times).toEqual([1, 2, 3, 5, 7, 8].map((day) => Date.UTC(2026, 10, day) / 1000));
  expect(line.gaps).toBe(1);
  // A gap leads to the reading after it.
  expect(line.counts.map((_, place) => readingAt(line, place))).toEqual([0, 1, 2, 3, 3, 4]);
  expect(highest([3, 9, 9, 2].map((count, at) => reading(at + 1, count)))).toBe(1);
});

it('an axis has room, a height, whole numbers, and nothing below 0', () => {
  const ranges = {
    '100 200': [92, 208],
    '0 100': [0, 108],
    '1000 1000': [920, 1080],
    '0 0': [0, 1],
    '24 25': [23, 26],
  };
  for (const [range, axis] of Object.entries(ranges)) {
    const [low = 0, high = 0] = range.split(' ').map(Number);
    expect(axisRange(low, high), range).toEqual(axis);
  }
});

const offered = (...days: number[]) =>
  usefulRanges(days.map((day) => day * 86_400)).map((range) => range.days);

it('ranges are offered that are shorter than the readings, and hold two of them', () => {
  expect([offered(0, 10), offered(0, 1000)]).toEqual([[], []]);
  expect([offered(0, 400, 401), offered(0, 200, 401)]).toEqual([[365, 90], [365]]);
});

const named = (first: string, last: string, changed_at: string | null) => {
  const read = { first_measured_at: `2020-09-${first}:00Z`, last_measured_at: `2020-09-${last}:00Z` };
  return { ...read, changed_at, changed_after: null, changed_before: null };
};

it('the span of a name that a day dates begins within it', () => {
  const names = [named('16T08:00', '16T09:00', null), named('16T18:00', '20T08:00', '2020-09-16')];
  const [old, now] = spansOf(names, '2020-09-01');
  // It was read on the day on which it ended: it didn't end before.
  expect(old).toEqual({
    start: Date.UTC(2020, 8, 16, 8),
    end: Date.UTC(2020, 8, 16, 8),
    latest: Date.UTC(2020, 8, 17),
    begun: 'first read 16 September 2020, 08:00 UTC',
  });
  expect(now?.start).toBe(Date.UTC(2020, 8, 16, 18));
});

it('numbers, amounts, sizes and intervals are written as people read them', () => {
  expect([1_044_842_325, 999, -1234].map(integer)).toEqual(['1,044,842,325', '999', '−1,234']);
  const sizes = ['999 bytes', '1.00 kB', '12.3 kB', '1.00 MB', '34.9 GB'];
  expect([999, 1000, 12_345, 999_999, 34_900_000_000].map(size)).toEqual(sizes);
  expect([amount(1, 'reading'), amount(2000, 'reading')]).toEqual(['1 reading', '2,000 readings']);
  // The largest unit that is exact.
  const spans = ['1 second', '90 seconds', '90 minutes', '1 hour', '2 days'];
  expect([1, 90, 5400, 3600, 172_800].map(span)).toEqual(spans);
  // As in `one more every second`.
  expect([1, 90, 86_400].map(interval)).toEqual(['second', '90 seconds', 'day']);
});

it('how long a client takes to fetch all files is said in whole minutes from an hour on, if it has to wait', () => {
  const times = [5, 6, 20].map((count) => {
    const files = Array.from({ length: count }, () => ({ bytes: 5_000_000 }));
    return leastTime(files, { tokens: 5, refillSeconds: 301 });
  });
  expect(times).toEqual([undefined, '301 seconds', '76 minutes']);
});

const record = (id: string, more: object) => ({ is: 'record', id, ...more });
const name = (text: string) => ({ is: 'name', name: text });

describe('what somebody typed', () => {
  const club = [{ kind: 'group', one: 'club', many: 'clubs' }] as const;
  const LARGEST = '9007199254740991';

  it.each<[string, object]>([
    ['http://127.0.0.1:8080/api/v1/user/1042', record('1042', { kind: 'user' })],
    ['https://register.example/api/v1/game/7.json', record('7', { kind: 'game' })],
    ['https://platform.example/groups/45/Snowy-River#!/about', record('45', { kind: 'group' })],
    ['platform.example/users/45/profile', record('45', { kind: 'user' })],
    ['https://platform.example/de/catalog/45/Hat', record('45', { kind: 'item' })],
    ['https://platform.example/forums/3/groups/45', record('45', { kind: 'group' })],
    ['https://cluborama.example/Clubs/45', record('45', { kind: 'group' })],
    [' #45 ', record('45', { name: '45' })],
    ['0045', record('45', { name: '0045' })],
    [LARGEST, record(LARGEST, { name: LARGEST })],
    ...['0', '9007199254740992', 'Fans of AC/DC', 'Team 45', 'a/45b', 'שלום', '<b>45</b>'].map(
      (text): [string, object] => [text, name(text)],
    ),
    [' marlow_finch ', name('marlow_finch')],
    ['"1337"', name('1337')],
    ...['   ', 'https://platform.example/groups/0', 'https://platform.example/guild/45'].map(
      (text): [string, object] => [text, { is: 'nothing', why: matching(/\.$/) }],
    ),
  ])('%s is an id, a name, either, or nothing', (text, sought) => {
    expect(soughtBy(text, club)).toEqual(sought);
  });

  it('may be an id of the platform, where there are any: a number that no id can be', () => {
    const address = 'https://platform.example/groups/81384788765712384';
    expect(soughtBy(address, [], true)).toEqual({ ...name('81384788765712384'), kind: 'group' });
  });
});

it('the pages with a prefix begin before the first that begins so, since that page may end with such names', () => {
  const firsts = ['', 'anna', 'anna', 'annabel', 'bob', '\u{1f98a} fox'];
  const pages = firsts.map((first, index) => ({ first, path: `${index}` }));
  const found = (prefix: string) =>
    pagesWith(pages, prefix)
      .map(({ path }) => path)
      .join('');
  const all = ['anna', 'annab', 'b', 'zoe', '\u{1f98a}', ''].map(found);
  expect(all).toEqual(['0123', '23', '34', '4', '45', '012345']);
  expect(pagesWith([], 'anna')).toEqual([]);
  // In the order of UTF-8, where that of UTF-16 is another.
  const names = ['', 'a', 'ab', 'b', '\ue000', '\uffff', '\u{10000}', '\u{10000}a', '\u{10ffff}'];
  expect(names.toReversed().toSorted(comparePoints)).toEqual(names);
});

describe('the words of an operator', () => {
  const inWords = wordsIn({
    words: {
      group: { one: 'island', many: 'islands' },
      user: { one: 'player', many: 'players' },
      item: { one: 'pet', many: 'pets' },
    },
    priceUnit: 'item tokens ($&)',
  });

  it.each([
    ['Group renamed', 'Island renamed'],
    ['A group in this register', 'An island in this register'],
    ['a user or group that a user owns', 'a player or island that a player owns'],
    ['What did an item cost?', 'What did a pet cost?'],
    ['A group’s owner', 'An island’s owner'],
    ['groups, users, games and catalogue items', 'islands, players, games and pets'],
    ['Catalogue items measured', 'Pets measured'],
    ['currency units', 'item tokens ($&)'],
    // Names of fields, and words that only contain a kind.
    ['`group` of group_members and usernames, regroup', '`group` of group_members and usernames, regroup'],
  ])('replace the kinds: %s', (sentence, words) => {
    expect(inWords(sentence)).toBe(words);
  });

  it('leave every sentence as it is where there are none, and have their article', () => {
    const sentence = 'An item of a group, in currency units';
    for (const none of [{}, { words: {} }]) expect(wordsIn(none)(sentence)).toBe(sentence);
    for (const words of ['an item', 'a group', 'a user', 'an island', 'a universe', 'an Uplink'])
      expect(withArticle(words.replace(/^an? /, ''))).toBe(words);
  });
});

it.each([
  ['CC0', 'https://creativecommons.org/publicdomain/zero/1.0/', false],
  ['CC0 1.0 Universal', 'https://example.org/licence', false],
  ['Creative Commons Zero', 'https://creativecommons.org/publicdomain/zero/1.0/deed.de', false],
  ['PDDL-1.0', 'https://opendatacommons.org/licenses/pddl/1-0/', false],
  ['Public Domain', 'https://example.org/', false],
  ['CC BY 4.0', 'https://creativecommons.org/licenses/by/4.0/', true],
  ['Not in the public domain', 'https://example.org/', true],
])('the licence %s (%s) asks for credit: %s', (name, url, asks) => {
  expect(asksForCredit({ name, url })).toBe(asks);
});
