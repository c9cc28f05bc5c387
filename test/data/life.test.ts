/** A sample looks like a register that somebody has measured for years: its names, its lines, its gaps. */
import { afterAll, beforeAll, describe, expect } from 'vitest';
import { writeSample } from '../../data/sample.js';
import { openDatabase, type Database } from '../../generator/sqlite/index.js';
import { temporary } from '../support/folder.js';
import { always, some } from '../support/thorough.js';

const path = temporary();

/** The present of a sample, and what its readings of the last weeks start after. */
const PRESENT = Date.parse('2026-11-20T08:00:00Z');
const DAY = 86_400_000;

interface Reading {
  readonly at: number;
  readonly count: number;
}

/** How far a line strays from the straight one between its ends, as a share of its range. */
function bend(line: readonly Reading[]): number {
  const [first, last] = [line[0], line.at(-1)];
  if (first === undefined || last === undefined || first.at === last.at) return 0;
  const slope = (last.count - first.count) / (last.at - first.at);
  const counts = line.map(({ count }) => count);
  const range = Math.max(...counts) - Math.min(...counts);
  const strays = line.map(({ at, count }) => Math.abs(count - first.count - slope * (at - first.at)));
  return Math.max(...strays) / Math.max(1, range);
}

/** Each reading with the one before it of the same group; times in seconds. */
const STEPS = `(SELECT group_id, unixepoch(measured_at) AS at, member_count AS n,
  lag(unixepoch(measured_at)) OVER g AS before_at, lag(member_count) OVER g AS before
  FROM group_member_readings WHERE measured_at IS NOT NULL WINDOW g AS (PARTITION BY group_id ORDER BY measured_at))`;
const isWeekend = `strftime('%w', (at + before_at) / 2, 'unixepoch') IN ('0', '6')`;
const median = (condition: string): string =>
  `(SELECT recent_average_price FROM items WHERE quantity_remaining = 0 AND recent_average_price IS NOT NULL AND ${condition}
    ORDER BY 1 LIMIT 1 OFFSET (SELECT count(*) / 2 FROM items WHERE quantity_remaining = 0 AND recent_average_price IS NOT NULL AND ${condition}))`;
const created = (table: string, order: string): string =>
  `(SELECT avg(unixepoch(created_at)) FROM (SELECT created_at FROM ${table} ORDER BY id ${order} LIMIT 300))`;

/** What is so, as SQL that gives 1. */
const SO: Readonly<Record<string, string>> = {
  'a group that is renamed keeps a part of its name in most cases': `SELECT count(*) > 300
    AND avg(instr(lower(a.name), lower(substr(b.name, 1, 4))) = 1) > 0.4
    FROM group_names AS a JOIN group_names AS b USING (group_id) WHERE b.position = a.position + 1`,
  'some series pause for weeks, and others go on': `SELECT sum(gap > 21) > 0 AND sum(gap < 20) > count(*) / 2
    FROM (SELECT max(at - before_at) / 86400.0 AS gap FROM ${STEPS} WHERE before_at > unixepoch('2026-04-01')
      GROUP BY group_id HAVING count(*) > 30)`,
  'readings are at irregular times': `SELECT count(DISTINCT unixepoch(measured_at) % 3600) > 200
    FROM group_member_readings WHERE group_id = (SELECT id FROM groups ORDER BY member_count DESC LIMIT 1)`,
  // Per group, so that the largest doesn't decide; without purges and days of an event.
  'groups grow more at weekends than during the week': `SELECT sum(${isWeekend}) > 300
    AND avg(iif(${isWeekend}, 1.0 * n / before - 1, NULL)) > 1.15 * avg(iif(${isWeekend}, NULL, 1.0 * n / before - 1))
    FROM ${STEPS} WHERE before_at >= unixepoch('2026-09-20') AND before > 100000 AND n > 100000
      AND at - before_at BETWEEN 0.9 * 86400 AND 1.2 * 86400 AND abs(1.0 * n / before - 1) < 0.002`,
  'several large groups lost bots on one day, nearly all of them at once': `SELECT max(falls) >= 3 FROM
    (SELECT count(*) AS falls FROM ${STEPS} WHERE n > 5000 AND at - before_at < 1.5 * 86400 AND n < 0.994 * before
      GROUP BY round((at + before_at) / 2 / 86400.0))`,
  'most people like most games': `SELECT avg(up_votes * 1.0 / (up_votes + down_votes) BETWEEN 0.8 AND 0.95) > 0.75
    FROM games WHERE up_votes + down_votes > 200`,
  'players are in proportion to visits': `SELECT avg(playing = 0) > 0.3 AND NOT max(playing > visits OR favourites > visits
    OR up_votes + down_votes > visits OR (state <> 'present' AND playing > 0)) FROM games`,
  'limited items sell until they are sold out': `SELECT count(*) = 0 FROM items WHERE quantity_remaining > 0
    AND (price_state = 'unlisted' OR lowest_resale_price IS NOT NULL)`,
  'rare items are resold dearly': `SELECT ${median('quantity_total <= 50')} > 2 * ${median('quantity_total >= 1000')}`,
  ...Object.fromEntries(
    ['groups', 'users', 'games', 'items'].map((table) => [
      `${table} were created in about the order of their ids`,
      `SELECT ${created(table, 'DESC')} - ${created(table, 'ASC')} > 5 * 365 * 86400`,
    ]),
  ),
  // Heavy-tailed: the first ten have more than half of all members, and less than all but a fiftieth.
  'the first ten groups have more than half of all members': `SELECT sum(member_count) / (SELECT sum(member_count) FROM groups)
    BETWEEN 0.5 AND 0.98 FROM (SELECT member_count * 1.0 AS member_count FROM groups ORDER BY 1 DESC LIMIT 10)`,
  'few of the largest groups tie': `SELECT count(DISTINCT member_count) > 195
    FROM (SELECT member_count FROM groups ORDER BY 1 DESC LIMIT 200)`,
  'none of the first ten groups ties with the next': `SELECT min(n / next) > 1.05 FROM (SELECT n, lead(n) OVER (ORDER BY n DESC) AS next
    FROM (SELECT member_count * 1.0 AS n FROM groups ORDER BY 1 DESC LIMIT 10))`,
  ...Object.fromEntries(
    ['groups.name', 'games.name', 'items.name', 'users.username'].map((place) => {
      const [table, name] = place.split('.');
      const text = table === 'users' ? `lower(${name})` : name;
      return [
        `no two ${table} have one name`,
        `SELECT count(*) = count(DISTINCT ${text}) FROM ${table} WHERE ${name} IS NOT NULL`,
      ];
    }),
  ),
};

