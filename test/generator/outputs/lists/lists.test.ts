/** The lists about the whole register, beyond what the golden trees have of them. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import * as z from 'zod';
import { PROJECT, temporary } from '../../../support/folder.js';
import { siteOf } from '../../../support/site.js';
import { fields } from '../../../support/values.js';

const path = temporary();
const AS_OF = '2026-11-20T08:00:00Z';

const documentIn = (out: string, file: string): unknown =>
  JSON.parse(readFileSync(join(out, `${file}.json`), 'utf8'));

const feedShape = z.object({
  items: z.array(z.object({ title: z.string(), _register: z.record(z.string(), z.unknown()) })),
});

it.each([
  ['histories', 'Group renamed from “Old” to “Newer”'],
  ['withheld', 'Owner of group 51 changed from “sunny” to an unnamed owner'],
])('what is recent in the golden register %s is what its JSON feeds say, as: %s', async (name, title) => {
  const sql = readFileSync(join(PROJECT, 'test/system/golden', name, 'register.sql'), 'utf8');
  const { out } = await siteOf(path, sql);
  const feed = (each: string) => feedShape.parse(documentIn(out, `feeds/${each}`)).items;
  // Feeds link to records otherwise.
  const facts = (each: string): Record<string, unknown>[] =>
    feed(each).map(({ _register }) => ({ ..._register, path: expect.any(String) as unknown }));
  const { group_names, group_owners, usernames, games, items } = fields(documentIn(out, 'api/v1/recent'));
  const changes = [group_names, group_owners].flat();
  expect(facts('groups')).toHaveLength(changes.length);
  expect(changes).toEqual(expect.arrayContaining(facts('groups')));
  expect([usernames, games, items]).toEqual([facts('users'), facts('games'), facts('items')]);
  const feeds = ['groups', 'users', 'new-groups', 'new-users', 'games', 'items'].flatMap(feed);
  expect(facts('all')).toHaveLength(feeds.length);
  expect(feed('groups').map((each) => each.title)).toContain(title);
});

it('lists of gains and losses end after 200 entries, ties by ascending id; recent ones after as many', async () => {
  // Groups 2n - 1 and 2n gain n members, and as many groups lose as many. The first 203 were renamed, and each game
  // is a minute younger.
  const { out: tree } = await siteOf(
    path,
    `WITH RECURSIVE n(id) AS (SELECT 1 UNION ALL SELECT id + 1 FROM n WHERE id < 410)
       INSERT INTO groups (id, name, first_measured_at, measured_at, measurements)
       SELECT id, iif(id <= 203, 'new', NULL), '2026-01-01T00:00:00Z', '${AS_OF}', 2 FROM n;
     INSERT INTO group_member_readings SELECT id, '2026-11-19T08:00:00Z', 1000 FROM groups;
     INSERT INTO group_member_readings SELECT id, '${AS_OF}',
       iif(id <= 205, 1000 + (id + 1) / 2, 1000 - (id - 205 + 1) / 2) FROM groups;
     CREATE TEMP TABLE renamed AS SELECT id FROM groups WHERE id <= 203;
     INSERT INTO group_names SELECT id, 1, 'old', NULL, '2026-01-01T00:00:00Z', '2026-01-01T00:00:00Z' FROM renamed;
     INSERT INTO group_names SELECT id, 2, 'new', NULL, '2026-01-02T00:00:00Z', '2026-01-02T00:00:00Z' FROM renamed;
     INSERT INTO games (id, first_measured_at, measured_at, measurements)
       SELECT id, strftime('%Y-%m-%dT%H:%M:%SZ', '2026-01-01', id || ' minutes'), '${AS_OF}', 1 FROM renamed`,
  );
  const list = z.array(z.looseObject({ rank: z.number(), id: z.number(), delta: z.number() }));
  const movers = z.object({ gains: list, losses: list });
  const { gains, losses } = movers.parse(documentIn(tree, 'api/v1/movers/h24'));
  const brief = (all: z.infer<typeof list>) => all.map(({ rank, id, delta }) => `${rank}: ${id} ${delta}`);
  expect([gains.length, losses.length]).toEqual([200, 200]);
  // Group 205 alone gains 103; then there are 99 pairs, and half of the next.
  expect(brief(gains.slice(0, 4))).toEqual(['1: 205 103', '2: 203 102', '2: 204 102', '4: 201 101']);
  expect(brief(gains.slice(-3))).toEqual(['198: 7 4', '198: 8 4', '200: 5 3']);
  expect(brief(losses.slice(0, 2))).toEqual(['1: 410 -103', '2: 408 -102']);
  expect(brief(losses.slice(-1))).toEqual(['200: 210 -3']);
  const { group_names, games } = fields(documentIn(tree, 'api/v1/recent'));
  // All of one reading, so the highest ids come first.
  const newest = Array.from({ length: 200 }, (_, index) => ({ id: 203 - index }));
  expect([group_names, games]).toMatchObject([newest, newest]);
});
