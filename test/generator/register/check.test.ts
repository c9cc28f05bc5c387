/** The register against its contract: every way to break it, named exactly; and everything that only looks broken. */
import { describe, expect, it } from 'vitest';
import { findingLines } from '../../../generator/commands/report.js';
import { check } from '../../../generator/register/check.js';
import { Register } from '../../../generator/register/database.js';
import type { CheckReport } from '../../../generator/register/findings.js';
import { TABLES } from '../../../generator/schema/schema.js';
import { quiet } from '../../support/build.js';
import { temporary } from '../../support/folder.js';
import { inProcess } from '../../support/in-process.js';
import { writeRegister, type Shape } from '../../support/register.js';
import { containing, matching } from '../../support/values.js';

const path = temporary();

/** A register that keeps the contract, with a row in every table but `withheld`. */
const VALID = `
  INSERT INTO groups VALUES (7, 'present', 'Seven', 'seventh', 'owned', 1042, 'marlow', 90, 1, 0, '2019-05-04T17:20:00Z',
    '2026-11-01T08:00:00Z', '2026-11-20T08:00:00Z', 2, 'seven');
  INSERT INTO group_member_readings VALUES (7, '2026-11-01T08:00:00Z', 80), (7, '2026-11-20T08:00:00Z', 90);
  INSERT INTO group_names VALUES (7, 1, 'Sept', NULL, '2026-11-01T08:00:00Z', '2026-11-01T08:00:00Z'),
    (7, 2, 'Seven', '2026-11-02T00:00:00Z', '2026-11-20T08:00:00Z', '2026-11-20T08:00:00Z');
  INSERT INTO group_owners VALUES (7, 1, 'none', NULL, NULL, '2026-11-01T08:00:00Z', '2026-11-01T08:00:00Z'),
    (7, 2, 'owned', 1042, 'marlow', '2026-11-20T08:00:00Z', '2026-11-20T08:00:00Z');
  INSERT INTO users VALUES (1042, 'present', 'marlow', 'Marlow', 0, '2017-02-11T09:00:00Z',
    '2026-11-01T08:00:00Z', '2026-11-20T08:00:00Z', 2, '9007199254740992');
  INSERT INTO usernames VALUES (1042, 1, 'finch', NULL, '2026-11-01T08:00:00Z', '2026-11-01T08:00:00Z'),
    (1042, 2, 'marlow', NULL, '2026-11-20T08:00:00Z', '2026-11-20T08:00:00Z');
  INSERT INTO games VALUES (88, 190, 'present', 'Lantern', 'Sail', 'group', 7, 'Seven', 'paid', 25, 12, 70, 9, 4, 3, 30, 'Adventure',
    '2020-08-30T14:00:00Z', '2026-11-02T18:45:00Z', '2026-11-01T08:00:00Z', '2026-11-20T08:00:00Z', 2, '007');
  INSERT INTO items VALUES (30, 'present', 'Helmet', 'Polished', 8, 'Hat', 'user', 1042, 'marlow', 'priced', 120, 0, 1, 1180, 1336,
    5000, 12, 47, '2018-05-30T07:25:25Z', '2026-10-01T12:00:00Z', '2026-11-01T08:00:00Z', '2026-11-20T08:00:00Z', 2, '-5');
`;

const NO_READINGS = 'DELETE FROM group_member_readings;';

const viewOfGroups = (columns: string): string =>
  `ALTER TABLE groups RENAME TO club; CREATE VIEW groups AS SELECT ${columns} FROM club;`;

/** A description of quotes, which take the most room in JSON. */
const quotes = (length: number): string =>
  `UPDATE groups SET description = substr(replace(hex(zeroblob(${length})), '0', '"'), 1, ${length})`;

async function checked(sql: string, shape: Shape = 'loose'): Promise<CheckReport> {
  const register = Register.open(writeRegister(path('register.sqlite'), VALID + sql, shape));
  try {
    return await check(register, quiet(), false);
  } finally {
    register.close();
  }
}

/** Table, key, column, value and what was expected of a place that breaks the contract; of the last two a part. */
type Place = readonly [table: string, key: string, column: string | null, value: string, expected: string];

