/** Names of withheld records: which are found, and where they are hidden. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { Register } from '../../../generator/register/database.js';
import { markWithheld } from '../../../generator/register/overview.js';
import { exclusion } from '../../../generator/register/sql.js';
import {
  id,
  object,
  text,
  type Kind,
  type Reference,
  type Resource,
} from '../../../generator/schema/field.js';
import { RESOURCES } from '../../../generator/schema/schema.js';
import { item } from '../../../generator/schema/item.js';
import { published } from '../../support/build.js';
import { csvObjects } from '../../support/csv.js';
import { temporary } from '../../support/folder.js';
import { contentOf } from '../../support/published.js';
import { changeRegister, writeRegister } from '../../support/register.js';
import { readTree } from '../../support/tree.js';

const path = temporary();
const SINCE = '2026-11-20T00:00:00Z';

it('the names of a withheld user are those of every declared reference, a new one too', () => {
  const file = writeRegister(path('register.sqlite'), {
    users: [{ id: 5, username: 'now' }],
    groups: [{ id: 1, owner_state: 'owned', owner_id: 5, owner_name: 'as owner' }],
    games: [{ id: 1, creator_id: 5, creator_name: 'as creator of any kind' }],
    items: [
      { id: 1, creator_type: 'user', creator_id: 5, creator_name: 'as creator' },
      { id: 2, creator_type: 'group', creator_id: 5, creator_name: 'of a group' },
    ],
  });
  changeRegister(
    file,
    `INSERT INTO withheld VALUES ('user', 5, '${SINCE}');
     ALTER TABLE items ADD COLUMN seller_id INTEGER; ALTER TABLE items ADD COLUMN seller_name TEXT;
     UPDATE items SET seller_id = 5, seller_name = 'as seller' WHERE id = 1`,
  );
  const SELLER: Reference = { kind: 'user', id: 'seller_id', name: 'seller_name' };
  const seller = object('seller', 'Who sells it.', {
    id: id('seller_id', 1, 'Id.', { identifies: SELLER }),
    name: text('seller_name', 'x', 'Name.', { identifies: SELLER }),
  });
  const sold: Resource = { ...item, record: { ...item.record, fields: [...item.record.fields, seller] } };
  const register = Register.open(file);
  try {
    // A made-up column is not in the view that covers the table.
    register.execute('DROP VIEW temp.items');
    markWithheld(
      register,
      RESOURCES.map((resource) => (resource === item ? sold : resource)),
    );
    expect(register.exclusions()[exclusion('withheld_name', 'user')]).toEqual(
      ['now', 'as owner', 'as creator of any kind', 'as creator', 'as seller'].toSorted(),
    );
    expect(register.exclusions()[exclusion('withheld_name', 'group')] ?? []).toEqual([]);
  } finally {
    register.close();
  }
});

/** Spellings of the names of a user and a group, as others are named without an id. */
const SPELLINGS = {
  user: [
    'zqxalpha',
    'ZQXALPHA',
    'zqxalpha ',
    '\u3000ＺＱＸalpha\n',
    'Zqxformer',
    'zqxFORMER',
    'Zqxshown',
    'ZQXSHOWN',
  ],
  group: ['Zqx Group', 'zqx group', ' ZQX GROUP', 'Zqx Earlier', 'zqx earlier'],
};
/** Names that stay. */
const OTHERS = ['zqxalph', 'zqxalpha2', 'zq xalpha', 'Zqxgroup'];

/** A register in which every name is published of a group, its former owners, a game and an item, of each kind. */
function registerOf(): string {
  const named = (['user', 'group', null] as const).flatMap((creator_type) =>
    [...SPELLINGS.user, ...SPELLINGS.group, ...OTHERS].map((creator_name) => ({
      creator_type,
      creator_name,
    })),
  );
  const records = named.map((creator, index) => ({ id: 100 + index, name: `no ${index}`, ...creator }));
  const owned = records.filter(({ creator_type }) => creator_type === 'user');
  const last = { first_measured_at: '2026-11-02T00:00:00Z', last_measured_at: '2026-11-02T00:00:00Z' };
  const first = { first_measured_at: '2026-11-01T00:00:00Z', last_measured_at: '2026-11-01T00:00:00Z' };
  return writeRegister(path('register.sqlite'), {
    groups: [
      { id: 5, name: 'Zqx Group' },
      ...owned.map(({ id, name, creator_name }) => ({
        id,
        name,
        owner_state: 'owned',
        owner_name: creator_name,
      })),
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
      { id: 5, username: 'zqxalpha', display_name: 'Zqxshown' },
      { id: 6, username: 'somebody', display_name: 'Zqxshown' },
    ],
    usernames: [
      { user_id: 5, position: 1, username: 'Zqxformer', ...first },
      { user_id: 5, position: 2, username: 'zqxalpha', ...last },
    ],
    games: records,
    items: records,
  });
}

/** The names that the downloads have of owners and creators, of each kind. */
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

const withhold = (kind: Kind): string => `INSERT INTO withheld VALUES ('${kind}', 5, '${SINCE}');`;

describe('a withheld record', () => {
  it('is named nowhere without its id, in whatever case, width or outer spaces', async () => {
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
    const fresh = path('fresh');
    await published({ register, out: fresh });
    expect(contentOf(out)).toEqual(contentOf(fresh));
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
});
