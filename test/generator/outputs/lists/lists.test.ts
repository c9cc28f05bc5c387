/** The lists about the whole register, with values worked out by hand from the rows below. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import * as z from 'zod';
import { published } from '../../../support/build.js';
import { temporary } from '../../../support/folder.js';
import { writeRegister, type Rows } from '../../../support/register.js';
import { fields } from '../../../support/values.js';

const path = temporary();

/** Every record was last measured then. */
const AS_OF = '2026-11-20T08:00:00Z';

/** Readings of member counts: group, time, members. The golden trees have the windows of changes. */
const READINGS: readonly (readonly [number, string, number])[] = [
  [2, '2026-11-12T08:00:00Z', 500],
  [2, '2026-11-20T00:00:00Z', 400],
  // Deleted, and withheld.
  [5, '2026-11-13T08:00:00Z', 0],
  [5, AS_OF, 1000],
  [6, '2026-11-13T08:00:00Z', 0],
  [6, AS_OF, 2000],
  // No change.
  [8, '2026-11-13T08:00:00Z', 7],
  [8, AS_OF, 7],
  // Last read exactly 7 days before, and a second earlier.
  [10, '2026-11-06T08:00:00Z', 50],
  [10, '2026-11-13T08:00:00Z', 45],
  [11, '2026-11-06T07:59:59Z', 50],
  [11, '2026-11-13T07:59:59Z', 10],
];

const EARLIER = '2026-11-10T08:00:00Z';
const LATER = '2026-11-11T08:00:00Z';

const at = (first_measured_at: string, last_measured_at: string) => ({ first_measured_at, last_measured_at });
const ownedBy = (owner_id: number, owner_name: string) => ({ owner_state: 'owned', owner_id, owner_name });

const ROWS: Rows = {
  withheld: [
    ...[60, 61].map((id) => ({ kind: 'user', id, since: EARLIER })),
    ...[6, 5, 9].map((id, at) => ({ kind: ['group', 'game', 'item'][at] ?? '', id, since: EARLIER })),
  ],
  groups: [
    ...[1, 2, 6, 8, 10, 11].map((id) => ({ id, name: `group ${id}` })),
    { id: 5, name: 'group 5', state: 'deleted' },
  ],
  group_member_readings: READINGS.map(([group_id, measured_at, member_count]) => {
    return { group_id, measured_at, member_count };
  }),
  group_names: [
    { group_id: 1, position: 1, name: 'שם', ...at(EARLIER, EARLIER) },
    { group_id: 1, position: 2, name: 'group 1', ...at(LATER, AS_OF) },
    { group_id: 2, position: 1, name: 'group 2', ...at(EARLIER, AS_OF) },
    { group_id: 6, position: 1, name: 'hidden', ...at(EARLIER, EARLIER) },
    { group_id: 6, position: 2, name: 'group 6', ...at(AS_OF, AS_OF) },
  ],
  group_owners: [
    { group_id: 2, position: 1, owner_state: 'none', ...at(EARLIER, EARLIER) },
    { group_id: 2, position: 2, ...ownedBy(21, 'bob'), ...at(LATER, LATER) },
    { group_id: 2, position: 3, ...ownedBy(60, 'shadow'), ...at(AS_OF, AS_OF) },
  ],
  users: [
    { id: 21, username: 'bob' },
    { id: 60, username: 'shadow' },
    { id: 61, username: 'ghost' },
  ],
  usernames: [
    // From the platform's own list, so learned at once.
    { user_id: 21, position: 1, username: 'rob', ...at(LATER, LATER) },
    { user_id: 21, position: 2, username: 'bob', changed_at: '2024-02-29T00:00:00Z', ...at(LATER, AS_OF) },
    { user_id: 61, position: 1, username: 'old', ...at(EARLIER, EARLIER) },
    { user_id: 61, position: 2, username: 'ghost', ...at(LATER, AS_OF) },
  ],
  games: [
    { id: 1, name: 'one', playing: 10, visits: 100, creator_type: 'group', creator_id: 1 },
    { id: 2, name: 'two', playing: 10, first_measured_at: LATER },
    { id: 3, name: null, visits: 500, first_measured_at: LATER },
    { id: 4, name: 'four', playing: 999, visits: 999, state: 'deleted' },
    { id: 5, name: 'five', playing: 5000, visits: 5000 },
    { id: 6, name: 'six', playing: 3, visits: 100, creator_type: 'user', creator_id: 60 },
  ],
  items: [
    { id: 8, name: 'item', favourites: 3, created_at: EARLIER },
    { id: 9, name: 'secret', favourites: 9, created_at: AS_OF },
    { id: 10, name: 'other', favourites: 3, creator_type: 'user', creator_id: 60, created_at: LATER },
    { id: 11, name: null, favourites: 4, created_at: LATER },
    { id: 12, name: 'gone', favourites: 7, state: 'deleted', created_at: AS_OF },
    { id: 13, name: 'not measured' },
  ],
};

