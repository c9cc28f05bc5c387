/** A sample looks like a register that somebody has measured for years: its names, its lines, its gaps. */
import { afterAll, beforeAll, describe, expect } from 'vitest';
import { writeSample } from '../../data/sample.js';
import { openDatabase, type Database } from '../../generator/sqlite/index.js';
import { temporary } from '../support/folder.js';
import { always, some } from '../support/thorough.js';

const path = temporary();

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

  always.each(Object.entries(SO))('%s', (_, sql) => {
    expect(db.prepare<[]>(sql).pluck().all()).toEqual([1]);
  });
});
