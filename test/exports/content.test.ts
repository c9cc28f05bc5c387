/** What the bulk downloads hold: the same as the records, exactly, in every format. */
import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { asyncBufferFromFile, parquetMetadataAsync, parquetReadObjects } from 'hyparquet';
import { beforeAll, describe, expect, it } from 'vitest';
import { z } from 'zod';
import { writeSample } from '../../data/sample.js';
import { published } from '../support/build.js';
import { csvObjects, parseCsv } from '../support/csv.js';
import { temporary } from '../support/folder.js';
import { writeRegister } from '../support/register.js';
import type { Rows } from '../support/register.js';
import { readTree } from '../support/tree.js';
import { fields } from '../support/values.js';

const TABLES = [
  'groups',
  'group_member_readings',
  'group_names',
  'group_owners',
  'users',
  'usernames',
  'games',
  'items',
];

const TIME = '2026-11-20T08:00:00Z';
const NASTY = [
  'plain',
  '',
  ' outer spaces ',
  'a,b',
  'say "hi"',
  '"',
  '""',
  'line\nbreak',
  'line\r\nbreak',
  '\r',
  '\n',
  'tab\tin it, and behind\t',
  '+1',
  '=SUM(A1:A9)',
  '-2',
  '@x',
  'null',
  'NULL',
  'true',
  '007',
  '🦊 emoji',
  'مرحبا',
  '\u202eright to left',
  '\ufeffmark',
  '\u0000nul',
  '\u001f',
  '\uffff',
  '\\',
  '\\"',
  'ß'.repeat(5000),
];

const path = temporary();
const out = path('nasty');

const register: Rows = {
  groups: [
    ...NASTY.map((name, index) => ({ id: index + 1, name, description: name })),
    { id: 100, owner_state: 'owned', owner_id: 7, owner_name: 'seven', public_entry: 1, verified: 0 },
    { id: 101, owner_state: 'none', member_count: 0 },
    { id: 9_007_199_254_740_991 },
  ],
  group_member_readings: [
    { group_id: 100, measured_at: '2026-11-10T08:00:00Z', member_count: 9_007_199_254_740_991 },
    { group_id: 100, measured_at: '2026-11-19T08:00:00Z', member_count: 9 },
    { group_id: 100, measured_at: TIME, member_count: 3 },
  ],
  users: [{ id: 7, username: 'seven', verified: 1 }, { id: 8 }],
  usernames: NASTY.filter((name) => name !== '').map((username, index) => ({
    user_id: 8,
    position: index + 1,
    username,
    changed_at: index === 3 ? TIME : null,
    first_measured_at: TIME,
    last_measured_at: TIME,
  })),
};

beforeAll(async () => {
  await published({ register: writeRegister(path('register.sqlite'), register), out });
});

const file = (folder: string, name: string): string => join(folder, 'downloads', name);
const text = (folder: string, name: string): string => readFileSync(file(folder, name), 'utf8');