const documentIn = (out: string, file: string): unknown =>
  JSON.parse(readFileSync(join(out, `${file}.json`), 'utf8'));

const register = writeRegister(path('register.sqlite'), ROWS);
const out = path('dist');
await published({ register, out });

it('only groups that were read in the last 7 days moved in them, and none that are deleted or withheld', () => {
  expect(documentIn(out, 'api/v1/movers/d7')).toMatchObject({
    since: '2026-11-13T08:00:00Z',
    gains: [],
    losses: [
      { rank: 1, id: 2, delta: -100 },
      { rank: 2, id: 10, delta: -5 },
    ],
  });
});

const feedShape = z.object({ items: z.array(z.object({ title: z.string(), _register: z.unknown() })) });
const feed = (name: string) => feedShape.parse(documentIn(out, `feeds/${name}`)).items;

const entries = z.array(z.looseObject({ id: z.number() }));
const ids = (list: unknown): number[] => entries.parse(list).map(({ id }) => id);

it('the largest items, the newest records and the users with most names leave out what is withheld, deleted or not measured, and share ranks', () => {
  const measured_at = AS_OF;
  const hidden = { type: 'user', id: null, name: null };
  expect(documentIn(out, 'api/v1/largest/items')).toEqual({
    as_of: AS_OF,
    favourites: [
      { rank: 1, id: 11, name: null, favourites: 4, measured_at, creator: null },
      { rank: 2, id: 8, name: 'item', favourites: 3, measured_at, creator: null },
      { rank: 2, id: 10, name: 'other', favourites: 3, measured_at, creator: hidden },
    ],
  });
  expect(documentIn(out, 'api/v1/newest')).toEqual({
    as_of: AS_OF,
    groups: [],
    users: [],
    games: [],
    items: [
      { id: 11, name: null, created_at: LATER, measured_at },
      { id: 10, name: 'other', created_at: LATER, measured_at },
      { id: 8, name: 'item', created_at: EARLIER, measured_at },
    ],
  });
  expect(documentIn(out, 'api/v1/largest/usernames')).toEqual({
    as_of: AS_OF,
    users: [{ rank: 1, id: 21, username: 'bob', username_count: 2 }],
  });
});

it('what is recent is what the JSON feeds say of it, without names of whoever is withheld', () => {
  // Feeds link to records otherwise.
  const facts = (name: string): unknown[] =>
    feed(name).map(({ _register }) => ({ ...fields(_register), path: expect.any(String) as unknown }));
  const { group_names, group_owners, usernames, games, items } = fields(documentIn(out, 'api/v1/recent'));
  expect(facts('groups')).toEqual([group_owners, group_names].flat());
  expect(facts('users')).toEqual(usernames);
  expect(facts('games')).toEqual(games);
  expect(facts('items')).toEqual(items);
  const feeds = ['groups', 'users', 'new-groups', 'new-users', 'games', 'items'].flatMap(feed);
  expect(facts('all')).toHaveLength(feeds.length);
  expect([ids(usernames), ids(games), ids(items)]).toEqual([[21], [3, 2, 6, 4, 1], [13, 12, 11, 10, 8]]);
  expect(facts('groups')[0]).toMatchObject({ id: 2, to: { owner_state: 'owned', owner: null } });
  expect(feed('groups').map(({ title }) => title)).toEqual([
    'Owner of group “group 2” changed from “bob” to an unnamed owner',
    'Owner of group “group 2” changed from no owner to “bob”',
    'Group renamed from “שם” to “group 1”',
  ]);
});

it('lists of gains and losses end after 200 entries, ties by ascending id; recent ones after as many', async () => {
  const [many, tree] = [path('many.sqlite'), path('many')];
  // Groups 2n - 1 and 2n gain n members, and as many groups lose as many. The first 203 were renamed, and each game
  // is a minute younger.
  writeRegister(
    many,
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
  await published({ register: many, out: tree });
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
  const newest = Array.from({ length: 200 }, (_, index) => 203 - index);
  expect(ids(group_names)).toEqual(newest);
  expect(ids(games)).toEqual(newest);
});