const placesIn = ({ findings }: CheckReport): Place[] =>
  findings.flatMap(({ table, column, what, expected, examples }) =>
    what === 'missing'
      ? [[table, '', column, what, expected] as const]
      : examples.map(({ key, value, record }) => {
          const more = record === undefined ? '' : `, ${record}`;
          return [table, key, column, value, expected + more] as const;
        }),
  );

interface Corruption {
  readonly what: string;
  readonly sql: string;
  readonly found: readonly Place[];
  readonly shape?: Shape;
}

/** A corruption, with its places as `table, key, column, value, expected` between bars. */
const broken = (what: string, sql: string, ...places: readonly string[]): Corruption => ({
  what,
  sql,
  found: places.map((place): Place => {
    const [table = '', key = '', column = '', value = '', expected = ''] = place.split(' | ');
    return [table, key, column === '' ? null : column, value, expected];
  }),
});

const KEYS: Record<string, string> = {
  groups: 'id = 7',
  users: 'id = 1042',
  games: 'id = 88',
  items: 'id = 30',
};

/** What would disagree with a record that is changed, and isn't meant. */
const NO_HISTORY = ['group_member_readings', 'group_names', 'group_owners', 'usernames']
  .map((table) => `DELETE FROM ${table};`)
  .join(' ');

/** One column of the one record of a table set to something it can't be. */
function set(table: string, column: string, value: string, shown: string, expected: string): Corruption {
  const found: Place = [table, KEYS[table] ?? '', column, shown, expected];
  const sql = `${NO_HISTORY} UPDATE ${table} SET ${column} = ${value};`;
  return { what: `${table}.${column} = ${value}`, sql, found: [found] };
}

const COUNT = 'an integer from 0 to 9007199254740991';
const ID = 'an integer from 1 to 9007199254740991';
const TIME = 'a time in UTC and whole seconds such as 2026-11-20T08:00:00Z';

const TIME_OR_DAY = `${TIME}, or a day such as 2020-09-16, or NULL`;

/** Values that a column can't have, as SQL has them and as they are shown. */
const WRONG: readonly (readonly [place: string, expected: string, ...values: readonly string[]])[] = [
  ['groups.member_count', COUNT, ...`'many' '' -1 1.5 X'31' 9007199254740992 9223372036854775807`.split(' ')],
  ['groups.name', 'text, or NULL', `X'41'`],
  ['groups.owner_id', ID, '0', '-3'],
  ['groups.public_entry', '0 or 1', '2'],
  ['groups.state', 'one of present, locked, deleted, or NULL', `'gone'`, `'Present'`, `'present '`, `''`],
  ['games.creator_type', 'one of user, group', `'item'`],
  ['games.root_place_id', ID, '0'],
  ['items.name', 'text', `X''`],
];

const TYPES: readonly Corruption[] = [
  ...WRONG.flatMap(([place, expected, ...values]) => {
    const [table = '', column = ''] = place.split('.');
    return values.map((value) => set(table, column, value, value, expected));
  }),
  // Columns without type keep a text and a real as they are.
  ...[
    set('groups', 'description', '5', '5', 'text'),
    set('items', 'price', `'120'`, `'120'`, COUNT),
    set('items', 'price', '120.0', '120.0', COUNT),
  ].map((each) => ({ ...each, shape: 'untyped' as const })),
];

/** What is no time, as text that a message shows; the last is empty. */
const NOT_TIMES = (
  '2026-11-20T08:00:00|2026-11-20t08:00:00Z|2026-11-20T08:00:00z|2026-11-20 08:00:00Z|' +
  '2026-11-20T08:00:00+00:00|2026-11-20T08:00:00.5Z|2026-11-20T08:00Z|2026-11-31|2026-1-20|' +
  '1900-02-29T08:00:00Z|2026-13-01T08:00:00Z|2026-11-00T08:00:00Z|2026-11-20T24:00:00Z|' +
  '2026-11-20T08:60:00Z|2016-12-31T23:59:60Z|12026-11-20T08:00:00Z|-026-11-20T08:00:00Z|' +
  ' 2026-11-20T08:00:00Z|2026-11-20 |２０２６-11-20T08:00:00Z|now|'
)
  .split('|')
  .map((text) => [`'${text}'`, `'${text}'`] as const);

