/** The sample: what it has, what it never has, and that it is the same for the same seed. */
import fs from 'node:fs';
import path from 'node:path';
import { TABLES } from '../../generator/schema/schema.js';
import { openDatabase, type Database } from '../../generator/base/sqlite/sqlite.js';
import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from 'vitest';
import { type SampleSummary, writeSample } from '../../data/sample.js';
import { temporary } from '../support/folder.js';
import { inProcess } from '../support/in-process.js';
import { sha256 } from '../support/published.js';

const inFolder = temporary();

/** Of what a sample of 5,000 records has an example, so that whatever is published has one: rows after FROM. */
const EXAMPLES: Readonly<Record<string, string>> = {
  'the largest group': 'groups WHERE member_count > 2.8e8',
  'a tie among the hundred largest groups':
    '(SELECT member_count m FROM groups ORDER BY m DESC LIMIT 100) GROUP BY m HAVING count(*) > 1',
  'a group without members': 'groups WHERE member_count = 0',
  'a group with a hundred readings': 'group_member_readings GROUP BY group_id HAVING count(*) >= 100',
  'a group with one reading': 'group_member_readings GROUP BY group_id HAVING count(*) = 1',
  'readings of two years ago': "group_member_readings WHERE measured_at < '2024-11-20'",
  'a member count that is known from before only':
    'groups WHERE member_count IS NULL AND id IN (SELECT group_id FROM group_member_readings)',
  'a group that was renamed three times': 'group_names WHERE position = 4',
  'a user who was renamed three times, with dates': 'usernames WHERE position = 4 AND changed_at IS NOT NULL',
  'a group that lost its owner':
    "groups JOIN group_owners o ON o.group_id = id WHERE groups.owner_state = 'none' AND o.owner_state = 'owned'",
  'an owner who is a measured user': 'groups WHERE owner_id IN (SELECT id FROM users)',
  'an owner who is none': 'groups WHERE owner_id NOT IN (SELECT id FROM users)',
  'a group without history': 'groups WHERE id NOT IN (SELECT group_id FROM group_names)',
  'a withheld user who owns a group': "groups JOIN withheld w ON w.kind = 'user' AND w.id = owner_id",
  'a withheld group that made a game': 'games JOIN withheld w ON w.kind = creator_type AND w.id = creator_id',
  'a limited item': 'items WHERE limited = 1 AND lowest_resale_price > 0 AND quantity_total > 0',
  'an item id of more than 32 bits': 'items WHERE id > 0xFFFFFFFF',
  ...Object.fromEntries(
    'group locked|group deleted|user banned|game restricted|game deleted|item deleted'
      .split('|')
      .map((what) => {
        const [kind, state] = what.split(' ');
        return [what, `${kind}s WHERE state = '${state}'`];
      }),
  ),
  ...Object.fromEntries(
    ['group', 'user', 'game', 'item'].map((kind) => [
      `a withheld ${kind}`,
      `withheld JOIN ${kind}s USING (id) WHERE kind = '${kind}'`,
    ]),
  ),
};

