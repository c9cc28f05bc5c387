/** Registers of views: what is published follows from the rows, however they are read. */
import { readdirSync } from 'node:fs';
import { expect, it } from 'vitest';
import { batchesOf } from '../../../generator/exports/rows.js';
import { exportNamed } from '../../../generator/exports/tables.js';
import { rangesOf } from '../../../generator/pipeline/sections.js';
import { RECORD_SECTIONS } from '../../../generator/outputs/sections.js';
import { TABLES } from '../../../generator/schema/schema.js';
import { temporary } from '../../support/folder.js';
import { contentOf } from '../../support/published.js';
import { runSql, writeRegister } from '../../support/register.js';
import { Site, fresh, site } from '../../support/site.js';
import { differing, inState, json, readTree } from '../../support/tree.js';
import { contextOf } from '../exports/support.js';
import { expectAtRest } from '../publish/support.js';

const path = temporary();

it('views whose ids can’t be searched give the tree of the tables, also after a change', async () => {
  const made = await site(path);
  for (const { name: table, columns } of TABLES) {
    const read = columns.map(({ name }) =>
      /^(id|group_id|user_id)$/.test(name) ? `+${name} AS ${name}` : name,
    );
    runSql(
      made.register,
      `ALTER TABLE ${table} RENAME TO raw_${table};
       CREATE VIEW "${table.toUpperCase()}" AS SELECT ${read.toReversed().join(', ')} FROM raw_${table}`,
    );
  }
  expect(await made.build()).toMatchObject({ sequence: 1, changes: { added: 0, changed: 0, removed: 0 } });
  await made.build(
    `UPDATE raw_users SET username = 'renamed' WHERE id = 7007; DELETE FROM raw_items WHERE id = 6`,
  );
  expect(differing(contentOf(made.out), await fresh(made.register, path('fresh')))).toEqual([]);
});

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

it('a list ends after 20,000 lines, and the next build goes on from all of them', async () => {
  const items = Array.from({ length: 20_001 }, (_, index) => ({ id: index + 1, price: 5 }));
  const made = new Site(writeRegister(path('long.sqlite'), { items }), path('dist'));
  const { out } = made;
  await made.build(
    'ALTER TABLE items RENAME TO raw; CREATE VIEW items AS SELECT +id AS id, price, measured_at FROM raw',
  );
  expect(readdirSync(inState(out, 'lists/item'))).toEqual(
    [0, 20_001].map((low) => `${String(low).padStart(16, '0')}.sha256`),
  );
  await made.build('UPDATE raw SET price = 6 WHERE id IN (7, 20001); DELETE FROM raw WHERE id = 8');
  expect(json(readTree(out), 'api/v1/item/20001.json')).toMatchObject({ price: 6 });
  await expectAtRest(out);
});

it('a batch of rows ends after four million characters', () => {
  const items = Array.from({ length: 20 }, (_, id) => ({ id: id + 1, description: 'd'.repeat(500_000) }));
  const { register } = contextOf(writeRegister(path('texts.sqlite'), { items }));
  expect([...batchesOf(register, exportNamed('items'))].map((batch) => batch.length)).toEqual([9, 9, 2]);
});