/** And as SQL that gives it, with a part of what is shown. */
const NOT_EVEN_TEXTS = [
  [`'2026-11-20T08:00:00Z' || char(10)`, '2026-11-20T08:00:00Z'],
  [`'2026-11-20T08:00:00Z' || char(0) || 'and more'`, 'and more'],
  [`CAST(x'323032362D31312D32305430383A30303A30305A00FF' AS TEXT)`, 'X'],
  ['1763625600', '1763625600'],
  [`x'323032362D31312D32305430383A30303A30305A'`, `X'3230`],
] as const;

const TIMES: readonly Corruption[] = [
  ...[...NOT_TIMES, ...NOT_EVEN_TEXTS].map(([sql, shown]) =>
    set('items', 'created_at', sql, shown, TIME_OR_DAY),
  ),
  set('items', 'measured_at', 'NULL', 'NULL', TIME),
  set('items', 'first_measured_at', `'2026-11-20T08:00:01Z'`, '08:00:01Z', 'not later than measured_at'),
  broken(
    'a name seen for the last time before it was seen for the first',
    `UPDATE usernames SET last_measured_at = '2026-10-31T08:00:00Z' WHERE position = 1;`,
    'usernames | user_id = 1042, position = 1 | first_measured_at | 2026-11-01T08:00:00Z | not later than last_measured_at',
  ),
];

/** Bytes that are no UTF-8 (Unicode 17, table 3-7). */
const NOT_UTF8: Readonly<Record<string, string>> = {
  'a lone continuation byte': '80',
  'an overlong NUL': 'C080',
  'a surrogate pair in six bytes (CESU-8)': 'EDA0BDEDB880',
  'a code point beyond 10FFFF': 'F4908080',
  'a character cut after two of three bytes': 'E282',
  'a cut character before a good one': 'E28241',
  'Latin-1': '436166E9',
};

const UTF8: readonly Corruption[] = [
  ...Object.entries(NOT_UTF8).map(([what, hex]): Corruption => ({
    ...set('groups', 'description', `CAST(x'${hex}' AS TEXT)`, `X'${hex}'`, 'valid UTF-8'),
    what: `${what} in a text`,
  })),
  // What one column leaves open the next one must not close.
  broken(
    'a character cut in two by the border of two columns',
    `UPDATE users SET username = NULL, display_name = CAST(x'E2' AS TEXT); DELETE FROM usernames;
     UPDATE games SET name = CAST(x'E2' AS TEXT), description = CAST(x'82AC' AS TEXT);`,
    `users | id = 1042 | display_name | X'E2' | valid UTF-8`,
    `games | id = 88 | name | X'E2' | valid UTF-8`,
    `games | id = 88 | description | X'82AC' | valid UTF-8`,
  ),
  broken(
    'bad bytes in an old name, and behind a NUL',
    `UPDATE group_names SET name = CAST(x'4100FF' AS TEXT) WHERE position = 1;`,
    `group_names | group_id = 7, position = 1 | name | X'4100FF' | valid UTF-8`,
  ),
];

const FIRST = '2026-11-01T08:00:00Z';
const LAST = '2026-11-20T08:00:00Z';
const KEYS_OF_HISTORIES = [
  ['group_member_readings', 'group_id', `measured_at = '${FIRST}'`, 'groups'],
  ['group_names', 'group_id', 'position = 1', 'groups'],
  ['group_owners', 'group_id', 'position = 1', 'groups'],
  ['usernames', 'user_id', 'position = 1', 'users'],
] as const;

