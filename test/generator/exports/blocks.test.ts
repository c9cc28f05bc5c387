/** How the rows of an export are read: from tables page by page, from views in one pass. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { openDatabase } from '../../../generator/sqlite/index.js';
import { describe, expect, it } from 'vitest';
import { writeSample } from '../../../data/sample.js';
import { blocks } from '../../../generator/exports/blocks.js';
import { valuesOf } from '../../../generator/exports/cells.js';
import type { Cell } from '../../../generator/exports/cells.js';
import { EXPORTS } from '../../../generator/exports/tables.js';
import { writeExport } from '../../../generator/exports/write.js';
import { Register } from '../../../generator/register/database.js';
import { markWithheld } from '../../../generator/register/overview.js';
import { EXPORT_FORMATS } from '../../../generator/routes/exports.js';
import { temporary } from '../../support/folder.js';
import { changeRegister, writeRegister } from '../../support/register.js';

const path = temporary();
const NAMES = EXPORTS.map(({ name }) => name);

/** Puts a view in the place of each table. */
function adapt(file: string): void {
  changeRegister(
    file,
    NAMES.map(
      (name) =>
        `ALTER TABLE "${name}" RENAME TO "_${name}"; CREATE VIEW "${name}" AS SELECT * FROM "_${name}";`,
    ).join('\n'),
  );
}

function opened(file: string): Register {
  const register = Register.open(file);
  markWithheld(register);
  return register;
}

/** All files of all exports. */
function written(file: string, folder: string): Map<string, string> {
  const register = opened(file);
  try {
    const files = new Map<string, string>();
    for (const table of EXPORTS) {
      const written = writeExport({ register, advance: () => undefined }, { table: table.name, folder });
      for (const [index, { rows, sha256 }] of written.entries())
        files.set(`${table.name}.${EXPORT_FORMATS[index]?.format}: ${rows} rows`, sha256);
    }
    return files;
  } finally {
    register.close();
  }
}

describe('the files of all exports', () => {
  it('are the same to the byte from tables, page by page, and from views of them, in one pass', async () => {
    const file = path('sample.sqlite');
    await writeSample({ file, records: 12_000, seed: 3 });
    const database = openDatabase(file);
    // Many entries of one record, around the end of a page.
    database.exec(`
      INSERT INTO withheld SELECT 'group', id, '2026-11-20T08:00:00Z' FROM groups WHERE id % 50 = 0;
      WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 2500)
        INSERT INTO usernames (user_id, position, username, first_measured_at, last_measured_at)
        SELECT (SELECT id FROM users ORDER BY id LIMIT 1 OFFSET 300), 1000 + i, 'name ' || i,
          strftime('%Y-%m-%dT%H:%M:%SZ', i * 86400, 'unixepoch'), strftime('%Y-%m-%dT%H:%M:%SZ', i * 86400 + 9, 'unixepoch') FROM n;
    `);
    database.close();
    const folder = path('tables');
    const fromTables = written(file, folder);
    adapt(file);
    const fromViews = written(file, path('views'));
    expect(fromViews).toEqual(fromTables);
    // A table that finds records by their key, and not the entries of one by their order.
    changeRegister(
      file,
      `DROP VIEW usernames;
       CREATE TABLE usernames (user_id INTEGER, position INTEGER, username TEXT, changed_at TEXT,
         first_measured_at TEXT, last_measured_at TEXT, PRIMARY KEY (user_id, username, position)) WITHOUT ROWID;
       INSERT INTO usernames SELECT user_id, position, username, changed_at, first_measured_at, last_measured_at FROM _usernames;`,
    );
    expect(written(file, path('ordered otherwise'))).toEqual(fromTables);
    expect([...fromTables.keys()].some((name) => / [1-9]\d{4,} rows/.test(name))).toBe(true);
    // And nothing is left out at the end of a page.
    const lines = readFileSync(join(folder, 'downloads/usernames.csv'), 'utf8').match(/\r\n/g)?.length;
    expect(fromTables.has(`usernames.csv: ${Number(lines) - 1} rows`)).toBe(true);
  });
});

describe('blocks', () => {
  it('hold each row once, in order of the key, and never part the entries of a record', () => {
    const file = writeRegister(
      path('register.sqlite'),
      `WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 5000)
        INSERT INTO group_member_readings
        SELECT 1 + i / 7, strftime('%Y-%m-%dT%H:%M:%SZ', i * 3600, 'unixepoch'), i FROM n;
       INSERT INTO group_member_readings VALUES (9007199254740991, '2026-11-20T08:00:00Z', 1);`,
    );
    for (const isView of [false, true]) {
      if (isView) adapt(file);
      const register = opened(file);
      const table = EXPORTS.find(({ name }) => name === 'group_member_readings');
      if (table === undefined) throw new TypeError('no such export');
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
});
