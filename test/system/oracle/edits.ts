/**
 * What may become of a register between two builds. Each edit is SQL that follows from some numbers, and leaves a
 * register that keeps the contract, except for the one that is meant to break it.
 */
import { RESOURCES, type Table } from '../../../generator/schema/schema.js';
import { SCHEMA } from '../../support/register.js';

/** Numbers that an edit chooses by. */
export interface Choice {
  readonly a: number;
  readonly b: number;
  readonly c: number;
}

/** What the tables of a register look like, besides their rows. */
export interface Shape {
  /** Tables that are views, over a table `raw_NAME`. */
  readonly views: ReadonlySet<string>;
}

type Edit = (choice: Choice, base: (table: string) => string) => string;

/** Each kind of record with the tables of its histories, and the column of those that names the record. */
const KINDS = RESOURCES.map(({ kind, plural, histories }) => ({
  kind,
  table: plural,
  key: histories[0]?.key.name ?? '',
  histories: histories.map(({ table }) => table),
}));

export const of = <T>(list: readonly T[], index: number): T => {
  const found = list[index % list.length];
  if (found === undefined) throw new TypeError('nothing to choose from');
  return found;
};

/** The id of one of a table's records. */
const some = (table: string, index: number): string =>
  `(SELECT id FROM ${table} ORDER BY id LIMIT 1 OFFSET ${index} % max(1, (SELECT count(*) FROM ${table})))`;

const LETTERS = ['', 'é', 'Ä ö', '=1+1', '"', 'a\u0000b', '  ', 'NULL', '\n', '👩‍👧', 'x'.repeat(5_000)];
const text = (index: number): string => {
  const value = `${of(LETTERS, index)}${index % 7}`;
  return value.includes('\u0000')
    ? `CAST(x'${Buffer.from(value).toString('hex')}' AS TEXT)`
    : `'${value.replaceAll("'", "''")}'`;
};

/** Columns that no rule of the contract ties to another. */
const FREE: readonly (readonly [table: string, column: string, value: (index: number) => string])[] = [
  ['groups', 'description', text],
  ['groups', 'verified', (index) => String(index % 2)],
  ['users', 'display_name', text],
  ['users', 'verified', (index) => String(index % 2)],
  ['games', 'visits', String],
  ['games', 'name', text],
  ['games', 'genre', text],
  ['items', 'favourites', String],
  ['items', 'description', text],
  ['items', 'asset_type_id', (index) => String(index + 1)],
];

/** Moves a record's time of measurement on; months and years pass. */
const later = (base: string, id: string, hours: number): string =>
  `UPDATE ${base} SET measurements = measurements + 1,
     measured_at = strftime('%Y-%m-%dT%H:%M:%SZ', measured_at, '+${hours} hours') WHERE id = ${id};`;

/** Gives a record another name, as a new entry of its history. */
function renamed(base: (table: string) => string, kind: 'group' | 'user', choice: Choice): string {
  const [table, history, key, column] =
    kind === 'group'
      ? ['groups', 'group_names', 'group_id', 'name']
      : ['users', 'usernames', 'user_id', 'username'];
  const [records, entries] = [base(table), base(history)];
  const id = some(records, choice.a);
  return `CREATE TEMP TABLE one AS SELECT ${id} AS id;
    ${later(records, '(SELECT id FROM one)', 1 + (choice.c % 800))}
    UPDATE ${records} SET ${column} = ${text(choice.b)} WHERE id = (SELECT id FROM one);
    INSERT INTO ${entries} (${key}, position, ${column}, first_measured_at, last_measured_at)
      SELECT id, 1 + coalesce((SELECT max(position) FROM ${entries} WHERE ${key} = id), 0), ${column}, measured_at, measured_at
      FROM ${records} WHERE id = (SELECT id FROM one);
    DROP TABLE one;`;
}

const SEEN = `'2026-11-20T07:00:00Z', '2026-11-20T07:00:00Z', 1`;

