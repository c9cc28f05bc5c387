/** How far back feeds go: the newest 200 entries, or all of the last 48 hours, up to 2,000. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import * as z from 'zod';
import { published } from '../../../support/build.js';
import { temporary } from '../../../support/folder.js';
import { writeRegister, type Rows } from '../../../support/register.js';

const path = temporary();
const AS_OF = '2026-11-20T08:00:00Z';
const TWO_DAYS_BEFORE = '2026-11-18T08:00:00Z';
const EARLIER = '2026-11-18T07:59:59Z';

const feed = z.object({ items: z.array(z.object({ id: z.string(), date_published: z.string() })) });

/** Records that were new at this time. */
const firsts = (from: number, count: number, first_measured_at: string) =>
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

/** Builds a register, and returns the entries of a feed. */
async function feedsOf(rows: Rows): Promise<(name: string) => z.infer<typeof feed>['items']> {
  const out = path('dist');
  await published({ register: writeRegister(path('register.sqlite'), rows), out });
  return (name) => feed.parse(JSON.parse(readFileSync(join(out, `feeds/${name}.json`), 'utf8'))).items;
}

it('a feed has its newest 200, or all of 48 hours, or the newest 2,000 of them', async () => {
  const itemsOf = await feedsOf({
    games: [...firsts(1, 3, TWO_DAYS_BEFORE), ...firsts(5000, 300, EARLIER)],
    items: [...firsts(1, 201, TWO_DAYS_BEFORE), ...firsts(5000, 300, EARLIER)],
    users: firsts(1, 2001, TWO_DAYS_BEFORE),
    groups: [{ id: 1, measured_at: AS_OF }],
  });
  expect(['games', 'items', 'new-users'].map((name) => itemsOf(name).length)).toEqual([200, 201, 2000]);
});

it.each([
  [150, EARLIER, 200, 100],
  [1500, AS_OF, 2000, 500],
])('at most half of the feed of all are first measurements, along with %i changes', async (...row) => {
  const [changes, time, entries, most] = row;
  const itemsOf = await feedsOf({
    games: firsts(1, 600, AS_OF),
    groups: Array.from({ length: changes }, (_, id) => ({
      id: id + 1,
      name: 'name 1',
      first_measured_at: EARLIER,
    })),
    group_names: renamed(changes, time),
  });
  const items = itemsOf('all');
  expect(items).toHaveLength(entries);
  expect(items.filter(({ id }) => id.includes('/first_measured_at/'))).toHaveLength(most);
  const dates = items.map((each) => each.date_published);
  expect(dates).toEqual(dates.toSorted().toReversed());
});