describe('groups.csv', () => {
  it('is RFC 4180 to the byte: CRLF, a header, quotes where they are needed, null and empty text apart', () => {
    const lines = text(out, 'groups.csv');
    const rest = (count: number): string => ','.repeat(count);
    const measured = '2026-11-01T08:00:00Z,2026-11-20T08:00:00Z,2\r\n';
    expect(lines).toContain(`\r\n1,plain,,plain,${rest(24)}${measured}`);
    expect(lines).toContain(`\r\n2,"",,"",${rest(24)}${measured}`);
    expect(lines).toContain(`\r\n3, outer spaces ,, outer spaces ,${rest(24)}${measured}`);
    expect(lines).toContain(`\r\n4,"a,b",,"a,b",${rest(24)}${measured}`);
    expect(lines).toContain(`\r\n5,"say ""hi""",,"say ""hi""",${rest(24)}${measured}`);
    expect(lines).toContain(`\r\n8,"line\nbreak",,"line\nbreak",${rest(24)}${measured}`);
    expect(lines).toContain(`\r\n13,+1,,+1,${rest(24)}${measured}`);
    expect(lines).toContain(
      '\r\n100,,,,owned,7,seven,,true,false,,9007199254740991,2026-11-10T08:00:00Z,' +
        `-6,9,3,2026-11-19T08:00:00Z,${TIME},` +
        `-9007199254740988,9007199254740991,3,2026-11-10T08:00:00Z,${TIME},` +
        `,,,,,${measured}`,
    );
    expect(lines).toContain(`\r\n101,,,,none,,,0,${rest(20)}${measured}`);
    expect(lines.startsWith('id,name,state,description,owner_state,owner_id,owner_name,')).toBe(true);
    expect(lines.endsWith(`\r\n9007199254740991,${rest(27)}${measured}`)).toBe(true);
  });

  it('is read by Python’s csv module in strict mode, every value as it was measured', () => {
    const script =
      'import csv, json, sys; csv.field_size_limit(10**9); ' +
      'print(json.dumps(list(csv.reader(open(sys.argv[1], newline="", encoding="utf-8"), strict=True))))';
    const { stdout, stderr, status } = spawnSync('python3', ['-c', script, file(out, 'groups.csv')], {
      encoding: 'utf8',
      maxBuffer: 2 ** 26,
    });
    expect(stderr).toBe('');
    expect(status).toBe(0);
    const [, ...records] = z.array(z.array(z.string())).parse(JSON.parse(stdout));
    for (const [index, name] of NASTY.entries())
      expect(records[index]?.slice(0, 2)).toEqual([String(index + 1), name]);
  });
});

/** A column's value by its name, as the record's JSON has it: `owner_id` in `owner`, `change_24h_to` in `change`. */
function inRecord(record: object, column: string): unknown {
  const aliases: Record<string, string> = { asset_type: 'asset_type_name' };
  let place: unknown = record;
  let rest = aliases[column] ?? column;
  while (typeof place === 'object' && place !== null) {
    const members = Object.entries(place);
    const whole = members.find(([name]) => name === rest);
    if (whole !== undefined && (typeof whole[1] !== 'object' || whole[1] === null)) return whole[1];
    const part = members.find(
      ([name, value]) => rest.startsWith(`${name}_`) && (typeof value === 'object' || value === null),
    );
    if (part === undefined) throw new Error(`no "${column}" in ${JSON.stringify(record)}`);
    [, place] = part;
    rest = rest.slice(part[0].length + 1);
  }
  return place;
}

const told = (value: unknown): string | null => (value === null ? null : String(value));

/** How many values a document holds, links and lists left out. */
function leaves(value: unknown): number {
  if (typeof value !== 'object' || value === null) return 1;
  return Object.values(value).reduce((sum: number, member) => sum + leaves(member), 0);
}

describe('every field of every record', () => {
  it('is the same in the CSV as in the JSON', async () => {
    const sample = path('sample.sqlite');
    await writeSample({ file: sample, records: 1500, seed: 11 });
    const folder = path('sample');
    await published({ register: sample, out: folder });
    const tree = readTree(folder);
    let compared = 0;
    for (const kind of ['group', 'user', 'game', 'item']) {
      const records = new Map(
        [...tree]
          .filter(([name]) => name.startsWith(`api/v1/${kind}/`))
          .map(([, { text: body }]) => {
            const { links: _, ...record } = fields(JSON.parse(body));
            return [String(record['id']), record];
          }),
      );
      const rows = csvObjects(text(folder, `${kind}s.csv`));
      expect(rows.map(({ id }) => id)).toEqual([...records.keys()].toSorted((a, b) => Number(a) - Number(b)));
      for (const row of rows) {
        const record = records.get(row['id'] ?? '') ?? {};
        for (const [column, cell] of Object.entries(row)) {
          expect(cell, `${kind} ${row['id']} ${column}`).toBe(told(inRecord(record, column)));
        }
        // An object that is null has no leaves to count.
        expect(Object.keys(row).length).toBeGreaterThanOrEqual(leaves(record));
        compared += 1;
      }
    }
    expect(compared).toBeGreaterThan(1400);
  });

  it('of the histories, too', () => {
    const history = fields(JSON.parse(readFileSync(join(out, 'user/8/usernames.json'), 'utf8')));
    const rows = csvObjects(text(out, 'usernames.csv'));
    expect(rows.map(({ user_id: _, ...entry }) => entry)).toEqual(
      asObjects(history['usernames']).map((entry) =>
        Object.fromEntries(Object.entries(entry).map(([name, value]) => [name, told(value)])),
      ),
    );
  });
});