export const EDITS: Readonly<Record<string, Edit>> = {
  'a value': ({ a, b, c }, base) => {
    const [table, column, value] = of(FREE, c);
    return `UPDATE ${base(table)} SET ${column} = ${value(b)} WHERE id = ${some(base(table), a)};`;
  },
  'a value of many': ({ b, c }, base) => {
    const [table, column, value] = of(FREE, c);
    return `UPDATE ${base(table)} SET ${column} = ${value(b)} WHERE id % ${2 + (b % 5)} = 0;`;
  },
  'no value': ({ a, c }, base) => {
    const [table, column] = of(FREE, c);
    return `UPDATE ${base(table)} SET ${column} = NULL WHERE id = ${some(base(table), a)};`;
  },
  'an id of the platform, which another record may have had': ({ a, b, c }, base) => {
    const table = base(of(KINDS, c).table);
    const value = `'${of(['club', 'Club', 'CLUB', 'a b', 'x.json', '-'], b)}'`;
    return `UPDATE ${table} SET platform_id = NULL WHERE platform_id = ${value};
      UPDATE ${table} SET platform_id = ${value} WHERE id = ${some(table, a)};`;
  },
  'ids of the platform of many': ({ b, c }, base) =>
    `UPDATE ${base(of(KINDS, c).table)} SET platform_id = ${of(["'no.' || id", "'NO.' || id", 'NULL'], b)}
      WHERE id % ${2 + (b % 5)} = 0;`,
  'a later measurement': ({ a, b, c }, base) => {
    const { table } = of(KINDS, c);
    return later(base(table), some(base(table), a), 1 + (b % 20_000));
  },
  'a new reading': ({ a, b, c }, base) => {
    const id = some(base('groups'), a);
    return `CREATE TEMP TABLE one AS SELECT ${id} AS id;
      ${later(base('groups'), '(SELECT id FROM one)', 1 + (c % 2_000))}
      UPDATE ${base('groups')} SET member_count = ${b} WHERE id = (SELECT id FROM one);
      INSERT INTO ${base('group_member_readings')} (group_id, measured_at, member_count)
        SELECT id, measured_at, ${b} FROM ${base('groups')} WHERE id = (SELECT id FROM one);
      DROP TABLE one;`;
  },
  'a rewritten past': ({ a, b }, base) => {
    const readings = base('group_member_readings');
    return `UPDATE ${readings} SET member_count = member_count + 1 + ${b % 9}
      WHERE (group_id, measured_at) IN (SELECT group_id, min(measured_at) FROM ${readings} GROUP BY group_id
        HAVING count(*) > 1 ORDER BY group_id LIMIT 1 OFFSET ${a % 20});`;
  },
  'readings that are gone': ({ a, b }, base) => {
    const readings = base('group_member_readings');
    return `DELETE FROM ${readings} WHERE (group_id, measured_at) IN
      (SELECT group_id, min(measured_at) FROM ${readings} GROUP BY group_id ORDER BY group_id LIMIT ${1 + (b % 4)} OFFSET ${a % 30});`;
  },
  'positions moved': ({ a, b }, base) => {
    const table = base(of(['group_names', 'usernames', 'group_owners'], a));
    // By way of others, since two entries may not have the same one in between.
    return `UPDATE ${table} SET position = position + 1000000;
      UPDATE ${table} SET position = (position - 1000000) * 2 + ${b % 3};`;
  },
  'a renamed group': (choice, base) => renamed(base, 'group', choice),
  'a renamed user': (choice, base) => renamed(base, 'user', choice),
  'a name in another case, without an id': ({ a, c }, base) => {
    const [table, kind] = of(
      [
        ['games', "creator_type = 'user', "],
        ['items', 'creator_type = NULL, '],
      ],
      c,
    );
    const name = `(SELECT upper(username) FROM ${base('users')} WHERE id = ${some(base('users'), a)})`;
    return `UPDATE ${base(table ?? '')} SET ${kind}creator_id = NULL, creator_name = ${name}
      WHERE id IN (SELECT id FROM ${base(table ?? '')} ORDER BY id LIMIT 2 OFFSET ${a % 20});`;
  },
  'an owner without an id': ({ a }, base) =>
    `UPDATE ${base('groups')} SET owner_state = 'owned', owner_id = NULL,
       owner_name = (SELECT lower(username) FROM ${base('users')} WHERE id = ${some(base('users'), a)})
     WHERE id = ${some(base('groups'), a)};
     DELETE FROM ${base('group_owners')} WHERE group_id = ${some(base('groups'), a)};`,
  'records that are gone': ({ a, b, c }, base) => {
    const { table, key, histories } = of(KINDS, c);
    const gone = `(SELECT id FROM ${base(table)} ORDER BY id LIMIT ${1 + (b % 40)} OFFSET ${a % 60})`;
    const entries = histories.map((history) => `DELETE FROM ${base(history)} WHERE ${key} IN ${gone};`);
    return `${entries.join(' ')} DELETE FROM ${base(table)} WHERE id IN ${gone};`;
  },
  'a record at the end': ({ b, c }, base) => {
    const { table } = of(KINDS, c);
    return `INSERT INTO ${base(table)} (id, first_measured_at, measured_at, measurements)
      SELECT coalesce(max(id), 0) + ${1 + (b % 3_000)}, ${SEEN} FROM ${base(table)};`;
  },
  'a record before all others': ({ c }, base) => {
    const { table } = of(KINDS, c);
    return `INSERT INTO ${base(table)} (id, first_measured_at, measured_at, measurements)
      SELECT min(id) - 1, ${SEEN} FROM ${base(table)} HAVING min(id) > 1;`;
  },
  'records between others': ({ a, b, c }, base) => {
    const { table } = of(KINDS, c);
    return `INSERT OR IGNORE INTO ${base(table)} (id, first_measured_at, measured_at, measurements)
      WITH RECURSIVE n(value) AS (SELECT 1 UNION ALL SELECT value + 1 FROM n WHERE value < ${1 + (b % 90)})
      SELECT ${some(base(table), a)} + value, ${SEEN} FROM n
      WHERE NOT EXISTS (SELECT 1 FROM ${base(table)} AS r WHERE r.id = ${some(base(table), a)} + value);`;
  },
  'an id that moves': ({ a, b, c }, base) => {
    const { table, key, histories } = of(KINDS, c);
    const to = `(SELECT max(id) + ${1 + (b % 9)} FROM ${base(table)})`;
    const entries = histories.map(
      (history) =>
        `UPDATE ${base(history)} SET ${key} = (SELECT there FROM one) WHERE ${key} = (SELECT here FROM one);`,
    );
    return `CREATE TEMP TABLE one AS SELECT ${some(base(table), a)} AS here, ${to} AS there;
      ${entries.join(' ')} UPDATE ${base(table)} SET id = (SELECT there FROM one) WHERE id = (SELECT here FROM one);
      DROP TABLE one;`;
  },
  'a record withheld': ({ a, c }, base) => {
    const { kind, table } = of(KINDS, c);
    return `INSERT INTO ${base('withheld')} (kind, id, since)
      SELECT '${kind}', id, '2026-11-20T07:00:00Z' FROM ${base(table)} WHERE id = ${some(base(table), a)}
      AND NOT EXISTS (SELECT 1 FROM ${base('withheld')} AS w WHERE w.kind = '${kind}' AND w.id = ${base(table)}.id);`;
  },
  'an owner withheld': ({ a }, base) =>
    `INSERT INTO ${base('withheld')} (kind, id, since)
      SELECT 'user', owner_id, '2026-11-20T07:00:00Z' FROM ${base('groups')} WHERE owner_id IS NOT NULL
      AND owner_id NOT IN (SELECT id FROM ${base('withheld')} WHERE kind = 'user') ORDER BY id LIMIT 1 OFFSET ${a % 9};`,
  'a withheld user who is named in another case': ({ a }, base) =>
    `INSERT OR IGNORE INTO ${base('withheld')} (kind, id, since)
       SELECT 'user', min(id), '2026-11-20T07:00:00Z' FROM ${base('users')} WHERE username GLOB '*[a-z]*'
       HAVING min(id) IS NOT NULL AND NOT EXISTS (SELECT 1 FROM ${base('withheld')} WHERE kind = 'user');
     UPDATE ${base('games')} SET creator_type = 'user', creator_id = NULL,
       creator_name = (SELECT upper(username) FROM ${base('users')} AS u JOIN ${base('withheld')} AS w
         ON w.kind = 'user' AND w.id = u.id ORDER BY u.id LIMIT 1)
     WHERE id IN (SELECT id FROM ${base('games')} ORDER BY id LIMIT 2 OFFSET ${a % 20});`,
  'one withheld no more': (_, base) =>
    `DELETE FROM ${base('withheld')} WHERE (kind, id) IN (SELECT kind, id FROM ${base('withheld')} ORDER BY id LIMIT 1);`,
  'nothing withheld': (_, base) => `DELETE FROM ${base('withheld')};`,
  'an invalid record': ({ a, c }, base) => {
    const { table } = of(KINDS, c);
    return `UPDATE ${base(table)} SET created_at = 'yesterday' WHERE id = ${some(base(table), a)};`;
  },
  'a record that leaves its histories': ({ a, c }, base) => {
    const { table } = of(KINDS, c);
    return `DELETE FROM ${base(table)} WHERE id = ${some(base(table), a)};`;
  },
  'all records valid again': (_, base) =>
    KINDS.flatMap(({ table, key, histories }) => [
      `UPDATE ${base(table)} SET created_at = NULL WHERE created_at = 'yesterday';`,
      ...histories.map(
        (history) => `DELETE FROM ${base(history)} WHERE ${key} NOT IN (SELECT id FROM ${base(table)});`,
      ),
    ]).join(' '),
  'another index': ({ a, c }, base) => {
    const [table, column] = of(FREE, c);
    return `DROP INDEX IF EXISTS another; CREATE INDEX another ON ${base(table)} (${column}${a % 2 === 0 ? ' COLLATE NOCASE' : ''} DESC);`;
  },
  vacuum: () => 'VACUUM;',
  'a journal mode': ({ a }) => `PRAGMA journal_mode = ${of(['WAL', 'DELETE', 'TRUNCATE'], a)};`,
  'a page size': ({ a }) =>
    `PRAGMA journal_mode = DELETE; PRAGMA page_size = ${of([1024, 4096, 16_384], a)}; VACUUM;`,
};

