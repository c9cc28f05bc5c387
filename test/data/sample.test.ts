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
import { some } from '../support/thorough.js';
import { FAULTS } from './sample/faults.js';
import { SHAPES } from './sample/shapes.js';
import { VIEWS } from './sample/views.js';

const inFolder = temporary();

function open(file: string): Database {
  return openDatabase(file, { readonly: true }).exec(VIEWS);
}

describe.each(some([1, 20_261_120], 1))('a sample of 5,000 records from seed %i', (seed) => {
  const file = inFolder(`five-thousand-${seed}.sqlite`);
  let db: Database;
  let summary: SampleSummary;

  beforeAll(async () => {
    summary = await writeSample({ file, records: 5_000, seed });
    db = open(file);
  });
  afterAll(() => db.close());

  const rowsOf = (sql: string) => db.prepare(sql).raw().all();

  it.each(Object.entries(SHAPES))('has this: %s', (_, from) => {
    expect(rowsOf(`SELECT * FROM ${from} LIMIT 1`)).toHaveLength(1);
  });

  it.each(Object.entries(FAULTS))('never has this: %s', (_, from) => {
    expect(rowsOf(`SELECT * FROM ${from} LIMIT 3`)).toEqual([]);
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

  it('keeps the contract, and neither check nor build warns of anything', async () => {
    const { code, stdout, stderr } = await inProcess('check', '--register', file);
    expect([code, stderr]).toEqual([0, '']);
    expect(stdout).not.toContain('warning');
    const build = await inProcess('build', '--register', file, '--out', inFolder(`dist-${seed}`));
    expect([build.code, build.stderr]).toEqual([0, '']);
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

describe('writeSample', () => {
  afterEach(() => {
    vi.restoreAllMocks();
  });

  it('writes the same bytes for the same records and seed, whatever the clock and chance say', async () => {
    const digests: string[] = [];
    for (const [name, seed] of [
      ['first', 7],
      ['second', 7],
      ['another seed', 8],
      ['a seed of which 32 bits are alike', 7 + 2 ** 32],
    ] as const) {
      const file = inFolder(`${name}.sqlite`);
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
    [5, [2, 1, 1, 1]],
    [40, [12, 16, 4, 8]],
  ])('writes a register of %i records', async (records, counts) => {
    const file = inFolder(`tiny-${records}.sqlite`);
    const { groups, users, games, items } = await writeSample({ file, records, seed: 3 });
    expect([groups, users, games, items]).toEqual(counts);
    const db = open(file);
    for (const [fault, from] of Object.entries(FAULTS)) {
      expect([fault, db.prepare(`SELECT * FROM ${from}`).all()]).toEqual([fault, []]);
    }
    db.close();
    const sound = { code: 0, stdout: '', stderr: '' };
    expect(await inProcess('check', '--quiet', '--register', file)).toEqual(sound);
  });

  it('replaces what an interrupted run left and leaves nothing but the file', async () => {
    const own = inFolder('stale');
    fs.mkdirSync(own);
    fs.writeFileSync(path.join(own, 'register.sqlite.partial'), 'half a register');
    await writeSample({ file: path.join(own, 'register.sqlite'), records: 30, seed: 1 });
    expect(fs.readdirSync(own)).toEqual(['register.sqlite']);
  });

  it('leaves nothing at all when it fails', async () => {
    const own = inFolder('failed');
    fs.mkdirSync(own);
    const onProgress = vi.fn<() => void>().mockImplementation(() => {
      throw new Error('interrupted');
    });
    const file = path.join(own, 'register.sqlite');
    await expect(writeSample({ file, records: 30, seed: 1, onProgress })).rejects.toThrow('interrupted');
    expect(fs.readdirSync(own)).toEqual([]);
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
