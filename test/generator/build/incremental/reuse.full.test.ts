/** Builds that follow another one: they render only what changed, and the tree is the one that a fresh build gives. */
import { readdirSync, rmSync } from 'node:fs';
import { beforeAll, describe, expect, it } from 'vitest';
import { writeSample } from '../../../../data/sample.js';
import { DIGEST_CHUNK, beginsChunk } from '../../../../generator/tree/chunks.js';
import { counted, published, run } from '../../../support/build.js';
import { snapshot } from '../../../support/cli.js';
import { temporary } from '../../../support/folder.js';
import { SCHEMA, changeRegister, writeRegister } from '../../../support/register.js';
import { hashes, inState, lasting, readTree } from '../../../support/tree.js';

const path = temporary();

/** The files of a tree that follow from the register, by their hashes. */
const contentOf = (out: string): Record<string, string> => hashes(lasting(readTree(out)));

/** Index, statistics, the way to look up and the 200 lists of the largest are rendered by each build. */
const SUMMARIES = 203;
const TIME = "'2026-11-20T07:00:00Z'";
const LONG_AGO = "'2019-01-01T00:00:00Z'";
/** A chunk of the digest begins here, and so does one of any smaller size. */
const FIRST_OF_CHUNK =
  Array.from({ length: 10_000 }, (_, key) => key + 2).find((key) => beginsChunk(key, DIGEST_CHUNK)) ?? 0;
const middle = (table: string): string => `(SELECT id FROM ${table} ORDER BY id LIMIT 1 OFFSET 40)`;

/** What may become of a register, by what it is. */
const EDITS: Readonly<Record<string, string>> = {
  'a new value': `UPDATE items SET favourites = 12345 WHERE id = ${middle('items')}`,
  'a value that is no longer measured': `UPDATE groups SET description = NULL WHERE id = ${middle('groups')}`,
  'an empty text instead of none': `UPDATE groups SET description = '' WHERE id = ${middle('groups')}`,
  'a reading in the middle of a history': `INSERT INTO group_member_readings
    SELECT group_id, min(substr(measured_at, 1, 17) || '01Z', '2020-01-01T00:00:01Z'), 77 FROM group_member_readings WHERE group_id = ${middle('groups')}
    GROUP BY group_id`,
  'a reading that is gone': `DELETE FROM group_member_readings WHERE group_id = ${middle('groups')}
    AND measured_at = (SELECT min(measured_at) FROM group_member_readings AS r WHERE r.group_id = group_member_readings.group_id)`,
  'records behind all others': `INSERT INTO users (id, username, first_measured_at, measured_at, measurements)
    SELECT (SELECT max(id) FROM users) + value, 'late ' || value, ${TIME}, ${TIME}, 1 FROM generate_series`,
  'a record before all others': `INSERT INTO games (id, name, first_measured_at, measured_at, measurements) SELECT min(id) - 1, 'early', ${TIME}, ${TIME}, 1 FROM games`,
  'records that are gone': `DELETE FROM items WHERE id IN (SELECT id FROM items ORDER BY id LIMIT 3 OFFSET 10)`,
  'a record that is withheld': `INSERT INTO withheld SELECT 'user', owner_id, ${TIME} FROM groups WHERE owner_id IS NOT NULL LIMIT 1`,
  'a record that is withheld no more': `DELETE FROM withheld`,
  'a history longer than is read at once': `INSERT INTO group_member_readings
    SELECT ${middle('groups')}, strftime('%Y-%m-%dT%H:%M:%SZ', '2024-01-01T00:00:00Z', '+' || (3600 * c.value + 60 * a.value + b.value) || ' minutes'), a.value + b.value
    FROM generate_series AS a, generate_series AS b, generate_series AS c WHERE c.value <= 4 ON CONFLICT DO NOTHING`,
  'ids that move from one record to another': `UPDATE games SET id = -id WHERE id = ${middle('games')}; UPDATE games SET id = 3 WHERE id < 0`,
};

/** SQLite in Node has no generate_series. */
const series = (sql: string): string =>
  sql.replaceAll(
    'generate_series',
    '(WITH RECURSIVE n(value) AS (SELECT 1 UNION ALL SELECT value + 1 FROM n WHERE value < 50) SELECT value FROM n)',
  );

/** Holds a tree against the one that a fresh build gives. */
async function expectAsFresh(register: string, tree: string): Promise<void> {
  const fresh = path('fresh');
  rmSync(fresh, { recursive: true, force: true });
  await published({ register, out: fresh });
  expect(contentOf(tree)).toEqual(contentOf(fresh));
}

