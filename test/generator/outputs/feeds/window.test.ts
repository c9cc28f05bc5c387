/** How far back feeds go: the newest 200 entries, or all of the last 48 hours, up to 2,000. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'vitest';
import * as z from 'zod';
import { published } from '../../../support/build.js';
import { temporary } from '../../../support/folder.js';
import { writeRegister } from '../../../support/register.js';
import { always, it, some } from '../../../support/thorough.js';

const path = temporary();
const AS_OF = '2026-11-20T08:00:00Z';
const TWO_DAYS_BEFORE = '2026-11-18T08:00:00Z';
const EARLIER = '2026-11-18T07:59:59Z';

const feed = z.object({ items: z.array(z.object({ id: z.string(), date_published: z.string() })) });
const itemsOf = (out: string, name: string) =>
  feed.parse(JSON.parse(readFileSync(join(out, `feeds/${name}.json`), 'utf8'))).items;

/** Games that were new at this time. */
const games = (from: number, count: number, first_measured_at: string) =>
  Array.from({ length: count }, (_, index) => ({ id: from + index, first_measured_at }));

/** Groups with a new name at this time. */
const renamed = (count: number, time: string) =>
  Array.from({ length: count }, (_, index) => index + 1).flatMap((id) =>
    [EARLIER, time].map((seen, index) => ({
      group_id: id,
      position: index + 1,
      name: `name ${index}`,
      first_measured_at: seen,
      last_measured_at: seen,
    })),
  );

it.each<[what: string, recent: number, earlier: number, entries: number]>([
  ['its newest 200', 3, 300, 200],
  ['all of 48 hours', 201, 300, 201],
  ['the newest 2,000 of them', 2001, 0, 2000],
])('a feed has %s', async (_, recent, earlier, entries) => {
  const [register, out] = [path('register.sqlite'), path('dist')];
  writeRegister(register, {
    games: [...games(1, recent, TWO_DAYS_BEFORE), ...games(5000, earlier, EARLIER)],
    users: [{ id: 1, measured_at: AS_OF }],
  });
  await published({ register, out });
  expect(itemsOf(out, 'games')).toHaveLength(entries);
});

const MIXED = [
  [150, EARLIER, 200, 100],
  [150, AS_OF, 300, 150],
  [1500, AS_OF, 2000, 500],
] as const;
always.each(some(MIXED, 2))('at most half, along with %i changes', async (changes, time, entries, most) => {
  const [register, out] = [path('register.sqlite'), path('dist')];
  writeRegister(register, {
    games: games(1, 2000, AS_OF),
    groups: Array.from({ length: changes }, (_, id) => ({
      id: id + 1,
      name: 'name 1',
      first_measured_at: EARLIER,
    })),
    group_names: renamed(changes, time),
  });
  await published({ register, out });
  const items = itemsOf(out, 'all');
  expect(items).toHaveLength(entries);
  const firsts = items.filter(({ id }) => id.includes('/first_measured_at/'));
  expect(firsts).toHaveLength(most);
  const dates = items.map((each) => each.date_published);
  expect(dates).toEqual(dates.toSorted().toReversed());
});
