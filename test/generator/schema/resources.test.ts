/** The declarations and data/schema.sql say the same, both ways. */
import { openDatabase } from '../../../generator/base/sqlite/sqlite.js';
import { describe, expect, it } from 'vitest';
import type { Column } from '../../../generator/schema/field.js';
import type { ColumnType } from '../../../generator/schema/shape.js';
import { TABLES } from '../../../generator/schema/schema.js';
import { SCHEMA } from '../../support/register.js';

/** `pk`: the place in the primary key, from 1; 0 outside it. */
type SchemaColumn = Record<'table' | 'name' | 'type', string> & Record<'notnull' | 'pk', number>;

const database = openDatabase(':memory:');
database.exec(SCHEMA);
const schema = database
  .prepare<[], SchemaColumn>(
    `SELECT t.name AS "table", c.name, c.type, c."notnull", c.pk
     FROM pragma_table_list AS t JOIN pragma_table_xinfo(t.name) AS c
     WHERE t.schema = 'main' AND t.name NOT LIKE 'sqlite_%'`,
  )
  .all();

const place = ({ table, name }: { table: string; name: string }): string => `${table}.${name}`;
const declared = TABLES.flatMap((table) =>
  table.columns.map((column) => ({ ...column, table: table.name, key: table.key.includes(column) })),
);

const INTEGERS: ReadonlySet<ColumnType> = new Set(['id', 'ordinal', 'count', 'boolean']);
const storedAs = ({ type }: Pick<Column, 'type'>): string => (INTEGERS.has(type) ? 'INTEGER' : 'TEXT');

describe('data/schema.sql', () => {
  it('has every declared table and column, and no other', () => {
    expect(schema.map(place).toSorted()).toEqual(declared.map(place).toSorted());
  });

  it('stores each column as what it is declared', () => {
    for (const column of schema) {
      const declaration = declared.find((candidate) => place(candidate) === place(column));
      const found = [place(column), declaration && storedAs(declaration), declaration?.nullable];
      // SQLite calls an INTEGER PRIMARY KEY nullable, though it never is.
      expect(found).toEqual([place(column), column.type, column.notnull === 0 && column.pk === 0]);
    }
  });

  it('has the primary keys that rows are declared to be known by', () => {
    for (const { name, key } of TABLES) {
      const primary = schema.filter(({ table, pk }) => table === name && pk > 0);
      expect(primary.toSorted((a, b) => a.pk - b.pk).map((column) => column.name)).toEqual(
        key.map((column) => column.name),
      );
    }
  });

  it('has STRICT tables, which keep text out of integer columns, and the version of the contract', () => {
    const loose = `SELECT name FROM pragma_table_list WHERE schema = 'main' AND name NOT LIKE 'sqlite_%' AND NOT strict`;
    expect(database.prepare<[]>(loose).pluck().all()).toEqual([]);
    expect(database.pragma('user_version', { simple: true })).toBe(1);
  });

  it('names beside each enumerated column the values that are declared for it', () => {
    for (const [, table, body] of SCHEMA.matchAll(/CREATE TABLE (\w+) \(([^;]*)\)/g)) {
      for (const [, column, values] of body?.matchAll(/^\s+(\w+)\s.*-- (\w+(?: · \w+)+)$/gm) ?? []) {
        const declaration = declared.find(({ table: t, name }) => t === table && name === column);
        expect([table, column, declaration?.values]).toEqual([table, column, values?.split(' · ')]);
      }
    }
    const enumerated = declared.filter(({ type }) => type === 'enum').length;
    expect(SCHEMA.match(/-- \w+(?: · \w+)+$/gm)).toHaveLength(enumerated);
  });
});

function suits({ type, values, example }: Column): boolean {
  if (type === 'boolean') return typeof example === 'boolean';
  if (INTEGERS.has(type))
    return Number.isSafeInteger(example) && Number(example) >= (type === 'count' ? 0 : 1);
  if (typeof example !== 'string') return false;
  if (type === 'time' || type === 'date')
    return new Date(example).toISOString() === example.replace('Z', '.000Z');
  return type === 'text' || values?.includes(example) === true;
}

it('every declared column has a description, an example of its type, and a unit where it counts something', () => {
  const wrong = declared.filter((column) => !/^[A-Z].*\.$/.test(column.description) || !suits(column));
  expect(wrong.map(place)).toEqual([]);
  expect(declared.filter(({ type, unit }) => (type === 'count') !== (unit !== undefined))).toEqual([]);
});