/** A user that was called otherwise before. */
const renamed = (id: number): string =>
  `INSERT INTO users (id, username, first_measured_at, measured_at, measurements) VALUES (${id}, 'high', ${TIME}, ${TIME}, 1);
   INSERT INTO usernames VALUES (${id}, 1, 'low', NULL, ${TIME}, ${TIME}), (${id}, 2, 'high', NULL, ${TIME}, ${TIME});`;

describe('a build that follows another', () => {
  const register = path('register.sqlite');
  const out = path('dist');
  beforeAll(async () => {
    await writeSample({ file: register, records: 700, seed: 4 });
    await published({ register, out });
  });

  it.each(Object.entries(EDITS))('gives the tree of a fresh one after %s', async (_, sql) => {
    changeRegister(register, series(sql));
    const { changes } = await counted({ register, out, acceptRemovals: true });
    expect(changes.added + changes.changed + changes.removed).toBeGreaterThan(0);
    await expectAsFresh(register, out);
    const again = await counted({ register, out });
    expect([again.changes.unchanged, again.rendered]).toEqual([again.files, SUMMARIES]);
  });

  it('notices places that add up to the same, and so do their squares', async () => {
    const name = (position: number): string =>
      `INSERT INTO group_names VALUES (${middle('groups')}, ${position}, (SELECT name FROM groups WHERE id = ${middle('groups')}), NULL, ${LONG_AGO}, ${LONG_AGO});`;
    changeRegister(
      register,
      `DELETE FROM group_names WHERE group_id = ${middle('groups')}; ${[1, 5, 6].map(name).join(' ')}`,
    );
    await counted({ register, out });
    changeRegister(
      register,
      `UPDATE group_names SET position = CASE position WHEN 1 THEN 2 WHEN 5 THEN 3 ELSE 7 END WHERE group_id = ${middle('groups')}`,
    );
    const { exports } = await counted({ register, out });
    expect(exports).toMatchObject({ group_names: { written: true }, usernames: { written: false } });
    await expectAsFresh(register, out);
  });

  it.each([
    [
      'many came between two of them',
      `INSERT INTO items (id, name, first_measured_at, measured_at, measurements)
         SELECT ${middle('items')} + 50 * a.value + b.value, 'between', ${TIME}, ${TIME}, 1
         FROM generate_series AS a, generate_series AS b WHERE a.value <= 12 ON CONFLICT DO NOTHING`,
    ],
    ['most are gone', `DELETE FROM items WHERE id NOT IN (SELECT id FROM items ORDER BY id LIMIT 20)`],
  ])('tells records apart as before when %s', async (_, sql) => {
    const worn = path('worn.sqlite');
    const tree = path('dist');
    await writeSample({ file: worn, records: 700, seed: 8 });
    await published({ register: worn, out: tree });
    changeRegister(worn, series(sql));
    await published({ register: worn, out: tree, acceptRemovals: true });
    await expectAsFresh(worn, tree);
    expect((await counted({ register: worn, out: tree })).rendered).toBe(SUMMARIES);
    changeRegister(worn, `UPDATE items SET favourites = 1 WHERE id = (SELECT max(id) FROM items)`);
    expect((await counted({ register: worn, out: tree })).rendered).toBeLessThan(SUMMARIES + 20);
    await expectAsFresh(worn, tree);
  });

  it('renders what changed, and nothing beside it', async () => {
    const pristine = path('pristine.sqlite');
    const tree = path('dist');
    await writeSample({ file: pristine, records: 700, seed: 10 });
    await published({ register: pristine, out: tree });
    expect((await counted({ register: pristine, out: tree })).rendered).toBe(SUMMARIES);
    const measuredOnceMore = (users: number): void =>
      changeRegister(
        pristine,
        `UPDATE users SET measurements = measurements + 1 WHERE id IN (SELECT id FROM users ORDER BY id LIMIT ${users} OFFSET 40)`,
      );
    measuredOnceMore(1);
    const one = await counted({ register: pristine, out: tree });
    measuredOnceMore(3);
    const three = await counted({ register: pristine, out: tree });
    // Each with its history.
    expect(three.rendered - one.rendered).toBe(2 * 2);
    for (const { changes } of [one, three]) expect(changes.removed + changes.added).toBe(0);
    changeRegister(pristine, `DELETE FROM items WHERE id = ${middle('items')}`);
    const gone = await counted({ register: pristine, out: tree });
    // No neighbour of it, but two feeds in two formats (new items, and all), and what is recent.
    expect([gone.changes.removed, gone.rendered]).toEqual([1, SUMMARIES + 5]);
  });

  it.each([
    ['was in another chunk', `INSERT INTO groups VALUES_OF_FIRST`, ''],
    [
      'was in a chunk of its own',
      `DELETE FROM groups WHERE id = ${FIRST_OF_CHUNK}`,
      'INSERT INTO groups VALUES_OF_FIRST',
    ],
  ])('finds a history that is gone where its record %s', async (_, edit, before) => {
    const grown = path('grown.sqlite');
    const [tree, fresh] = [path('dist'), path('fresh')];
    const at = '2026-11-20T07:00:00Z';
    const filled = (sql: string): string =>
      sql.replace(
        'VALUES_OF_FIRST',
        `(id, first_measured_at, measured_at, measurements) VALUES (${FIRST_OF_CHUNK}, ${TIME}, ${TIME}, 1)`,
      );
    const id = FIRST_OF_CHUNK + 1;
    writeRegister(grown, {
      groups: [{ id, name: 'a group', first_measured_at: at, measured_at: at }],
      group_member_readings: [{ group_id: id, measured_at: at, member_count: 7 }],
    });
    changeRegister(grown, filled(before));
    await published({ register: grown, out: tree });
    changeRegister(grown, `DELETE FROM group_member_readings; ${filled(edit)}`);
    await published({ register: grown, out: tree, acceptRemovals: true });
    await published({ register: grown, out: fresh });
    expect(contentOf(tree)).toEqual(contentOf(fresh));
  });

  it('tells records apart from the first build on, beside one that has more than is read at once', async () => {
    const long = path('long.sqlite');
    const tree = path('dist');
    await writeSample({ file: long, records: 700, seed: 11 });
    changeRegister(long, series(EDITS['a history longer than is read at once'] ?? ''));
    changeRegister(long, `UPDATE groups SET description = 'größer — ' || id || char(10) || '"],["'`);
    await published({ register: long, out: tree });
    // Of several readings: the record has the latest of them.
    const neighbour = `(SELECT group_id FROM group_member_readings WHERE group_id > ${middle('groups')}
      GROUP BY group_id HAVING count(*) > 2 ORDER BY group_id LIMIT 1)`;
    const reading = `(SELECT min(measured_at) FROM group_member_readings WHERE group_id = ${neighbour})`;
    for (const edit of [
      `UPDATE group_member_readings SET member_count = member_count + 1 WHERE group_id = ${neighbour} AND measured_at = ${reading}`,
      `UPDATE groups SET measurements = measurements + 1 WHERE id = ${neighbour}`,
    ]) {
      const correct = async (): Promise<number> => {
        changeRegister(long, edit);
        return (await counted({ register: long, out: tree })).rendered;
      };
      // What later builds know of the records that changed once, the first knows of all.
      const first = await correct();
      expect(first).toBe(await correct());
      expect(first).toBeLessThan(SUMMARIES + 20);
      await expectAsFresh(long, tree);
    }
  });

  it('tells the highest ids apart', async () => {
    const high = path('high.sqlite');
    const tree = path('dist');
    await writeSample({ file: high, records: 100, seed: 12 });
    await published({ register: high, out: tree });
    const [last, other] = [Number.MAX_SAFE_INTEGER, Number.MAX_SAFE_INTEGER - 2];
    for (const edit of [
      renamed(last) + renamed(other),
      `UPDATE usernames SET username = 'lower' WHERE user_id = ${last} AND position = 1`,
      `UPDATE users SET display_name = 'other' WHERE id = ${other}`,
      `DELETE FROM usernames WHERE user_id = ${last}; DELETE FROM users WHERE id = ${last}`,
    ]) {
      changeRegister(high, edit);
      const { changes } = await counted({ register: high, out: tree });
      expect(changes.added + changes.changed + changes.removed).toBeGreaterThan(0);
      await expectAsFresh(high, tree);
    }
  });

  it('keeps what the next build compares with, also where it renders nothing', async () => {
    const other = path('kept.sqlite');
    const tree = path('dist');
    await writeSample({ file: other, records: 700, seed: 9 });
    const known = (): readonly string[] => readdirSync(inState(tree, 'index'));
    await published({ register: other, out: tree });
    const first = known();
    expect(first).toContain('inputs-feed-groups-archive');
    await published({ register: other, out: tree });
    expect(known()).toEqual(first);
    changeRegister(other, `UPDATE users SET measurements = measurements + 1`);
    await published({ register: other, out: tree, keepDownloads: true });
    expect(known()).toEqual(first);
    // The downloads alone are written.
    await published({ register: other, out: tree });
    expect(known()).toEqual(first);
  });

  it('renders everything by another code, and finds it the same', async () => {
    const { rendered, changes, files, exports } = await counted({ register, out }, 'another');
    expect(rendered).toBeGreaterThan(1000);
    expect(changes.unchanged).toBe(files);
    // Another code may write the same values in another way.
    expect(Object.values(exports).map(({ written }) => written)).not.toContain(false);
    // From then on it is known that they were made by this one.
    const again = await counted({ register, out }, 'another');
    expect(again.rendered).toBe(SUMMARIES);
    expect(Object.values(again.exports).map(({ written }) => written)).not.toContain(true);
  });

  it('renders everything once where the index was lost', async () => {
    rmSync(inState(out, 'index'), { recursive: true });
    expect((await counted({ register, out })).rendered).toBeGreaterThan(1000);
    expect((await counted({ register, out })).rendered).toBe(SUMMARIES);
    expect((await snapshot(['verify', '--out', out])).code).toBe(0);
  });

  it('refuses a register that lost its list of what is withheld', async () => {
    const lacking = path('lacking.sqlite');
    const tree = path('dist');
    await writeSample({ file: lacking, records: 300, seed: 7 });
    await published({ register: lacking, out: tree });
    changeRegister(lacking, 'DROP TABLE withheld');
    const before = contentOf(tree);
    await expect(run({ register: lacking, out: tree })).rejects.toThrow('the register lacks withheld,');
    expect(contentOf(tree)).toEqual(before);
  });

  it('refuses what breaks the contract with all that is to be told of it', async () => {
    const broken = path('broken.sqlite');
    const tree = path('dist');
    await writeSample({ file: broken, records: 300, seed: 5 });
    await published({ register: broken, out: tree });
    const before = contentOf(tree);
    changeRegister(broken, `UPDATE items SET price = -1 WHERE id IN (SELECT id FROM items LIMIT 40)`);
    const refused = await run({ register: broken, out: tree });
    expect(refused).toMatchObject({ published: false, report: { total: 40 } });
    expect(refused.report.findings).toMatchObject([{ count: 40 }]);
    expect(contentOf(tree)).toEqual(before);
    // Left out, they are told of by every build.
    for (let builds = 0; builds < 2; builds += 1) {
      const left = await run({ register: broken, out: tree, skipInvalid: true, acceptRemovals: true });
      expect(left).toMatchObject({ published: true, report: { total: 40 } });
    }
    changeRegister(broken, `UPDATE items SET price = 1 WHERE price = -1`);
    await published({ register: broken, out: tree });
    await expectAsFresh(broken, tree);
  });

  it('refuses records of one id, where no key forbids them', async () => {
    const keyless = path('keyless.sqlite');
    const tree = path('dist');
    const [games = ''] = /CREATE TABLE games[^;]*;/.exec(SCHEMA) ?? [];
    const add = `INSERT INTO games (id, first_measured_at, measured_at, measurements) VALUES (9, ${TIME}, ${TIME}, 1);`;
    writeRegister(keyless, {});
    changeRegister(
      keyless,
      `DROP TABLE games; ${games.replace(' PRIMARY KEY', '')} CREATE INDEX ids ON games (id); ${add}`,
    );
    const building = () => snapshot(['build', '--register', keyless, '--out', tree, '--quiet']);
    expect((await building()).code).toBe(0);
    changeRegister(keyless, add.repeat(40));
    const { code, stderr } = await building();
    expect([code, stderr]).toEqual([
      1,
      expect.stringContaining('games.id: 1 place, expected one row for each key\n  id = 9: 41 rows'),
    ]);
  });

  it('finds a history whose record is gone', async () => {
    const orphaned = path('orphaned.sqlite');
    const tree = path('dist');
    await writeSample({ file: orphaned, records: 300, seed: 6 });
    await published({ register: orphaned, out: tree });
    changeRegister(orphaned, `DELETE FROM users WHERE id = (SELECT user_id FROM usernames LIMIT 1)`);
    const refused = await run({ register: orphaned, out: tree });
    expect(refused.published).toBe(false);
    expect(refused.report.findings[0]).toMatchObject({ table: 'usernames', column: 'user_id' });
  });
});
