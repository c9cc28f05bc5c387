/** How the rows of an export are read: from tables page by page, from views in one pass. */
import { expect, it } from 'vitest';
import { blocks } from '../../../generator/exports/blocks.js';
import { valuesOf, type Cell } from '../../../generator/exports/cells.js';
import { EXPORTS } from '../../../generator/exports/tables.js';
import { Register } from '../../../generator/register/database.js';
import { markWithheld } from '../../../generator/register/overview.js';
import { temporary } from '../../support/folder.js';
import { changeRegister, writeRegister } from '../../support/register.js';

const path = temporary();
it('blocks hold each row once, in order of the key, and never part the entries of a record', () => {
  const file = writeRegister(
    path('register.sqlite'),
    `WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 5000)
        INSERT INTO group_member_readings
        SELECT 1 + i / 7, strftime('%Y-%m-%dT%H:%M:%SZ', i * 3600, 'unixepoch'), i FROM n;
       INSERT INTO group_member_readings VALUES (9007199254740991, '2026-11-20T08:00:00Z', 1);`,
  );
  const table = EXPORTS.find(({ name }) => name === 'group_member_readings');
  if (table === undefined) throw new TypeError('no such export');
  const asView = `ALTER TABLE group_member_readings RENAME TO raw;
      CREATE VIEW group_member_readings AS SELECT * FROM raw;`;
  for (const sql of ['', asView]) {
    changeRegister(file, sql);
    const register = Register.open(file);
    markWithheld(register);
    const found = [...blocks(register, table)];
    register.close();
    const valuesIn = (column: number): Cell[][] =>
      found.map(({ columns }) =>
        valuesOf(columns[column] ?? Buffer.alloc(0), table.columns[column]?.value.type ?? 'text'),
      );
    const counts = valuesIn(2).flat();
    expect(counts).toEqual([...Array.from({ length: 5000 }, (_, index) => index + 1), 1]);
    const ids = valuesIn(0);
    expect(found.map(({ rows }) => rows)).toEqual(ids.map(({ length }) => length));
    expect(found.length).toBe(5);
    const ends = ids.map((own) => [own[0], own.at(-1)]);
    for (const [index, [first]] of ends.entries()) expect(first).not.toBe(ends[index - 1]?.[1]);
  }
});
