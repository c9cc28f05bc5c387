/** Names of withheld records: which are found. */
import { expect, it } from 'vitest';
import { Register } from '../../../generator/register/database.js';
import { markWithheld } from '../../../generator/register/overview.js';
import { exclusion } from '../../../generator/register/sql.js';
import { object, text, id } from '../../../generator/schema/field.js';
import type { Kind, Reference, Resource } from '../../../generator/schema/field.js';
import { RESOURCES } from '../../../generator/schema/index.js';
import { item } from '../../../generator/schema/item.js';
import { temporary } from '../../support/folder.js';
import { changeRegister, writeRegister } from '../../support/register.js';

const path = temporary();
const SINCE = '2026-11-20T00:00:00Z';

function namesOf(file: string, kind: Kind, resources = RESOURCES): readonly unknown[] {
  const register = Register.open(file);
  try {
    // A made-up column is not in the view that covers the table.
    register.execute('DROP VIEW temp.items');
    markWithheld(register, resources);
    return register.exclusions()[exclusion('withheld_name', kind)] ?? [];
  } finally {
    register.close();
  }
}

it('the names of a withheld user are those of the user and of every declared reference, a new one too', () => {
  const seen = { first_measured_at: SINCE, last_measured_at: SINCE };
  const file = writeRegister(path('register.sqlite'), {
    users: [{ id: 5, username: 'now' }],
    usernames: [{ user_id: 5, position: 1, username: 'before', ...seen }],
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
     ALTER TABLE items ADD COLUMN seller_id INTEGER;
     ALTER TABLE items ADD COLUMN seller_name TEXT;
     UPDATE items SET seller_id = 5, seller_name = 'as seller' WHERE id = 1`,
  );
  const names = ['now', 'before', 'as owner', 'as creator of any kind', 'as creator'];
  expect(namesOf(file, 'user')).toEqual(names.toSorted());
  expect(namesOf(file, 'group')).toEqual([]);
  const SELLER: Reference = { kind: 'user', id: 'seller_id', name: 'seller_name' };
  const seller = object('seller', 'Who sells it.', {
    id: id('seller_id', 1, 'Id.', { identifies: SELLER }),
    name: text('seller_name', 'x', 'Name.', { identifies: SELLER }),
  });
  const sold: Resource = { ...item, record: { ...item.record, fields: [...item.record.fields, seller] } };
  const resources = RESOURCES.map((resource) => (resource === item ? sold : resource));
  expect(namesOf(file, 'user', resources)).toEqual([...names, 'as seller'].toSorted());
});