const ROWS: readonly Corruption[] = [
  ...['9007199254740993', 'NULL'].map((id) =>
    broken(`the id ${id}`, `UPDATE items SET id = ${id};`, `items | id = ${id} | id | ${id} | ${ID}`),
  ),
  broken(
    'two records of one id',
    'UPDATE items SET platform_id = NULL; INSERT INTO items SELECT * FROM items;',
    'items | id = 30 | id | 2 rows | one row',
  ),
  ...KEYS_OF_HISTORIES.map(([table, key, order, records]) =>
    broken(
      `a row of ${table} without its record`,
      `CREATE TEMP TABLE one AS SELECT * FROM ${table} LIMIT 1; UPDATE one SET ${key} = 99;
       INSERT INTO ${table} SELECT * FROM one;`,
      `${table} | ${key} = 99, ${order} | ${key} | 99 | the id of a row in ${records}`,
    ),
  ),
  broken(
    'a last reading that disagrees with the record',
    'UPDATE groups SET member_count = 91;',
    `group_member_readings | group_id = 7, measured_at = '${LAST}' | member_count | 90 | member_count of the record, 91`,
  ),
  broken(
    'an owner of a group that has none',
    `UPDATE group_owners SET owner_id = 5, owner_name = 'five' WHERE owner_state = 'none';`,
    'group_owners | group_id = 7, position = 1 | owner_id | 5 | NULL where owner_state is none',
    `group_owners | group_id = 7, position = 1 | owner_name | 'five' | NULL where owner_state is none`,
  ),
  broken(
    'last names that disagree with the record, be it by a space or a capital',
    `UPDATE groups SET name = 'Seven '; UPDATE users SET username = 'Marlow';`,
    `group_names | group_id = 7, position = 2 | name | 'Seven' | name of the record, 'Seven '`,
    `usernames | user_id = 1042, position = 2 | username | 'marlow' | username of the record, 'Marlow'`,
  ),
  broken(
    'a reading later than the record',
    `UPDATE groups SET measured_at = '2026-11-20T07:59:59Z'; DELETE FROM group_names; DELETE FROM group_owners;`,
    `group_member_readings | group_id = 7, measured_at = '${LAST}' | measured_at | ${LAST} | not later than measured_at of the record, '2026-11-20T07:59:59Z'`,
  ),
  ...[1, 2].map((position) =>
    broken(
      `username ${position} of two seen later than the record was measured`,
      `UPDATE usernames SET last_measured_at = '2026-11-20T08:00:01Z' WHERE position = ${position};`,
      `usernames | user_id = 1042, position = ${position} | last_measured_at | 2026-11-20T08:00:01Z | not later than measured_at of the record`,
    ),
  ),
  broken(
    'NULL in what a history must have',
    `UPDATE group_names SET name = NULL WHERE position = 1;
     UPDATE group_owners SET owner_state = NULL WHERE position = 1;
     UPDATE group_member_readings SET member_count = NULL WHERE member_count = 80;`,
    `group_member_readings | group_id = 7, measured_at = '${FIRST}' | member_count | NULL | ${COUNT}`,
    'group_names | group_id = 7, position = 1 | name | NULL | text',
    'group_owners | group_id = 7, position = 1 | owner_state | NULL | one of owned, none',
  ),
];

const NUMBER = 'text that is no number up to 9007199254740991';
const SHARED = 'the id of no other record';
const OTHERS: readonly Corruption[] = [
  broken(
    'an unknown kind, an id that is text, and a time that is none in withheld',
    `INSERT INTO withheld VALUES ('place', 7, '${FIRST}'), ('user', 'seven', '${FIRST}'), ('user', 5, NULL);`,
    `withheld | kind = 'place', id = 7 | kind | 'place' | one of group, user, game, item`,
    `withheld | kind = 'user', id = 'seven' | id | 'seven' | ${ID}`,
    `withheld | kind = 'user', id = 5 | since | NULL | ${TIME}`,
  ),
  ...['0', '9007199254740991'].map((id) => set('items', 'platform_id', `'${id}'`, `'${id}'`, NUMBER)),
  { ...set('items', 'platform_id', '81384788765712384', '81384788765712384', 'text'), shape: 'untyped' },
  broken(
    'an id of the platform that three records share, of which one is withheld and no two have one more id',
    `INSERT INTO users (id, measured_at, platform_id) VALUES
       (1, '${LAST}', 'slug'), (2, '${LAST}', 'Slug'), (3, '${LAST}', 'slug'), (4, '${LAST}', 'slug '),
       (5, '${LAST}', 'slug'), (6, '${LAST}', NULL), (8, '${LAST}', NULL);
     INSERT INTO groups (id, measured_at, platform_id) VALUES (1, '${LAST}', 'slug');
     INSERT INTO withheld VALUES ('user', 3, '${LAST}');`,
    ...[1, 3, 5].map((id) => `users | id = ${id} | platform_id | 'slug' | ${SHARED}`),
  ),
];