/**
 * A table made again with the same rows: with other collations, more columns (also some of names that our SQL might
 * use itself), STRICT or not, as a view.
 */
export function reshaped(
  { name: table, columns }: Table,
  { a, b, c }: Choice,
  { views }: Shape,
): readonly [sql: string, Shape] {
  const statement = new RegExp(`CREATE TABLE ${table} \\(([^;]*)\\) (STRICT[^;]*);`).exec(SCHEMA);
  const [, body = '', options = ''] = statement ?? [];
  const isView = c % 3 === 0;
  const isStrict = c % 2 === 0;
  const collated =
    a % 3 === 0
      ? body.replaceAll(/\bTEXT\b/g, 'TEXT COLLATE NOCASE')
      : a % 3 === 1
        ? body.replaceAll(/\bTEXT\b/g, 'TEXT COLLATE RTRIM')
        : body;
  const extra = of(
    ['', '_low INTEGER DEFAULT 7,', 'low INTEGER, kind_ TEXT,', 'previous_last TEXT, is_last INT DEFAULT 5,'],
    b,
  );
  const more = table === 'withheld' ? '' : extra;
  const was = views.has(table) ? `raw_${table}` : table;
  const will = isView ? `raw_${table}` : table;
  const keyless = isView ? options.replace(', WITHOUT ROWID', '') : options;
  const names = columns.map(({ name }) => name);
  const list = names.join(', ');
  const sql = `CREATE TABLE made (${more} ${collated}) ${isStrict ? keyless : keyless.replace(/^STRICT(, )?/, '')};
    INSERT INTO made (${list}) SELECT ${list} FROM ${was};
    ${views.has(table) ? `DROP VIEW ${table};` : ''} DROP TABLE ${was}; ALTER TABLE made RENAME TO ${will};
    ${isView ? `CREATE VIEW ${table} AS SELECT ${names.toReversed().join(', ')} FROM raw_${table};` : ''}`;
  const next = new Set(views);
  if (isView) next.add(table);
  else next.delete(table);
  return [sql, { views: next }];
}
