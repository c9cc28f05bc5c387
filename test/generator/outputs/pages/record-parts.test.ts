/** What the pages of records compute: lines, spans of names, and what somebody typed to find one. */
import { describe, expect, it } from 'vitest';
import { soughtBy } from '../../../../generator/outputs/pages/address.js';
import { axisRange, highest, lineOf, usefulRanges } from '../../../../generator/outputs/pages/series.js';
import { spansOf, ticksOf } from '../../../../generator/outputs/pages/spans.js';
import { short } from '../../../../generator/outputs/pages/words.js';

const reading = (day: number, member_count: number) => ({
  measured_at: `2026-11-${String(day).padStart(2, '0')}T00:00:00Z`,
  member_count,
});
const seconds = (day: number): number => Date.UTC(2026, 10, day) / 1000;

describe('the line of a history', () => {
  const line = lineOf([reading(1, 10), reading(2, 12), reading(3, 11), reading(7, 20), reading(8, 20)]);

  it('has each reading, and nothing in a gap', () => {
    expect(line.counts).toEqual([10, 12, 11, null, 20, 20]);
    expect(line.times).toEqual([1, 2, 3, 5, 7, 8].map(seconds));
    expect(line.gaps).toBe(1);
  });

  it('has its peak at the earliest of the highest readings', () => {
    expect(highest([reading(1, 3), reading(2, 9), reading(3, 9), reading(4, 2)])).toBe(1);
    expect(highest([reading(1, 0), reading(2, 0)])).toBe(0);
  });
});

describe('the axis', () => {
  it('has room above and below, but none below 0', () => {
    expect(axisRange(100, 200)).toEqual([92, 208]);
    expect(axisRange(0, 100)).toEqual([0, 108]);
  });

  it('has a height where all readings are equal', () => {
    expect(axisRange(0, 0)).toEqual([0, 1]);
    expect(axisRange(5, 5)).toEqual([4, 6]);
    expect(axisRange(1000, 1000)).toEqual([920, 1080]);
  });

  it('begins and ends with whole numbers', () => {
    expect(axisRange(24, 25)).toEqual([23, 26]);
    expect(axisRange(11, 11)).toEqual([10, 12]);
    expect(axisRange(13, 13)).toEqual([11, 15]);
  });

  it('offers the ranges that show less than everything, and at least two readings', () => {
    const day = 86_400;
    expect(usefulRanges([0, 10 * day])).toEqual([]);
    expect(usefulRanges([0, 400 * day, 401 * day]).map(({ days }) => days)).toEqual([365, 90]);
    expect(usefulRanges([0, 200 * day, 401 * day]).map(({ days }) => days)).toEqual([365]);
    expect(usefulRanges([0, 1000 * day])).toEqual([]);
  });
});

it('the span of a name begins and ends when the platform says so', () => {
  const read = { first_measured_at: '2026-01-01T00:00:00Z', last_measured_at: '2026-01-01T00:00:00Z' };
  const entry = { ...read, changed_at: null, changed_after: null, changed_before: null };
  const [old, now] = spansOf(
    [entry, { ...entry, changed_at: '2020-06-01T12:30:00Z' }],
    '2019-01-01T00:00:00Z',
  );
  // The first name was only read after it had ended.
  expect(old).toEqual({
    start: Date.UTC(2019, 0, 1),
    end: Date.UTC(2020, 5, 1, 12, 30),
    latest: null,
    begun: 'until 1 June 2020, 12:30 UTC; since when is not known',
  });
  expect(now).toMatchObject({
    start: Date.UTC(2020, 5, 1, 12, 30),
    end: Date.UTC(2026, 0, 1),
    begun: 'from 1 June 2020, 12:30 UTC (the platform’s date)',
  });
});

/** An entry of a history. */
const read = (first: string, last: string, day: string | null) => ({
  first_measured_at: `${first}:00Z`,
  last_measured_at: `${last}:00Z`,
  changed_at: day,
  changed_after: null,
  changed_before: null,
});

