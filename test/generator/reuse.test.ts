/** Builds that follow another one: they render only what changed, and the tree is the one that a fresh build gives. */
import { beforeAll, describe, expect, it } from 'vitest';
import { writeSample } from '../../data/sample.js';
import { build } from '../../generator/build.js';
import type { Published } from '../../generator/build.js';
import { buildConfig } from '../../generator/config.js';
import type { Progress } from '../../generator/progress.js';
import { OPERATOR, effectsAt, published, quiet, run } from '../support/build.js';
import { temporary } from '../support/folder.js';
import { changeRegister } from '../support/register.js';
import { hashes, lasting, readTree } from '../support/tree.js';

const path = temporary();

/** The files of a tree that follow from the register, by their hashes. */
const contentOf = (out: string): Record<string, string> => hashes(lasting(readTree(out)));

/** A build, and how many documents it rendered. */
async function counted(
  register: string,
  out: string,
  code = 'test',
): Promise<Published & { rendered: number }> {
  let rendered = 0;
  let title = '';
  const silent = quiet();
  const progress: Progress = {
    start: (next, total, unit) => {
      title = next;
      silent.start(next, total, unit);
    },
    advance: (steps) => {
      if (title === 'rendering') rendered += steps;
      return silent.advance(steps);
    },
    finish: () => silent.finish(),
    stop: () => silent.stop(),
  };
  const effects = effectsAt('2026-12-01T00:00:00Z');
  const generator = { ...effects.generator, code };
  const config = buildConfig({ register, out, operator: OPERATOR });
  const result = await build(config, { ...effects, progress, generator });
  if (!result.published) throw new Error(`refused: ${JSON.stringify(result.report)}`);
  return { ...result, rendered };
}

/** Index, statistics and the 200 lists of the largest are rendered by each build. */
const SUMMARIES = 202;
const TIME = "'2026-11-20T07:00:00Z'";
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
  'ids that move from one record to another': `UPDATE games SET id = -id WHERE id = ${middle('games')}; UPDATE games SET id = 3 WHERE id < 0`,
};

/** SQLite in Node has no generate_series. */
const series = (sql: string): string =>
  sql.replace(
    'generate_series',
    '(WITH RECURSIVE n(value) AS (SELECT 1 UNION ALL SELECT value + 1 FROM n WHERE value < 50) SELECT value FROM n)',
  );

describe('a build that follows another', () => {
  const register = path('register.sqlite');
  const out = path('dist');
  beforeAll(async () => {
    await writeSample({ file: register, records: 700, seed: 4 });
    await published({ register, out });
  });

  it.each(Object.entries(EDITS))('gives the tree of a fresh one after %s', async (_, sql) => {
    changeRegister(register, series(sql));
    const { changes } = await counted(register, out);
    expect(changes.added + changes.changed + changes.removed).toBeGreaterThan(0);
    const fresh = path('fresh');
    await published({ register, out: fresh });
    expect(contentOf(out)).toEqual(contentOf(fresh));
    const again = await counted(register, out);
    expect([again.changes.unchanged, again.rendered]).toEqual([again.files, SUMMARIES]);
  });

  it('renders the block of what changed, and what tells of changes', async () => {
    const before = await counted(register, out);
    changeRegister(register, `UPDATE items SET price = 4242 WHERE id = ${middle('items')}`);
    const { rendered, changes } = await counted(register, out);
    expect(before.rendered).toBe(SUMMARIES);
    expect(rendered).toBeGreaterThan(SUMMARIES);
    // 16 items, and the documents of the feeds.
    expect(rendered).toBeLessThan(SUMMARIES + 100);
    expect(changes.removed + changes.added).toBe(0);
  });

  it('renders everything by another code, and finds it the same', async () => {
    const { rendered, changes, files } = await counted(register, out, 'another');
    expect(rendered).toBeGreaterThan(1000);
    expect(changes.unchanged).toBe(files);
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
    expect(refused.report.findings).toHaveLength(20);
    expect(contentOf(tree)).toEqual(before);
    // Left out, they are told of by every build.
    for (let builds = 0; builds < 2; builds += 1) {
      const left = await run({ register: broken, out: tree, skipInvalid: true, acceptRemovals: true });
      expect(left).toMatchObject({ published: true, report: { total: 40 } });
    }
    changeRegister(broken, `UPDATE items SET price = 1 WHERE price = -1`);
    await published({ register: broken, out: tree });
    const fresh = path('fresh');
    await published({ register: broken, out: fresh });
    expect(contentOf(tree)).toEqual(contentOf(fresh));
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

  it('goes on from a tree of the other layout', async () => {
    const tree = path('dist');
    await published({ register, out: tree });
    const moved = await published({ register, out: tree, layout: 'bucketed' });
    expect(moved.changes.unchanged).toBe(moved.files);
    const fresh = path('fresh');
    await published({ register, out: fresh, layout: 'bucketed' });
    expect(contentOf(tree)).toEqual(contentOf(fresh));
  });
});
