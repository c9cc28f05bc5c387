/** Feeds in builds that follow another one: rendered where they can have changed, and always those of a fresh build. */
import { appendFileSync, readFileSync, readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { beforeEach, describe, expect, it } from 'vitest';
import { Tree } from '../../../../generator/tree/tree.js';
import { prepareRepair } from '../../../../generator/verify/repair.js';
import { counted, published, quiet } from '../../../support/build.js';
import type { Options } from '../../../support/build.js';
import { snapshot } from '../../../support/cli.js';
import { temporary } from '../../../support/folder.js';
import { changeRegister, writeRegister } from '../../../support/register.js';
import type { Rows } from '../../../support/register.js';
import { hashes, inState, lasting, readTree } from '../../../support/tree.js';

const path = temporary();

const numbers = (count: number): readonly number[] => Array.from({ length: count }, (_, index) => index + 1);

const JULY = '2026-07-01T08:00:00Z';
const SEPTEMBER = '2026-09-20T08:00:00Z';
const LATER = '2026-09-21T08:00:00Z';
const OCTOBER = '2026-10-01T08:00:00Z';

/** 256 changes of July, so that there are archives, and three of the month that is not over. */
const history = (entry: (position: number) => Record<string, string | number>) =>
  numbers(260).map((position) => {
    const at = position < 258 ? JULY : SEPTEMBER;
    return { position, ...entry(position), first_measured_at: at, last_measured_at: at };
  });

const seen = { first_measured_at: JULY, measured_at: SEPTEMBER };
const owner = { owner_state: 'owned', owner_id: 9, owner_name: 'owner 260' };
/** One record of each kind: how many documents are rendered is then easy to tell. */
const ROWS: Rows = {
  groups: [{ id: 1, name: 'name 260', ...owner, ...seen }],
  group_names: history((position) => ({ group_id: 1, name: `name ${position}` })),
  group_owners: history((position) => ({ group_id: 1, ...owner, owner_name: `owner ${position}` })),
  users: [{ id: 1, username: 'user260', ...seen }],
  usernames: history((position) => ({ user_id: 1, username: `user${position}` })),
  games: [{ id: 1, name: 'a game', ...seen }],
  // New enough to be in the feed of everything.
  items: [{ id: 1, name: 'an item', ...seen, first_measured_at: SEPTEMBER }],
};

/** How many documents each feed has, in both formats: the current one, and archives. */
const FEED_DOCUMENTS = { groups: 2 + 6, users: 2 + 4, games: 2 + 2, items: 2, all: 2 } as const;
/** How many documents each list about the whole register has. */
const LIST_DOCUMENTS = { movers: 3, recent: 1, games: 1 } as const;
/** The documents of a record. */
const RECORD_DOCUMENTS = { groups: 2, users: 2, games: 1, items: 1 } as const;
/** Index, statistics and the 200 lists of the largest are rendered by each build. */
const SUMMARIES = 203;

const measured = (table: string, at = LATER): string =>
  `UPDATE ${table} SET measured_at = '${at}', measurements = measurements + 1;`;
const renamed = `INSERT INTO group_names VALUES (1, 261, 'new', NULL, '${LATER}', '${LATER}'); UPDATE groups SET name = 'new';`;

type Kind = keyof typeof RECORD_DOCUMENTS;
type Feed = keyof typeof FEED_DOCUMENTS;
type List = keyof typeof LIST_DOCUMENTS;
interface Edit {
  readonly sql: string;
  /** The kinds of which all documents are rendered. */
  readonly kinds: readonly Kind[];
  /** How many documents of each feed are rendered: what has the same entries and neighbours is kept. */
  readonly feeds: Readonly<Partial<Record<Feed, number>>>;
  readonly lists: readonly List[];
}

const LISTS = ['movers', 'recent', 'games'] as const;
/**
 * When a month is over, what is left of it becomes an archive, to which the one before it and the
 * current document lead. The only game is older.
 */
const MONTH_OVER = { groups: 3 * 2, users: 3 * 2, items: 2 * 2 };
const edit = (sql: string, kinds: readonly Kind[], feeds: Edit['feeds'], lists: readonly List[]): Edit => ({
  sql,
  kinds,
  feeds,
  lists,
});
const EDITS: Readonly<Record<string, Edit>> = {
  nothing: edit('', [], {}, []),
  'only measurements of groups and users': edit(
    measured('groups') + measured('users'),
    ['groups', 'users'],
    {},
    LISTS,
  ),
  'a new game': edit(
    `INSERT INTO games (id, name, first_measured_at, measured_at, measurements) VALUES (2, 'new', '${LATER}', '${LATER}', 1)`,
    ['games'],
    { games: 2, all: 2 },
    LISTS,
  ),
  'the name of an item': edit(`UPDATE items SET name = 'other'`, ['items'], { items: 2, all: 2 }, ['recent']),
  names: edit(renamed + measured('groups'), ['groups'], { groups: 2, all: 2 }, LISTS),
  // It is in the first archive of July alone.
  'usernames, long ago': edit(
    `UPDATE usernames SET username = 'never' WHERE position = 7`,
    ['users'],
    { users: 2 },
    ['recent'],
  ),
  // These leave the time of the newest reading as it is.
  'a count of members, long ago': edit(
    `INSERT INTO group_member_readings VALUES (1, '2019-01-01T00:00:00Z', 5)`,
    ['groups'],
    {},
    ['movers'],
  ),
  'the visits of a game': edit(`UPDATE games SET visits = 5`, ['games'], {}, ['recent', 'games']),
  'the month, by a reading of a game': edit(
    measured('games', OCTOBER),
    ['games'],
    { ...MONTH_OVER, all: 2 },
    LISTS,
  ),
};

/** The files of a tree that follow from the register, by their hashes. */
const contentOf = (out: string): Record<string, string> => hashes(lasting(readTree(out)));
interface All {
  readonly content: Readonly<Record<string, string>>;
  readonly inputs: Readonly<Record<string, string>>;
}

const allOf = (out: string): All => ({ content: contentOf(out), inputs: inputsOf(out) });

/** How many documents some kinds or feeds have, or all of them. */
const documents = (
  counts: Readonly<Record<string, number>>,
  some: readonly string[] = Object.keys(counts),
): number => some.reduce((sum, each) => sum + (counts[each] ?? 0), 0);

/** What is noted of what feeds were made of. */
function inputsOf(out: string): Record<string, string> {
  const index = inState(out, 'index');
  const files = readdirSync(index).filter((file) => file.startsWith('inputs-feed-'));
  return Object.fromEntries(files.map((file) => [file, readFileSync(join(index, file), 'hex')]));
}

describe('the feeds and lists of a build that follows another', () => {
  let register: string;
  let out: string;
  beforeEach(async () => {
    register = writeRegister(path('register.sqlite'), ROWS);
    out = path('dist');
    await published({ register, out });
  });

  /** All that a build of the register as it is gives. */
  const fresh = async (options: Partial<Options> = {}): Promise<All> => {
    const folder = path('fresh');
    await published({ register, out: folder, ...options });
    return allOf(folder);
  };

  it.each(Object.entries(EDITS))(
    'are rendered where they can have changed by %s',
    async (_, { sql, kinds, feeds, lists }) => {
      // What was kept once is compared with again.
      changeRegister(register, measured('users', SEPTEMBER));
      await published({ register, out });
      changeRegister(register, sql);
      const { rendered } = await counted({ register, out });
      const [ofRecords, ofFeeds] = [documents(RECORD_DOCUMENTS, kinds), documents(feeds)];
      expect(rendered).toBe(SUMMARIES + ofRecords + ofFeeds + documents(LIST_DOCUMENTS, lists));
      expect(allOf(out)).toEqual(await fresh());
      const again = await counted({ register, out });
      expect([again.changes.unchanged, again.rendered]).toEqual([again.files, SUMMARIES]);
    },
  );

  it.each(['feeds/groups.atom', 'api/v1/largest/games.json'])(
    'are rendered where they are found damaged: %s',
    async (file) => {
      appendFileSync(join(out, file), ' ');
      rmSync(join(out, 'feeds/users/2026-07-00001.atom'));
      // As far as a repair comes that is interrupted then: what is damaged is noted, and nothing made of it.
      expect((await prepareRepair(new Tree(out), quiet())).total).toBe(2);
      changeRegister(register, measured('users'));
      await published({ register, out });
      expect(allOf(out)).toEqual(await fresh());
      expect((await snapshot(['verify', '--quiet', '--out', out])).code).toBe(0);
    },
  );
});