const SHAPES: readonly Corruption[] = [
  broken(
    'missing columns that may not be NULL, each named',
    `ALTER TABLE groups DROP COLUMN measured_at; ALTER TABLE withheld RENAME COLUMN since TO from_when;`,
    'groups |  | measured_at | missing | a column of that name',
    'withheld |  | since | missing | a column of that name',
  ),
  ...[
    ['a view of a table that is gone', '*', 'raw_items', 'DROP TABLE raw_items;'],
    ['a view that calls a function nobody has', '*, nobody_has(id) AS x', 'nobody_has', ''],
  ].map(([what = '', columns, shown, more]) =>
    broken(
      what,
      `ALTER TABLE items RENAME TO raw_items; CREATE VIEW items AS SELECT ${columns} FROM raw_items; ${more}`,
      `items |  |  | ${shown} | a table, or a view that can be read`,
    ),
  ),
];

describe('check finds', () => {
  describe.each([
    ['in tables and columns', SHAPES],
    ['in types and ranges', TYPES],
    ['in times', TIMES],
    ['in bytes of text', UTF8],
    ['between rows', ROWS],
    ['in ids of the platform and in withheld', OTHERS],
  ] as const)('%s', (_, corruptions) => {
    it.each(corruptions)('$what', async ({ sql, shape, found }) => {
      const report = await checked(sql, shape);
      expect(placesIn(report)).toEqual(
        found.map(([table, key, column, value, expected]) => {
          return [table, key, column, containing(value), containing(expected)];
        }),
      );
      expect(report.total).toBe(found.length);
    });
  });

  it('an unknown word in a column that is compared without case or spaces, too', async () => {
    for (const [collation, word] of [
      ['NOCASE', 'PRESENT'],
      ['RTRIM', 'present '],
    ]) {
      const view = viewOfGroups(`id, state COLLATE ${collation} AS state, measured_at`);
      const { findings } = await checked(`${NO_HISTORY} ${view} UPDATE club SET state = '${word}';`);
      expect(findings.map(({ table, column }) => `${table}.${column}`)).toEqual(['groups.state']);
    }
  });
});

const NOTHING_MEASURED = TABLES.flatMap(({ name, columns }) =>
  columns.flatMap((each) => (each.nullable ? [`UPDATE ${name} SET ${each.name} = NULL;`] : [])),
).join(' ');

it.each<[what: string, sql: string, shape?: Shape]>([
  ['STRICT tables', '', 'strict'],
  ['tables without keys', '', 'loose'],
  ['columns without types', '', 'untyped'],
  ['NULL wherever it means "not measured"', NOTHING_MEASURED],
  [
    'the first and the last time there is',
    `UPDATE games SET created_at = '0001-01-01T00:00:00Z', updated_at = '9999-12-31T23:59:59Z';`,
  ],
  [
    'more tables and columns than the contract has',
    `ALTER TABLE groups ADD COLUMN extra; UPDATE groups SET extra = x'FF'; CREATE TABLE rank (id); INSERT INTO rank VALUES ('?');`,
  ],
])('check takes as valid %s', async (_, sql, shape) => {
  expect(await checked(sql, shape)).toEqual({ findings: [], total: 0, skippable: true });
});

/** The only example of the only finding, and its line. */
const lineOf = async (sql: string): Promise<string> => {
  const lines = findingLines(await checked(sql)).filter((line) => !line.startsWith('  hint: '));
  expect(lines).toHaveLength(2);
  return lines[1] ?? '';
};