describe('a sample of 5,000 records', () => {
  const file = inFolder('five-thousand.sqlite');
  let db: Database;
  let summary: SampleSummary;

  beforeAll(async () => {
    summary = await writeSample({ file, records: 5_000, seed: 20_261_120 });
    db = openDatabase(file, { readonly: true });
  });
  afterAll(() => db.close());

  const rowsOf = (sql: string) => db.prepare(sql).raw().all();

  it('has an example of whatever may be published', () => {
    const missing = Object.entries(EXAMPLES).filter(
      ([, from]) => rowsOf(`SELECT 1 FROM ${from} LIMIT 1`).length === 0,
    );
    expect(missing).toEqual([]);
  });

  /** What it keeps of every record, or has none of. */
  const OWN = new Set(['first_measured_at', 'measurements', 'platform_id']);

  it('leaves each nullable column unmeasured and measured somewhere', () => {
    const nullable = TABLES.flatMap(({ name, columns }) =>
      columns
        .filter((column) => column.nullable && !OWN.has(column.name))
        .map((column) => [name, column.name]),
    );
    expect(nullable.length).toBeGreaterThan(50);
    for (const [table, column] of nullable) {
      const sql = `SELECT min("${column}" IS NULL), max("${column}" IS NULL) FROM ${table}`;
      expect([table, column, rowsOf(sql)]).toEqual([table, column, [[0, 1]]]);
    }
  });

  it('keeps the contract, and is warned of nothing', async () => {
    const { code, stdout, stderr } = await inProcess('check', '--register', file);
    expect([code, stderr]).toEqual([0, '']);
    expect(stdout).not.toContain('warning');
  });

  it('tells what it wrote', () => {
    const counts = new Map(TABLES.map(({ name }) => [name, Number(rowsOf(`SELECT count(*) FROM ${name}`))]));
    const records = { groups: 1_500, users: 2_000, games: 500, items: 1_000 };
    expect(Object.fromEntries(counts)).toMatchObject(records);
    const rows = [...counts.values()].reduce((sum, count) => sum + count, 0);
    expect(summary).toEqual({ ...records, rows, bytes: fs.statSync(file).size });
    expect(db.pragma('integrity_check', { simple: true })).toBe('ok');
  });
});

const fail = (): void => {
  throw new Error('interrupted');
};

describe('writeSample', () => {
  afterEach(() => {
    vi.restoreAllMocks();
  });

  it('writes the same bytes for the same records and seed, whatever the clock and chance say', async () => {
    const digests: string[] = [];
    // Of the last two, 32 bits are alike.
    for (const seed of [7, 7, 8, 7 + 2 ** 32]) {
      const file = inFolder('same.sqlite');
      await writeSample({ file, records: 1_500, seed });
      digests.push(sha256(fs.readFileSync(file)));
      vi.spyOn(Date, 'now').mockReturnValue(0);
      vi.spyOn(Math, 'random').mockReturnValue(0.5);
    }
    expect(digests[1]).toBe(digests[0]);
    expect(new Set(digests).size).toBe(3);
    const file = inFolder('by the command.sqlite');
    await inProcess('sample', '--out', file, '--records', '1500', '--seed', '8', '--quiet');
    expect(sha256(fs.readFileSync(file))).toBe(digests[2]);
  });

  it.each([
    [0, [0, 0, 0, 0]],
    [1, [0, 1, 0, 0]],
    [40, [12, 16, 4, 8]],
  ])('writes a register of %i records', async (records, counts) => {
    const file = inFolder(`tiny-${records}.sqlite`);
    const { groups, users, games, items } = await writeSample({ file, records, seed: 3 });
    expect([groups, users, games, items]).toEqual(counts);
    const sound = { code: 0, stdout: '', stderr: '' };
    expect(await inProcess('check', '--quiet', '--register', file)).toEqual(sound);
  });

  it('replaces what an interrupted run left, and leaves nothing when it fails', async () => {
    const own = inFolder('own');
    fs.mkdirSync(own);
    const file = path.join(own, 'register.sqlite');
    await expect(writeSample({ file, records: 30, seed: 1, onProgress: fail })).rejects.toThrow(
      /interrupted/,
    );
    expect(fs.readdirSync(own)).toEqual([]);
    fs.writeFileSync(`${file}.partial`, 'half a register');
    await writeSample({ file, records: 30, seed: 1 });
    expect(fs.readdirSync(own)).toEqual(['register.sqlite']);
  });

  it.each([
    [{ records: -1, seed: 1 }, 'Cannot write "-1" records'],
    [{ records: 1e9, seed: 1 }, 'Cannot write "1000000000" records'],
    [{ records: 1, seed: 0.5 }, 'Cannot use the seed "0.5"'],
  ])('refuses %o', async (wrong, message) => {
    const file = inFolder('refused.sqlite');
    await expect(writeSample({ file, ...wrong })).rejects.toThrow(message);
    expect(fs.existsSync(file)).toBe(false);
  });
});
