/** When the bulk downloads are written again, and that nothing goes wrong with them on the way. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { published } from '../../support/build.js';
import { csvObjects } from '../../support/csv.js';
import { temporary } from '../../support/folder.js';
import { sites } from '../../support/site.js';
import { hashes, readTree, stamps } from '../../support/tree.js';

const path = temporary();
const TIME = '2026-11-20T08:00:00Z';
const site = sites(path, {
  groups: [
    { id: 1, name: 'one' },
    { id: 2, name: 'two' },
  ],
  users: [{ id: 1, username: 'u' }],
  games: [{ id: 1, name: 'g' }],
  items: [{ id: 1, name: 'i', price: 1 }],
});

/** The tables whose files another build has touched, all three of each. */
function rewritten(before: Record<string, string>, after: Record<string, string>): string[] {
  const files = Object.keys(after).filter((name) => /^downloads\/.*\.(csv|csv\.gz|parquet)$/.test(name));
  const changed = files.filter((name) => after[name] !== before[name]);
  const tables = [...new Set(changed.map((name) => name.replace(/^downloads\/(\w+)\..*$/, '$1')))];
  expect(changed).toHaveLength(3 * tables.length);
  return tables;
}

const downloadsOf = (out: string): Record<string, string> => hashes(readTree(join(out, 'downloads')));
const rowsOf = (out: string, name: string) =>
  csvObjects(readFileSync(join(out, 'downloads', `${name}.csv`), 'utf8'));

/** What else is written from the rows of each kind. */
const GROUP = ['documents/group', 'documents/group-history'];
const OTHER = 'documents/other';

describe('a table', () => {
  it.each([
    ['UPDATE items SET price = 2', ['items'], ['documents/item']],
    // The statistics count readings, members and visits.
    [
      `INSERT INTO group_member_readings VALUES (2, '${TIME}', 5)`,
      ['group_member_readings', 'groups'],
      [...GROUP, OTHER],
    ],
  ])('is written again after %s if it says so, and else not touched', async (sql, tables, more) => {
    const made = await site();
    const before = stamps(readTree(made.out));
    const { exports } = await made.build(sql);
    const written = Object.keys(exports).filter((name) => exports[name]?.written);
    const database = tables.length > 0 ? ['register.sqlite'] : [];
    expect(written.toSorted()).toEqual([...tables, ...more, ...database].toSorted());
    // What was written again and came out the same keeps its file.
    expect(tables).toEqual(expect.arrayContaining(rewritten(before, stamps(readTree(made.out)))));
    const fresh = path('fresh');
    await published({ register: made.register, out: fresh });
    expect(downloadsOf(made.out)).toEqual(downloadsOf(fresh));
  });

  it('is written again where only places in a history differ, which no document says', async () => {
    const made = await site();
    await made.build(`INSERT INTO group_names VALUES (1, 1, 'one', NULL, '${TIME}', '${TIME}')`);
    await made.build('UPDATE group_names SET position = 4');
    expect(rowsOf(made.out, 'group_names')).toMatchObject([{ group_id: '1', position: '4' }]);
  });
});
