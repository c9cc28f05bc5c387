/** A feed reader that keeps what is newer than its last poll, as most bots do, over many snapshots. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { z } from 'zod';
import { published } from '../../../support/build.js';
import { temporary } from '../../../support/folder.js';
import { changeRegister, writeRegister } from '../../../support/register.js';

const path = temporary();

const feed = z.object({
  next_url: z.string().optional(),
  items: z.array(z.object({ id: z.string(), date_published: z.string(), date_modified: z.string() })),
});

/** Follows a JSON feed and its archives back to its last poll. */
class Bot {
  readonly name: string;
  /** The ids of entries, in the order in which it saw them. */
  readonly seen: string[] = [];
  #lastPoll = '';

  constructor(name: string) {
    this.name = name;
  }

  poll(out: string): void {
    const since = this.#lastPoll;
    for (let file: string | undefined = `feeds/${this.name}.json`; file !== undefined;) {
      const { items, next_url: next } = feed.parse(JSON.parse(readFileSync(join(out, file), 'utf8')));
      const fresh = items.filter(({ date_published: published }) => published > since);
      this.seen.push(...fresh.map(({ id }) => id.replace(/^tag:[^:]+:/, '')));
      for (const { date_published: published } of fresh)
        if (published > this.#lastPoll) this.#lastPoll = published;
      file =
        fresh.length === items.length && next !== undefined ? new URL(next).pathname.slice(1) : undefined;
    }
  }
}

const DAYS = Array.from({ length: 10 }, (_, index) => index + 1);
const IDS = Array.from({ length: 150 }, (_, index) => index + 1);
const day = (number: number): string => `2026-11-${String(number).padStart(2, '0')}`;

/** A day's names, of which the platform dates every other one: this year, years ago, or even later. */
function dayOfChanges(number: number): string {
  const read = `'${day(number)}T08:00:00Z'`;
  const dated = ['NULL', `'2012-01-01T00:00:00Z'`, 'NULL', `'${day(number)}T20:00:00Z'`];
  const changed = IDS.filter((id) => id % DAYS.length === number % DAYS.length);
  const rows = (own: string, name: string): string =>
    changed
      .map((id) => `(${id}, 2, '${name} ${number}', ${dated[(id + number) % 4]}, ${read}, ${read})`)
      .map((row) => `INSERT INTO ${own} VALUES ${row};`)
      .join('');
  const arrivals = changed.map((id) => 1000 * number + id);
  const arrived = (table: string): string =>
    arrivals
      .map(
        (id) => `INSERT INTO ${table} (id, first_measured_at, measured_at) VALUES (${id}, ${read}, ${read});`,
      )
      .join('');
  const remeasured = ['groups', 'users'].map(
    (table) => `UPDATE ${table} SET measured_at = ${read} WHERE id IN (${changed.join(', ')});`,
  );
  return (
    remeasured.join('') +
    rows('group_names', 'name') +
    rows('usernames', 'username') +
    ['groups', 'users', 'games', 'items'].map(arrived).join('')
  );
}

const MONTH_BEFORE = '2026-10-01T08:00:00Z';

it('a bot sees each change and each new record once, whenever the platform dates it', async () => {
  const [register, out] = [path('register.sqlite'), path('dist')];
  const read = { first_measured_at: MONTH_BEFORE, last_measured_at: MONTH_BEFORE };
  const record = { first_measured_at: MONTH_BEFORE, measured_at: MONTH_BEFORE };
  writeRegister(register, {
    groups: IDS.map((id) => ({ id, ...record })),
    group_names: IDS.map((id) => ({ group_id: id, position: 1, name: 'old', ...read })),
    users: IDS.map((id) => ({ id, ...record })),
    usernames: IDS.map((id) => ({ user_id: id, position: 1, username: 'old', ...read })),
  });
  const bots = ['groups', 'users', 'new-groups', 'new-users', 'games', 'items'].map((name) => new Bot(name));
  const poll = async (): Promise<void> => {
    await published({ register, out });
    for (const bot of bots) bot.poll(out);
  };
  await poll();
  const before = bots.map(({ seen }) => seen.length);
  expect(before).toEqual([0, 0, 150, 150, 0, 0]);
  for (const number of DAYS) {
    changeRegister(register, dayOfChanges(number));
    await poll();
  }
  const changes = (what: string): string[] => IDS.map((id) => what.replace('ID', String(id)));
  const arrivals = DAYS.flatMap((number) =>
    IDS.filter((id) => id % DAYS.length === number % DAYS.length).map((id) => 1000 * number + id),
  );
  const firsts = (kind: string): string[] => arrivals.map((id) => `${kind}/${id}/first_measured_at/1`);
  const expected = [
    changes('group/ID/name/2'),
    changes('user/ID/username/2'),
    ...['group', 'user', 'game', 'item'].map(firsts),
  ];
  for (const [index, { name, seen }] of bots.entries())
    expect({ name, seen: seen.slice(before[index]).toSorted() }).toEqual({
      name,
      seen: expected[index]?.toSorted(),
    });
});

it('at most half of the feed of all changes are new records', async () => {
  const [register, out] = [path('register.sqlite'), path('dist')];
  writeRegister(register, {
    games: Array.from({ length: 400 }, (_, id) => ({
      id: id + 1,
      first_measured_at: '2026-11-20T08:00:00Z',
    })),
    groups: IDS.map((id) => ({ id, first_measured_at: MONTH_BEFORE, measured_at: MONTH_BEFORE })),
    group_names: IDS.flatMap((id) => [
      {
        group_id: id,
        position: 1,
        name: 'a',
        first_measured_at: MONTH_BEFORE,
        last_measured_at: MONTH_BEFORE,
      },
      {
        group_id: id,
        position: 2,
        name: 'b',
        first_measured_at: MONTH_BEFORE,
        last_measured_at: MONTH_BEFORE,
      },
    ]),
  });
  await published({ register, out });
  const all = feed.parse(JSON.parse(readFileSync(join(out, 'feeds/all.json'), 'utf8')));
  const firsts = all.items.filter(({ id }) => id.includes('/first_measured_at/'));
  expect([all.items.length, firsts.length]).toEqual([200, 100]);
  expect(
    all.items.every((item, index) => item.date_published <= (all.items[index - 1] ?? item).date_published),
  ).toBe(true);
});
