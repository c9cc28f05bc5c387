/**
 * What may become of a register between two builds. Each edit is SQL that follows from some numbers, and leaves a
 * register that keeps the contract, except for the one that is meant to break it.
 */
import { RESOURCES } from '../../../generator/schema/schema.js';

export interface Choice {
  readonly a: number;
  readonly b: number;
  readonly c: number;
}

type Edit = (choice: Choice) => string;

/** Each kind of record with the tables of its histories, and the column of those that names the record. */
const KINDS = RESOURCES.map(({ kind, plural, histories }) => ({
  kind,
  table: plural,
  key: histories[0]?.key.name ?? '',
  histories: histories.map(({ table }) => table),
}));

const of = <T>(list: readonly T[], index: number): T => {
  const found = list[index % list.length];
  if (found === undefined) throw new TypeError('nothing to choose from');
  return found;
};

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
const later = (table: string, id: string, hours: number): string =>
  `UPDATE ${table} SET measurements = measurements + 1,
     measured_at = strftime('%Y-%m-%dT%H:%M:%SZ', measured_at, '+${hours} hours') WHERE id = ${id};`;

/** Gives a record another name, as a new entry of its history. */
function renamed(kind: 'group' | 'user', choice: Choice): string {
  const [records, entries, key, column] =
    kind === 'group'
      ? ['groups', 'group_names', 'group_id', 'name']
      : ['users', 'usernames', 'user_id', 'username'];
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
  'a value': ({ a, b, c }) => {
    const [table, column, value] = of(FREE, c);
    return `UPDATE ${table} SET ${column} = ${value(b)} WHERE id = ${some(table, a)};`;
  },
  'a value of many': ({ b, c }) => {
    const [table, column, value] = of(FREE, c);
    return `UPDATE ${table} SET ${column} = ${value(b)} WHERE id % ${2 + (b % 5)} = 0;`;
  },
  'an id of the platform, which another record may have had': ({ a, b, c }) => {
    const table = of(KINDS, c).table;
    const value = `'${of(['club', 'Club', 'CLUB', 'a b', 'x.json', '-'], b)}'`;
    return `UPDATE ${table} SET platform_id = NULL WHERE platform_id = ${value};
      UPDATE ${table} SET platform_id = ${value} WHERE id = ${some(table, a)};`;
  },
  'ids of the platform of many': ({ b, c }) =>
    `UPDATE ${of(KINDS, c).table} SET platform_id = ${of(["'no.' || id", "'NO.' || id", 'NULL'], b)}
      WHERE id % ${2 + (b % 5)} = 0;`,
  'a later measurement': ({ a, b, c }) => {
    const { table } = of(KINDS, c);
    return later(table, some(table, a), 1 + (b % 20_000));
  },
  'a new reading': ({ a, b, c }) => {
    const id = some('groups', a);
    return `CREATE TEMP TABLE one AS SELECT ${id} AS id;
      ${later('groups', '(SELECT id FROM one)', 1 + (c % 2_000))}
      UPDATE groups SET member_count = ${b} WHERE id = (SELECT id FROM one);
      INSERT INTO group_member_readings (group_id, measured_at, member_count)
        SELECT id, measured_at, ${b} FROM groups WHERE id = (SELECT id FROM one);
      DROP TABLE one;`;
  },
  'a renamed group': (choice) => renamed('group', choice),
  'a renamed user': (choice) => renamed('user', choice),
  'records that are gone': ({ a, b, c }) => {
    const { table, key, histories } = of(KINDS, c);
    const gone = `(SELECT id FROM ${table} ORDER BY id LIMIT ${1 + (b % 40)} OFFSET ${a % 60})`;
    const entries = histories.map((history) => `DELETE FROM ${history} WHERE ${key} IN ${gone};`);
    return `${entries.join(' ')} DELETE FROM ${table} WHERE id IN ${gone};`;
  },
  'a record at the end': ({ b, c }) => {
    const { table } = of(KINDS, c);
    return `INSERT INTO ${table} (id, first_measured_at, measured_at, measurements)
      SELECT coalesce(max(id), 0) + ${1 + (b % 3_000)}, ${SEEN} FROM ${table};`;
  },
  'records between others': ({ a, b, c }) => {
    const { table } = of(KINDS, c);
    return `INSERT OR IGNORE INTO ${table} (id, first_measured_at, measured_at, measurements)
      WITH RECURSIVE n(value) AS (SELECT 1 UNION ALL SELECT value + 1 FROM n WHERE value < ${1 + (b % 90)})
      SELECT ${some(table, a)} + value, ${SEEN} FROM n
      WHERE NOT EXISTS (SELECT 1 FROM ${table} AS r WHERE r.id = ${some(table, a)} + value);`;
  },
  'an id that moves': ({ a, b, c }) => {
    const { table, key, histories } = of(KINDS, c);
    const entries = histories.map(
      (history) =>
        `UPDATE ${history} SET ${key} = (SELECT there FROM one) WHERE ${key} = (SELECT here FROM one);`,
    );
    return `CREATE TEMP TABLE one AS
        SELECT ${some(table, a)} AS here, (SELECT max(id) + ${1 + (b % 9)} FROM ${table}) AS there;
      ${entries.join(' ')} UPDATE ${table} SET id = (SELECT there FROM one) WHERE id = (SELECT here FROM one);
      DROP TABLE one;`;
  },
  'a record withheld': ({ a, c }) => {
    const { kind, table } = of(KINDS, c);
    return `INSERT INTO withheld (kind, id, since)
      SELECT '${kind}', id, '2026-11-20T07:00:00Z' FROM ${table} WHERE id = ${some(table, a)}
      AND NOT EXISTS (SELECT 1 FROM withheld AS w WHERE w.kind = '${kind}' AND w.id = ${table}.id);`;
  },
  'an owner withheld': ({ a }) =>
    `INSERT INTO withheld (kind, id, since)
      SELECT 'user', owner_id, '2026-11-20T07:00:00Z' FROM groups WHERE owner_id IS NOT NULL
      AND owner_id NOT IN (SELECT id FROM withheld WHERE kind = 'user') ORDER BY id LIMIT 1 OFFSET ${a % 9};`,
  'a withheld user who is named in another case': ({ a }) =>
    `INSERT OR IGNORE INTO withheld (kind, id, since)
       SELECT 'user', min(id), '2026-11-20T07:00:00Z' FROM users WHERE username GLOB '*[a-z]*'
       HAVING min(id) IS NOT NULL AND NOT EXISTS (SELECT 1 FROM withheld WHERE kind = 'user');
     UPDATE games SET creator_type = 'user', creator_id = NULL,
       creator_name = (SELECT upper(username) FROM users AS u JOIN withheld AS w
         ON w.kind = 'user' AND w.id = u.id ORDER BY u.id LIMIT 1)
     WHERE id IN (SELECT id FROM games ORDER BY id LIMIT 2 OFFSET ${a % 20});`,
  'one withheld no more': () =>
    `DELETE FROM withheld WHERE (kind, id) IN (SELECT kind, id FROM withheld ORDER BY id LIMIT 1);`,
  'nothing withheld': () => `DELETE FROM withheld;`,
  'an invalid record': ({ a, c }) => {
    const { table } = of(KINDS, c);
    return `UPDATE ${table} SET created_at = 'yesterday' WHERE id = ${some(table, a)};`;
  },
  'a record that leaves its histories': ({ a, c }) => {
    const { table } = of(KINDS, c);
    return `DELETE FROM ${table} WHERE id = ${some(table, a)};`;
  },
  'all records valid again': () =>
    KINDS.flatMap(({ table, key, histories }) => [
      `UPDATE ${table} SET created_at = NULL WHERE created_at = 'yesterday';`,
      ...histories.map((history) => `DELETE FROM ${history} WHERE ${key} NOT IN (SELECT id FROM ${table});`),
    ]).join(' '),
  'a journal mode': ({ a }) => `PRAGMA journal_mode = ${of(['WAL', 'DELETE', 'TRUNCATE'], a)};`,
};
