/** Registers of views: what is published follows from the rows, however they are read. */
import { expect, it } from 'vitest';
import { rangesOf } from '../../../generator/pipeline/sections.js';
import { RECORD_SECTIONS } from '../../../generator/outputs/sections.js';
import { openDatabase } from '../../../generator/base/sqlite/sqlite.js';
import { temporary } from '../../support/folder.js';
import { contentOf } from '../../support/published.js';
import { writeRegister } from '../../support/register.js';
import { fresh, site } from '../../support/site.js';
import { differing } from '../../support/tree.js';
import { contextOf } from '../exports/support.js';

const path = temporary();

it('views whose ids can’t be searched give the tree of the tables, also after a change', async () => {
  const made = await site(path);
  const database = openDatabase(made.register, { fileMustExist: true });
  const named = `SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite_%'`;
  for (const table of database.prepare<[], string>(named).pluck().all()) {
    const query = database.prepare<[string], string>('SELECT name FROM pragma_table_info(?)').pluck();
    const columns = query
      .all(table)
      .map((name) => (/^(id|group_id|user_id)$/.test(name) ? `+${name} AS ${name}` : name));
    database.exec(`ALTER TABLE ${table} RENAME TO raw_${table};
      CREATE VIEW "${table.toUpperCase()}" AS SELECT ${columns.toReversed().join(', ')} FROM raw_${table}`);
  }
  database.close();
  expect(await made.build()).toMatchObject({ sequence: 1, changes: { added: 0, changed: 0, removed: 0 } });
  await made.build(
    `UPDATE raw_users SET username = 'renamed' WHERE id = 7007; DELETE FROM raw_items WHERE id = 6`,
  );
  expect(differing(contentOf(made.out), await fresh(made.register, path('fresh')))).toEqual([]);
});

/** The ranges of 20,000 items, after a change of their register. */
function rangesAfter(sql: string) {
  const file = writeRegister(
    path('many.sqlite'),
    `WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 20000)
     INSERT INTO items (id, first_measured_at, measured_at, measurements)
     SELECT 3 * i, '2026-11-01T08:00:00Z', '2026-11-01T08:00:00Z', 1 FROM n; ${sql}`,
  );
  const section = RECORD_SECTIONS.find(({ split }) => split === 'item');
  if (section === undefined) throw new Error('no section of items');
  return rangesOf(contextOf(file).register, section);
}

it('records are rendered some thousand at once, or all where a view can’t be searched by id', () => {
  const high = Number.MAX_SAFE_INTEGER;
  expect(rangesAfter('')).toEqual([
    { low: 0, high: 3 * 8192 - 1 },
    { low: 3 * 8192, high: 3 * 16_384 - 1 },
    { low: 3 * 16_384, high },
  ]);
  const view = 'CREATE VIEW items AS SELECT +id AS id, measured_at FROM raw';
  expect(rangesAfter(`ALTER TABLE items RENAME TO raw; ${view}`)).toEqual([{ low: 0, high }]);
});
