/** What is withheld, or no longer, is a change like any other: a build touches the documents that mention it, no others. */
import { beforeAll, describe, expect, it } from 'vitest';
import { counted, published, run } from '../../../support/build.js';
import { temporary } from '../../../support/folder.js';
import { changeRegister, writeRegister } from '../../../support/register.js';
import { hashes, lasting, namesThatDiffer, readTree, stamps } from '../../../support/tree.js';
import type { Tree } from '../../../support/tree.js';

const path = temporary();

const TIME = '2026-11-20T07:00:00Z';
/** The index, statistics, the way to look up, and 200 lists of the largest. */
const SUMMARIES = 203;
/** Documents of each kind, so that one that is rendered beside those that are meant would be seen. */
const RECORDS = 300;
const IN_HISTORY = { first_measured_at: '2026-11-01T08:00:00Z', last_measured_at: '2026-11-01T08:00:00Z' };

/** Who is withheld, and was called otherwise. */
const USER = 150;
const [OLD, NAME, NEXT] = ['the first name', 'the second name', 'the third name'];

const many = <T extends object>(rowOf: (id: number) => T) =>
  Array.from({ length: RECORDS }, (_, index) => ({ id: index + 1, ...rowOf(index + 1) }));

/** Mentions by id or by each of the names alone, at ids that are in chunks of their own. */
const OWNERS: Readonly<Record<number, object>> = {
  20: { owner_state: 'owned', owner_id: USER, owner_name: NAME },
  90: { owner_state: 'owned', owner_name: OLD },
  160: { owner_state: 'owned', owner_name: NAME },
  230: { owner_state: 'owned', owner_name: NEXT },
};
const CREATORS: Readonly<Record<number, object>> = {
  30: { creator_type: 'user', creator_id: USER, creator_name: NAME },
  100: { creator_type: 'user', creator_name: OLD },
  170: { creator_name: NAME },
  240: { creator_type: 'user', creator_name: NEXT },
  // A group may be called the same.
  270: { creator_type: 'group', creator_name: NEXT },
  280: { creator_type: 'group', creator_name: NAME },
};
const anybody = (id: number): object => ({
  owner_state: 'owned',
  owner_id: 1000 + id,
  owner_name: `owner ${id}`,
});
const anyCreator = (id: number): object => ({
  creator_type: 'user',
  creator_id: 1000 + id,
  creator_name: `creator ${id}`,
});

const REGISTER = {
  groups: many((id) => OWNERS[id] ?? anybody(id)),
  group_owners: [40, 200].map((group_id) => ({
    group_id,
    position: 1,
    owner_state: 'owned',
    owner_id: group_id === 40 ? USER : null,
    owner_name: group_id === 40 ? OLD : NEXT,
    ...IN_HISTORY,
  })),
  users: many((id) => ({ username: id === USER ? NAME : `user ${id}` })),
  usernames: [OLD, NAME].map((username, index) => ({
    user_id: USER,
    position: index + 1,
    username,
    ...IN_HISTORY,
  })),
  games: many((id) => CREATORS[id] ?? anyCreator(id)),
  items: many((id) => CREATORS[id] ?? anyCreator(id)),
};

/** The newest owner of a group is the one that its record names. */
const OWNERS_AGREE = `UPDATE groups SET owner_id = ${USER}, owner_name = '${OLD}' WHERE id = 40;
  UPDATE groups SET owner_id = NULL, owner_name = '${NEXT}' WHERE id = 200;`;

const group = (id: number): readonly string[] => [`api/v1/group/${id}.json`, `group/${id}/history.json`];
const created = (id: number): readonly string[] => [`api/v1/game/${id}.json`, `api/v1/item/${id}.json`];

/** All that mention the user by id or a name it had. */
const MENTIONS = [
  ...[20, 90, 160].map((id) => `api/v1/group/${id}.json`),
  // In their histories, too.
  ...group(40),
  ...[30, 100, 170].flatMap(created),
];
/** All that mention it by the name it has next. */
const NEXT_MENTIONS = ['api/v1/group/230.json', ...group(200), ...created(240)];
const OWN = [`api/v1/user/${USER}.json`, `user/${USER}/usernames.json`];

const isOfRecord = (file: string): boolean =>
  /^(api\/v1\/(group|user|game|item)\/|group\/|user\/)/.test(file);

/** The documents of records whose files are others, or were touched. */
const touched = (before: Tree, after: Tree): readonly string[] =>
  namesThatDiffer(stamps(after), stamps(before)).filter(isOfRecord).toSorted();

describe('a build after which', () => {
  const register = path('register.sqlite');
  const out = path('dist');
  beforeAll(async () => {
    writeRegister(register, REGISTER);
    changeRegister(register, OWNERS_AGREE);
    await published({ register, out });
  });

  // In this order: each goes on from the one before.
  it.each<[string, string, readonly string[]]>([
    [
      'one user is withheld',
      `INSERT INTO withheld VALUES ('user', ${USER}, '${TIME}')`,
      [...OWN, ...MENTIONS],
    ],
    [
      'a withheld user has another name',
      `UPDATE users SET username = '${NEXT}' WHERE id = ${USER};
       INSERT INTO usernames VALUES (${USER}, 3, '${NEXT}', NULL, '2026-11-02T08:00:00Z', '2026-11-02T08:00:00Z')`,
      NEXT_MENTIONS,
    ],
    ['a withheld user has another value', `UPDATE users SET verified = 1 WHERE id = ${USER}`, []],
    ['one user is no longer withheld', 'DELETE FROM withheld', [...OWN, ...MENTIONS, ...NEXT_MENTIONS]],
    [
      'somebody is withheld whom nothing mentions',
      `INSERT INTO withheld VALUES ('user', 999999, '${TIME}')`,
      [],
    ],
  ])('%s has touched the documents that mention it, and no other', async (_, sql, files) => {
    const before = readTree(out);
    changeRegister(register, sql);
    const { rendered } = await counted({ register, out, acceptRemovals: true });
    const after = readTree(out);
    expect(touched(before, after)).toEqual([...files].toSorted());
    // A record is rendered with its history, where nothing may have changed; and then there are feeds.
    expect(rendered).toBeLessThanOrEqual(SUMMARIES + 2 * files.length + 30);
    const fresh = path('fresh');
    await published({ register, out: fresh });
    expect(hashes(lasting(after))).toEqual(hashes(lasting(readTree(fresh))));
    const again = await counted({ register, out });
    expect([again.rendered, again.changes.unchanged]).toEqual([SUMMARIES, again.files]);
    expect(touched(after, readTree(out))).toEqual([]);
  });

  it('a withheld user has another name says nowhere what it is', async () => {
    changeRegister(register, `INSERT INTO withheld VALUES ('user', ${USER}, '${TIME}')`);
    await published({ register, out });
    const telling = [...readTree(out)].filter(([, { text }]) =>
      [OLD, NAME, NEXT].some((name) => text.includes(name)),
    );
    // Those of groups that are called the same.
    const records = telling.map(([file]) => file).filter(isOfRecord);
    expect(records.toSorted()).toEqual([270, 280].flatMap(created).toSorted());
  });

  it('a row of a withheld record breaks the contract is refused, as by a check', async () => {
    const before = readTree(out);
    changeRegister(register, `UPDATE users SET measurements = -5 WHERE id = ${USER}`);
    const { published: isPublished, report } = await run({ register, out });
    expect([isPublished, report.findings]).toMatchObject([
      false,
      [{ table: 'users', column: 'measurements', examples: [{ key: `id = ${USER}` }] }],
    ]);
    expect(stamps(readTree(out))).toEqual(stamps(before));
  });
});