it('a finding stays one line, short and without control characters, whatever the value holds', async () => {
  const shown = (value: string) => lineOf(`UPDATE items SET state = ${value};`);
  expect(await shown(`'a' || char(10, 13, 0x2028) || 'b'`)).not.toMatch(/[\n\r\u2028]/);
  expect(await shown(`char(27) || '[2J'`)).not.toContain('\u001b');
  // It shows where a text goes on behind a NUL.
  expect(await lineOf(`UPDATE items SET created_at = '${LAST}' || char(0);`)).not.toContain(`'${LAST}'`);
  expect(await shown(`replace(hex(zeroblob(5000)), '0', 'x')`)).toMatch(/^.{40,248}…$/);
});

const command = (sql: string, shape: Shape = 'strict') =>
  inProcess('check', '--register', writeRegister(path('register.sqlite'), VALID + sql, shape));

async function refusalOf(view: string): Promise<string> {
  const { code, stdout } = await command(`${NO_READINGS} ${view}`);
  expect(code).toBe(1);
  return stdout;
}

describe('the command check', () => {
  it('prints each finding with three examples and the sum, or as JSON, and exits with 1', async () => {
    const sql = `${VALID} UPDATE items SET price = 'dear', off_sale = 7;
      WITH RECURSIVE n (i) AS (VALUES (1) UNION ALL SELECT i + 1 FROM n WHERE i < 50)
      INSERT INTO users (id, username, measured_at) SELECT 2000 + i, x'00', '${LAST}' FROM n;`;
    const register = writeRegister(path('register.sqlite'), sql, 'loose');
    const { code, stdout } = await inProcess('check', '--register', register, '--quiet');
    expect(code).toBe(1);
    expect(stdout.trimEnd().split('\n')).toEqual([
      'users.username: 50 places, expected text, or NULL',
      ...[2001, 2002, 2003].map((id) => `  id = ${id}: X'00'`),
      containing('items.price: 1 place, expected'),
      `  id = 30: 'dear'`,
      containing('items.off_sale: 1 place, expected 0 or 1'),
      '  id = 30: 7',
      containing('breaks the contract in 52 places'),
    ]);
    const json = await inProcess('check', '--register', register, '--json');
    const is = { table: 'items', column: 'price', what: 'broken', expected: `${COUNT}, or NULL`, hint: null };
    const findings = [{}, { ...is, count: 1, examples: [{ key: 'id = 30', value: `'dear'` }] }, {}];
    expect(JSON.parse(json.stdout)).toMatchObject({ register, total: 52, findings });
  });

  const REST = 'owner_state, owner_id, owner_name, 1 AS measurements, measured_at, first_measured_at';

  it('finds columns of a view that differ whenever they are read', async () => {
    const said = await refusalOf(viewOfGroups(`id, name, abs(random()) >> 11 AS member_count, ${REST}`));
    expect(said).toContain('groups.member_count: 1 place, expected the same whenever it is read\n');
    expect(said).toMatch(/^  id = 7: \d+, then \d+\n  hint: .* random\(\)/m);
    expect(said).toContain('breaks the contract in 1 place');
  });

  it('names rows of one id as such, though they differ', async () => {
    const two = `id, name, member_count, ${REST} FROM club UNION ALL SELECT id, 'Other', 91, ${REST}`;
    const said = await refusalOf(viewOfGroups(two));
    expect(said).toContain('groups.id: 1 place, expected one row for each key\n');
    expect(said).not.toContain('random()');
  });

  it('takes a text of 1 MiB, and names the record of a longer one, however long it is', async () => {
    expect(await command(quotes(1_048_576))).toMatchObject({ code: 0 });
    const expected = String.raw`expected text of at most 1 MiB \(1,048,576 bytes of UTF-8\)`;
    const said = new RegExp(`^groups\\.description: 1 place, ${expected}\n {2}id = 7: '"{119}…$`, 'm');
    for (const length of [1_048_577, 4_000_000])
      expect(await command(quotes(length))).toMatchObject({ code: 1, stdout: matching(said) });
  });

  it('exits with 0 where the contract is kept, and only reads', async () => {
    expect(await command('')).toMatchObject({ code: 0, stdout: containing('keeps the contract') });
    const register = Register.open(writeRegister(path('register.sqlite'), VALID));
    expect(() => register.execute('DELETE FROM main.groups')).toThrow('SQLITE_READONLY');
    register.close();
  });
});
