/** Names of withheld records: which are found, and where they are hidden. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { published } from '../../support/build.js';
import { csvObjects } from '../../support/csv.js';
import { temporary } from '../../support/folder.js';
import { writeOperator } from '../../support/operator.js';
import { changeRegister, writeRegister } from '../../support/register.js';
import { readTree } from '../../support/tree.js';

const path = temporary();
const SINCE = '2026-11-20T00:00:00Z';

/** Spellings of the names of a user and a group, as others are named without an id. */
const SPELLINGS = {
  // The last ones are known by references that have its id, and as its id on the platform.
  user: 'zqxalpha|ZQXALPHA|zqxalpha |\u3000ＺＱＸalpha\n|Zqxformer|zqxFORMER|Zqxshown|ZQXSHOWN|zqxowner|zqxmaker|zqx-slug'.split(
    '|',
  ),
  group: ['Zqx Group', 'zqx group', ' ZQX GROUP', 'Zqx Earlier', 'zqx earlier'],
};
/** Names that stay. */
const OTHERS = ['zqxalph', 'zqxalpha2', 'zq xalpha', 'Zqxgroup', 'zqx-other-slug'];

/** A register in which every name is published of a group, its former owners, a game and an item, of each kind. */
function registerOf(): string {
  const names = [...SPELLINGS.user, ...SPELLINGS.group, ...OTHERS];
  const named = (['user', 'group', null] as const).flatMap((creator_type) =>
    names.map((creator_name) => ({ creator_type, creator_name })),
  );
  const records = named.map((creator, index) => ({ id: 100 + index, name: `no ${index}`, ...creator }));
  const owned = records.filter(({ creator_type }) => creator_type === 'user');
  const last = { first_measured_at: '2026-11-02T00:00:00Z', last_measured_at: '2026-11-02T00:00:00Z' };
  const first = { first_measured_at: '2026-11-01T00:00:00Z', last_measured_at: '2026-11-01T00:00:00Z' };
  return writeRegister(path('register.sqlite'), {
    groups: [
      { id: 5, name: 'Zqx Group' },
      { id: 6, owner_state: 'owned', owner_id: 5, owner_name: 'Zqxowner' },
      ...owned.map(({ id, name, creator_name: owner_name }) => {
        return { id, name, owner_state: 'owned', owner_name };
      }),
    ],
    group_names: [
      { group_id: 5, position: 1, name: 'Zqx Earlier', ...first },
      { group_id: 5, position: 2, name: 'Zqx Group', ...last },
    ],
    group_owners: owned.flatMap(({ id, creator_name }) => [
      { group_id: id, position: 1, owner_state: 'none', owner_name: null, ...first },
      { group_id: id, position: 2, owner_state: 'owned', owner_name: creator_name, ...last },
    ]),
    users: [
      { id: 5, username: 'zqxalpha', display_name: 'Zqxshown', platform_id: 'zqx-slug' },
      { id: 6, username: 'somebody', display_name: 'Zqxshown', platform_id: 'zqx-other-slug' },
    ],
    usernames: [
      { user_id: 5, position: 1, username: 'Zqxformer', ...first },
      { user_id: 5, position: 2, username: 'zqxalpha', ...last },
    ],
    games: records,
    items: [...records, { id: 6, creator_type: 'user', creator_id: 5, creator_name: 'Zqxmaker' }],
  });
}

function namesIn(out: string): Record<string, readonly string[]> {
  const found = new Map<string, Set<string>>();
  for (const [kind, named] of [
    ['group', 'owner'],
    ['game', 'creator'],
    ['item', 'creator'],
  ] as const) {
    for (const row of csvObjects(readFileSync(join(out, `downloads/${kind}s.csv`), 'utf8'))) {
      const of = `${kind} ${row['creator_type'] ?? (kind === 'group' ? 'user' : 'any')}`;
      const name = row[`${named}_name`];
      if (typeof name === 'string') found.set(of, (found.get(of) ?? new Set()).add(name));
    }
  }
  return Object.fromEntries([...found].map(([of, names]) => [of, [...names].toSorted()]));
}

const withhold = (kind: string): string => `INSERT INTO withheld VALUES ('${kind}', 5, '${SINCE}');`;

it('a withheld record is named nowhere without its id, in whatever case, width or outer spaces', async () => {
  const register = registerOf();
  const out = path('dist');
  await published({ register, out });
  const all = [...SPELLINGS.user, ...SPELLINGS.group, ...OTHERS].toSorted();
  expect(namesIn(out)['item any']).toEqual(all);
  changeRegister(register, withhold('user') + withhold('group'));
  await published({ register, out });
  const users = [...OTHERS, ...SPELLINGS.group].toSorted();
  const groups = [...OTHERS, ...SPELLINGS.user].toSorted();
  expect(namesIn(out)).toEqual({
    'group user': users,
    'game user': users,
    'game group': groups,
    'game any': OTHERS.toSorted(),
    'item user': users,
    'item group': groups,
    'item any': OTHERS.toSorted(),
  });
  // Also where what has their names counts as not measured.
  const operator = writeOperator(path('site'), { not_measured: ['users', 'usernames', 'group_names'] });
  const other = path('other');
  await published({ register, out: other, operator });
  expect(namesIn(other)).toEqual(namesIn(out));
  // Owners in histories and feeds.
  const texts = [...readTree(out)].filter(([file]) => /^(group|feeds)\/.*json$/.test(file));
  const shown = texts.map(([, { text }]) => text).join('\n');
  for (const name of SPELLINGS.user) {
    expect(shown).not.toContain(`"name":${JSON.stringify(name)}`);
    expect(shown).not.toContain(`“${name}”`);
  }
  for (const name of OTHERS) {
    expect(shown).toContain(`"name":${JSON.stringify(name)}`);
    expect(shown).toContain(`“${name}”`);
  }
});
