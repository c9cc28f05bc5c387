import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { writeSample } from '../../data/sample.js';
import { openDatabase, type Database } from '../../generator/sqlite/index.js';

const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'sample-life-'));
afterAll(() => fs.rmSync(folder, { recursive: true }));

/** The present of a sample, and what its readings of the last weeks start after. */
const PRESENT = Date.parse('2026-11-20T08:00:00Z');
const DAY = 86_400_000;

interface Reading {
  readonly id: number;
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

function average(values: readonly number[] = []): number {
  return values.reduce((a, b) => a + b, 0) / values.length;
}

describe.each([1, 2026])('a sample of 20,000 records from seed %i', (seed) => {
  let db: Database;
  beforeAll(async () => {
    const file = path.join(folder, `${seed}.sqlite`);
    await writeSample({ file, records: 20_000, seed });
    db = openDatabase(file, { readonly: true });
  });
  afterAll(() => db.close());

  const numbers = (sql: string, ...values: number[]) =>
    db
      .prepare<number[], number>(sql)
      .pluck()
      .all(...values);
  const readingsOf = (where: string, ...values: number[]) =>
    db
      .prepare<number[], Reading>(
        `SELECT group_id AS id, unixepoch(measured_at) * 1000 AS at, member_count AS count
           FROM group_member_readings WHERE ${where} ORDER BY group_id, measured_at`,
      )
      .all(...values);
  const largest = (limit: number) =>
    db
      .prepare<[number], { id: number; members: number }>(
        'SELECT id, member_count AS members FROM groups ORDER BY member_count DESC, id LIMIT ?',
      )
      .all(limit);

  it.each([
    ['groups', 'name'],
    ['games', 'name'],
    ['items', 'name'],
    ['users', 'lower(username)'],
  ])('gives no two %s one %s', (table, name) => {
    const sql = `SELECT ${name} || ' ' || count(*) FROM ${table} WHERE ${name} IS NOT NULL GROUP BY ${name} HAVING count(*) > 1`;
    expect(numbers(sql)).toEqual([]);
  });

  it('has names of many scripts and lengths', () => {
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

  it('keeps a part of most names when a group is renamed', () => {
    const pairs = db
      .prepare<[], [string, string]>(
        `SELECT a.name, b.name FROM group_names a JOIN group_names b USING (group_id)
          WHERE b.position = a.position + 1`,
      )
      .raw()
      .all();
    expect(pairs.length).toBeGreaterThan(300);
    const kept = pairs.filter(([before, after]) =>
      before.toLowerCase().startsWith(after.toLowerCase().slice(0, 4)),
    );
    expect(kept.length / pairs.length).toBeGreaterThan(0.4);
  });

  it('has few ties among the largest groups, and none among the first ten', () => {
    const sizes = largest(200).map(({ members }) => members);
    expect(new Set(sizes).size).toBeGreaterThan(195);
    for (const [at, size] of sizes.slice(0, 9).entries())
      expect(size / Number(sizes[at + 1])).toBeGreaterThan(1.05);
    // Heavy-tailed: the first ten have more than half of all members, and less than all but a tenth
    const all = Number(numbers('SELECT sum(member_count) FROM groups')[0]);
    const share = sizes.slice(0, 10).reduce((sum, size) => sum + size, 0) / all;
    expect(share).toBeGreaterThan(0.5);
    expect(share).toBeLessThan(0.98);
  });

  it('draws no straight lines, and no two lines alike', () => {
    const lines = largest(10).map(({ id }) => readingsOf('group_id = ?', id));
    const bends = lines.map(bend);
    expect(bends.filter((share) => share > 0.12).length).toBeGreaterThanOrEqual(8);
    expect(Math.min(...bends)).toBeGreaterThan(0.03);
    const grown = lines.map((line) =>
      Math.round((100 * Number(line.at(-1)?.count)) / Number(line[0]?.count)),
    );
    expect(new Set(grown).size).toBeGreaterThanOrEqual(8);
    // Each falls between some readings, and rises between others
    for (const line of lines) {
      const steps = line.slice(1).map(({ count }, at) => count - Number(line[at]?.count));
      expect([steps.some((step) => step < 0), steps.some((step) => step > 0)]).toEqual([true, true]);
    }
  });

  it('lacks readings of all groups on the same days, in the midst of daily readings', () => {
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
      expect(numbers(`SELECT ${read.join(' + ')}`)).toEqual([0]);
    }
  });

  it('pauses some series for weeks and reads others on', () => {
    const longest = numbers(
      `SELECT max(gap) FROM (SELECT group_id, julianday(measured_at) - julianday(lag(measured_at)
         OVER (PARTITION BY group_id ORDER BY measured_at)) AS gap FROM group_member_readings
         WHERE measured_at > '2026-04-01') GROUP BY group_id HAVING count(*) > 30`,
    );
    expect(longest.filter((gap) => gap > 21).length).toBeGreaterThan(0);
    expect(longest.filter((gap) => gap < 20).length).toBeGreaterThan(longest.length / 2);
  });

  it('reads at irregular times', () => {
    const seconds = readingsOf('group_id = ?', Number(largest(1)[0]?.id)).map(
      ({ at }) => (at / 1000) % 3_600,
    );
    expect(new Set(seconds).size).toBeGreaterThan(200);
  });

  it('grows more at weekends than during the week', () => {
    // Per group, so that the largest doesn't decide: the gain of a day as a share of its average
    const gains = new Map<boolean, number[]>([
      [true, []],
      [false, []],
    ]);
    const daily = readingsOf(`measured_at >= '2026-09-20' AND member_count > 100000`);
    for (const [index, { id, at, count }] of daily.entries()) {
      const earlier = daily[index - 1];
      if (earlier?.id !== id || at - earlier.at < 0.9 * DAY || at - earlier.at > 1.2 * DAY) continue;
      const middle = new Date((at + earlier.at) / 2).getUTCDay();
      const share = count / earlier.count - 1;
      // Without purges and days of an event
      if (Math.abs(share) < 0.002) gains.get(middle === 0 || middle === 6)?.push(share);
    }
    expect(gains.get(true)?.length).toBeGreaterThan(300);
    expect(average(gains.get(true))).toBeGreaterThan(1.15 * average(gains.get(false)));
  });

  it('lost bots of several large groups on one day, and nearly all of them at once', () => {
    const falls = new Map<number, number>();
    const all = readingsOf('member_count > 5000');
    for (const [index, { id, at, count }] of all.entries()) {
      const earlier = all[index - 1];
      if (earlier?.id === id && at - earlier.at < 1.5 * DAY && count < 0.994 * earlier.count) {
        const day = Math.round((at + earlier.at) / 2 / DAY);
        falls.set(day, (falls.get(day) ?? 0) + 1);
      }
    }
    expect(Math.max(...falls.values())).toBeGreaterThanOrEqual(3);
  });

  it('has games that most people like, with players in proportion to their visits', () => {
    const [liked] = numbers(
      `SELECT avg(up_votes * 1.0 / (up_votes + down_votes) BETWEEN 0.8 AND 0.95) FROM games
        WHERE up_votes + down_votes > 200`,
    );
    expect(liked).toBeGreaterThan(0.75);
    const wrong = `SELECT id FROM games WHERE playing > visits OR favourites > visits
      OR up_votes + down_votes > visits OR (state <> 'present' AND playing > 0)`;
    expect(numbers(wrong)).toEqual([]);
    expect(numbers('SELECT avg(playing = 0) FROM games')[0]).toBeGreaterThan(0.3);
  });

  it('sells limited items until they are sold out, and resells rare ones dearly', () => {
    const wrong = `SELECT id FROM items WHERE quantity_remaining > 0
      AND (price_state = 'unlisted' OR lowest_resale_price IS NOT NULL)`;
    expect(numbers(wrong)).toEqual([]);
    const median = (condition: string) => {
      const sql = `SELECT recent_average_price FROM items WHERE quantity_remaining = 0
        AND recent_average_price IS NOT NULL AND ${condition} ORDER BY 1`;
      const prices = numbers(sql);
      return Number(prices[Math.floor(prices.length / 2)]);
    };
    expect(median('quantity_total <= 50')).toBeGreaterThan(2 * median('quantity_total >= 1000'));
  });

  it('creates records in about the order of their ids', () => {
    for (const table of ['groups', 'users', 'games', 'items']) {
      const [early, late] = ['ASC', 'DESC'].map((order) =>
        Number(
          numbers(
            `SELECT avg(unixepoch(created_at)) FROM (SELECT created_at FROM ${table} ORDER BY id ${order} LIMIT 300)`,
          )[0],
        ),
      );
      expect(Number(late) - Number(early)).toBeGreaterThan((5 * 365 * DAY) / 1000);
    }
  });
});