it('the span of a name that a day dates begins within it', () => {
  const [old, now] = spansOf(
    [
      read('2020-09-16T08:00', '2020-09-16T09:00', null),
      read('2020-09-16T18:00', '2020-09-20T08:00', '2020-09-16'),
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
  expect(now).toMatchObject({
    start: Date.UTC(2020, 8, 16, 18),
    begun: 'from 16 September 2020 (the platform’s date)',
  });
});

const words = (from: string, to: string, most: number) =>
  ticksOf(Date.parse(from), Date.parse(to), most).map((tick) => tick.words);

it('the ticks of an axis of time are round dates, no more than fit', () => {
  expect(words('2026-01-15', '2026-05-02', 6)).toEqual(['Feb 2026', 'Mar 2026', 'Apr 2026', 'May 2026']);
  expect(words('2023-03-24', '2026-10-12', 6)).toEqual(['2024', '2025', '2026']);
  expect(words('1990-03-24', '2026-10-12', 4)).toEqual(['2000', '2010', '2020']);
  expect(words('2026-01-02', '2026-01-20', 6)).toEqual([]);
});

it('a count in short has three digits', () => {
  expect([0, 999, 1000, 983_412, 280_114_906, 1_234_000_000].map(short)).toEqual([
    '0',
    '999',
    '1.00\u00a0k',
    '983\u00a0k',
    '280\u00a0M',
    '1.23\u00a0bn',
  ]);
});

describe('what somebody typed', () => {
  it.each([
    ['http://127.0.0.1:8080/api/v1/user/1042', 'user', '1042'],
    ['https://register.example/api/v1/game/7.json', 'game', '7'],
    ['https://platform.example/groups/45/Snowy-River#!/about', 'group', '45'],
    ['platform.example/users/45/profile', 'user', '45'],
    ['https://platform.example/de/catalog/45/Hat', 'item', '45'],
    ['https://platform.example/forums/3/groups/45', 'group', '45'],
  ])('%s is an id', (text, kind, id) => {
    expect(soughtBy(text)).toEqual({ is: 'record', kind, id });
  });

  it('is an id in an address with the operator’s words', () => {
    const kinds = [{ kind: 'group' as const, one: 'club', many: 'clubs' }];
    expect(soughtBy('https://cluborama.example/Clubs/45', kinds)).toEqual({
      is: 'record',
      kind: 'group',
      id: '45',
    });
    expect(soughtBy('https://cluborama.example/guild/45', kinds).is).toBe('nothing');
  });

  it.each(['marlow_finch', 'Fans of AC/DC', 'Team 45', 'a/45b', 'שלום', '<b>45</b>'])(
    '%s is a name',
    (name) => {
      expect(soughtBy(` ${name} `)).toEqual({ is: 'name', name });
    },
  );

  it.each([
    ['45', '45', '45'],
    [' #45 ', '45', '45'],
    ['0045', '45', '0045'],
    ['9007199254740991', '9007199254740991', '9007199254740991'],
  ])('%s is an id, or a name', (text, id, name) => {
    expect(soughtBy(text)).toEqual({ is: 'record', id, name });
  });

  it.each(['0', '9007199254740992', '99999999999999999999'])('%s is a name, since it is no id', (name) => {
    expect(soughtBy(name)).toEqual({ is: 'name', name });
  });

  it('is a name in quotes, even if it has digits alone', () => {
    expect(soughtBy('"1337"')).toEqual({ is: 'name', name: '1337' });
  });

  it('may be an id of the platform, where there are any: a number that no id can be', () => {
    expect(soughtBy('81384788765712384', [], true)).toEqual({ is: 'name', name: '81384788765712384' });
    expect(soughtBy('https://platform.example/groups/81384788765712384', [], true)).toEqual({
      is: 'name',
      name: '81384788765712384',
      kind: 'group',
    });
  });

  it.each(['', '   ', 'https://platform.example/groups/0', 'https://platform.example/about'])(
    '"%s" is nothing, and it says why',
    (text) => {
      expect(soughtBy(text)).toMatchObject({ is: 'nothing', why: expect.stringMatching(/\.$/) as unknown });
    },
  );
});