function asObjects(value: unknown): readonly object[] {
  if (!Array.isArray(value)) throw new TypeError('no list');
  return value.filter((entry: unknown): entry is object => typeof entry === 'object' && entry !== null);
}

describe.each(TABLES)('%s', (name) => {
  it('is compressed from the very same bytes, without a time in the file', () => {
    const compressed = readFileSync(file(out, `${name}.csv.gz`));
    expect(gunzipSync(compressed).equals(readFileSync(file(out, `${name}.csv`)))).toBe(true);
    // MTIME of RFC 1952.
    expect(compressed.readUInt32LE(4)).toBe(0);
  });

  it('holds the same in Parquet, typed', async () => {
    const rows = await parquetRows(file(out, `${name}.parquet`));
    const expected = csvObjects(text(out, `${name}.csv`));
    const cell = (value: unknown): string | null =>
      value instanceof Date ? value.toISOString().replace('.000Z', 'Z') : told(value ?? null);
    expect(
      rows.map((row) =>
        Object.fromEntries(Object.entries(row).map(([column, value]) => [column, cell(value)])),
      ),
    ).toEqual(expected);
  });

  it('has the header that its Parquet schema has', async () => {
    const metadata = await parquetMetadataAsync(await asyncBufferFromFile(file(out, `${name}.parquet`)));
    const [, ...columns] = metadata.schema.map((element) => element.name);
    expect(parseCsv(text(out, `${name}.csv`))[0]).toEqual(columns);
  });
});

/** Left to itself, this reader drops a byte order mark that a text begins with. */
const exact = new TextDecoder('utf-8', { ignoreBOM: true, fatal: true });
const parsers = { stringFromBytes: (bytes?: Uint8Array) => bytes && exact.decode(bytes) };

const parquetRows = async (name: string): Promise<Record<string, unknown>[]> =>
  parquetReadObjects({ file: await asyncBufferFromFile(name), parsers });

describe('a Parquet file', () => {
  it('types integers, times, truth values and texts, and tells null from an empty text', async () => {
    const rows = await parquetRows(file(out, 'groups.parquet'));
    expect(rows[1]).toMatchObject({ id: 2n, name: '', owner_id: null });
    expect(rows.find(({ id }) => id === 100n)).toMatchObject({
      owner_id: 7n,
      public_entry: true,
      verified: false,
      peak_member_count: 9_007_199_254_740_991n,
      change_24h_delta: -6n,
      measured_at: new Date(TIME),
    });
  });
});

describe('an empty register', () => {
  it('gives tables with headers alone, which are still read', async () => {
    const folder = path('empty');
    await published({ register: writeRegister(path('empty.sqlite'), ''), out: folder });
    for (const name of TABLES) {
      expect(text(folder, `${name}.csv`)).toBe(`${text(out, `${name}.csv`).split('\r\n')[0]}\r\n`);
      expect(gunzipSync(readFileSync(file(folder, `${name}.csv.gz`))).toString()).toBe(
        text(folder, `${name}.csv`),
      );
      expect(await parquetRows(file(folder, `${name}.parquet`))).toEqual([]);
    }
  });
});

describe('what is withheld', () => {
  it('is in no table: not as a record, not in a history, not as an owner', async () => {
    const folder = path('withheld');
    await published({
      register: writeRegister(path('withheld.sqlite'), {
        ...register,
        withheld: [
          { kind: 'user', id: 7, since: TIME },
          { kind: 'user', id: 8, since: TIME },
        ],
      }),
      out: folder,
    });
    expect(csvObjects(text(folder, 'users.csv'))).toEqual([]);
    expect(csvObjects(text(folder, 'usernames.csv'))).toEqual([]);
    const owned = csvObjects(text(folder, 'groups.csv')).find(({ id }) => id === '100');
    expect(owned).toMatchObject({ owner_state: 'owned', owner_id: null, owner_name: null });
    for (const name of TABLES) expect(text(folder, `${name}.csv`)).not.toContain('seven');
  });
});