describe.each(some([1, 2026], 1))('a sample of 20,000 records from seed %i', (seed) => {
  let db: Database;
  beforeAll(async () => {
    const file = path(`${seed}.sqlite`);
    await writeSample({ file, records: 20_000, seed });
    db = openDatabase(file, { readonly: true });
  });
  afterAll(() => db.close());

  const readingsOf = (where: string) =>
    db
      .prepare<[], Reading>(
        `SELECT unixepoch(measured_at) * 1000 AS at, member_count AS count
           FROM group_member_readings WHERE ${where} ORDER BY group_id, measured_at`,
      )
      .all();

  always.each(Object.entries(SO))('%s', (_, sql) => {
    expect(db.prepare<[]>(sql).pluck().all()).toEqual([1]);
  });

  always('has names of many scripts and lengths', () => {
    const names = db
      .prepare<[], string>("SELECT name FROM groups WHERE name IS NOT NULL AND trim(name) <> ''")
      .pluck()
      .all();
    const share = (pattern: RegExp) => names.filter((name) => pattern.test(name)).length / names.length;
    for (const script of ['Cyrillic', 'Arabic', 'Hebrew', 'Han', 'Hangul'])
      expect([script, share(new RegExp(`\\p{Script=${script}}`, 'u')) > 0.005]).toEqual([script, true]);
    expect(share(/\p{Script=Latin}/u)).toBeGreaterThan(0.8);
    expect(share(/\p{Emoji_Presentation}/u)).toBeLessThan(0.1);
    expect(share(/^.{1,8}$/u)).toBeGreaterThan(0.02);
    expect(share(/^.{30,}$/u)).toBeGreaterThan(0.02);
    expect(share(/^[^a-z]*[A-Z]{4}[^a-z]*$/)).toBeGreaterThan(0.01);
    expect(share(/^[a-z][^A-Z]*$/)).toBeGreaterThan(0.01);
  });

  always('draws no straight lines, and no two lines alike', () => {
    const ids = db
      .prepare<[], number>('SELECT id FROM groups ORDER BY member_count DESC, id LIMIT 10')
      .pluck();
    const lines = ids.all().map((id) => readingsOf(`group_id = ${id}`));
    const bends = lines.map(bend);
    expect(bends.filter((share) => share > 0.12).length).toBeGreaterThanOrEqual(8);
    expect(Math.min(...bends)).toBeGreaterThan(0.03);
    const grown = lines.map((line) =>
      Math.round((100 * Number(line.at(-1)?.count)) / Number(line[0]?.count)),
    );
    expect(new Set(grown).size).toBeGreaterThanOrEqual(8);
    // Each falls between some readings, and rises between others.
    for (const line of lines) {
      const steps = line.slice(1).map(({ count }, at) => count - Number(line[at]?.count));
      expect([steps.some((step) => step < 0), steps.some((step) => step > 0)]).toEqual([true, true]);
    }
  });

  always('lacks readings of all groups on the same days, in the midst of daily readings', () => {
    const days = new Map<number, number>();
    const since = '2026-10-01';
    for (const { at } of readingsOf(`measured_at >= '${since}'`)) {
      const day = Math.floor(at / DAY);
      days.set(day, (days.get(day) ?? 0) + 1);
    }
    const empty: number[] = [];
    for (let day = Date.parse(since) / DAY; day < Math.floor(PRESENT / DAY); day++)
      if (!days.has(day)) empty.push(day);
    expect(empty.length).toBeGreaterThanOrEqual(1);
    expect(empty.length).toBeLessThan(10);
    for (const day of empty) {
      const around = [1, 2, 3, 4].flatMap((off) => [days.get(day - off) ?? 0, days.get(day + off) ?? 0]);
      expect(Math.max(...around)).toBeGreaterThan(50);
      const read = ['groups', 'users', 'games', 'items'].map(
        (table) =>
          `(SELECT count(*) FROM ${table} WHERE unixepoch(measured_at) / 86400 = ${day}
             OR unixepoch(first_measured_at) / 86400 = ${day})`,
      );
      expect(
        db
          .prepare<[]>(`SELECT ${read.join(' + ')}`)
          .pluck()
          .all(),
      ).toEqual([0]);
    }
  });
});
