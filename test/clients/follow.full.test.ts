/** The script that keeps a copy of the database current, against real trees through the real proxy. */
import { execFile } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { describe, expect, it, onTestFinished } from 'vitest';
import { z } from 'zod';
import { writeSample } from '../../data/sample.js';
import { openDatabase } from '../../generator/base/sqlite/sqlite.js';
import { indexOf, manifestOf, temporary } from '../generator/publish/support.js';
import { PROJECT } from '../support/folder.js';
import { has } from '../support/programs.js';
import { startProxy, type RunningProxy } from '../support/proxy.js';
import { Site } from '../support/site.js';

const path = temporary();
const SCRIPT = join(PROJECT, 'clients/python/follow.py');

const rowsOf = z.array(z.array(z.union([z.string(), z.number(), z.null()])));

/** The rows of each table but that in which the script keeps its place. */
function tablesIn(file: string): Record<string, z.infer<typeof rowsOf>> {
  const database = openDatabase(file, { readonly: true });
  try {
    const names = database.prepare<[], string>(`SELECT name FROM sqlite_schema WHERE type = 'table'`).pluck();
    const tables = names.all().filter((name) => name !== 'copied');
    return Object.fromEntries(
      tables.map((name) => {
        const rows = database.prepare<[]>(`SELECT * FROM "${name}" ORDER BY 1, 2`).raw(true);
        return [name, rowsOf.parse(rows.all())];
      }),
    );
  } finally {
    database.close();
  }
}

/** The usernames of all users. */
const namesIn = (file: string): Set<string> =>
  new Set(tablesIn(file)['users']?.map(([, username]) => `${username}`));

/** The id of one of the records that are not withheld. */
const nth = (table: string, offset: number): string =>
  `(SELECT id FROM ${table} WHERE id NOT IN (SELECT id FROM withheld WHERE kind || 's' = '${table}')
    ORDER BY id LIMIT 1 OFFSET ${offset})`;
const later = (hour: number): string => `'2026-11-30T${String(hour).padStart(2, '0')}:00:00Z'`;

const WITHHOLD = (kind: string, hour: number, id: string): string =>
  `INSERT INTO withheld SELECT '${kind}', ${id}, ${later(hour)};`;

/** What changes from each snapshot to the next. */
const STEPS: readonly {
  readonly sql: string;
  /** Whether the downloads stay what they were. */
  readonly keeps?: true;
  readonly isFollowed?: false;
  /** Whether bundles no longer lead on from the copy. */
  readonly startsOver?: true;
}[] = [
  {
    sql: `UPDATE groups SET description = 'ünï 🦊 "''', measured_at = ${later(1)} WHERE id = ${nth('groups', 4)};
      UPDATE items SET price = NULL, measured_at = ${later(1)} WHERE id = ${nth('items', 2)};
      UPDATE items SET description = 'with \u2028 and' || char(10) WHERE id = ${nth('items', 3)};
      UPDATE users SET display_name = '' WHERE id = ${nth('users', 7)};
      DELETE FROM group_member_readings WHERE group_id = ${nth('groups', 1)};
      CREATE TEMP TABLE another AS SELECT * FROM items LIMIT 1;
      UPDATE another SET id = 900000001, name = 'another', measured_at = ${later(1)};
      INSERT INTO items SELECT * FROM another;`,
  },
  {
    keeps: true,
    sql: `INSERT INTO group_member_readings SELECT ${nth('groups', 3)}, ${later(2)}, 77;
      UPDATE groups SET member_count = 77, measured_at = ${later(2)} WHERE id = ${nth('groups', 3)};
      UPDATE games SET visits = 0, measured_at = ${later(2)} WHERE id = ${nth('games', 3)};`,
  },
  {
    keeps: true,
    isFollowed: false,
    sql: `DELETE FROM games WHERE id = ${nth('games', 5)}; DELETE FROM items WHERE id = ${nth('items', 5)};`,
  },
  {
    sql: `UPDATE items SET name = 'renamed', measured_at = ${later(4)} WHERE id = ${nth('items', 1)};
      UPDATE users SET state = 'deleted', measured_at = ${later(4)} WHERE id = ${nth('users', 9)};`,
  },
  // The owner of the most groups: their documents change as well.
  {
    sql: WITHHOLD(
      'user',
      5,
      `(SELECT owner_id FROM groups WHERE owner_id IN (SELECT id FROM users)
        AND owner_id NOT IN (SELECT id FROM withheld WHERE kind = 'user')
        GROUP BY owner_id ORDER BY count(*) DESC LIMIT 1)`,
    ),
  },
  {
    isFollowed: false,
    sql: `UPDATE games SET genre = 'another', measured_at = ${later(6)} WHERE id = ${nth('games', 1)};`,
  },
  { startsOver: true, sql: WITHHOLD('group', 7, nth('groups', 6)) },
];

const builtAt = async ({ get }: RunningProxy): Promise<string> =>
  z.looseObject({ built_at: z.string() }).parse(await (await get('/snapshot.json')).json()).built_at;

/** A tree of a sample that is served, a function that builds the next snapshot, and the script. */
async function following() {
  const site = new Site(path('register.sqlite'), path('dist'));
  await writeSample({ file: site.register, records: 150, seed: 4 });
  await site.build('', { at: '2026-12-01T00:00:00Z' });
  const proxy = await startProxy(site.out);
  onTestFinished(async () => void (await proxy.stop()));
  let builds = 0;
  const build = async (sql: string, keepDownloads = false): Promise<void> => {
    builds += 1;
    await site.build(sql, { at: `2026-12-01T00:00:0${builds}Z`, keepDownloads });
    // The proxy notices it within a second.
    await expect.poll(() => builtAt(proxy)).toBe(manifestOf(site.out).built_at);
  };
  /** @returns what it says */
  const follow = async (copy: string): Promise<string> =>
    (await promisify(execFile)('/usr/bin/python3', [SCRIPT, proxy.base, copy])).stdout;
  return { out: site.out, build, follow };
}

describe.skipIf(!has('the script in Python', 'python3'))('follow.py', () => {
  it('over eight snapshots makes a copy what the download is, by the changes alone', async () => {
    const { out, build, follow } = await following();
    const [copy, late] = [path('copy.sqlite'), path('late.sqlite')];
    expect(await follow(copy)).toBe('');
    let withheld = 0;
    for (const [index, { sql, keeps, isFollowed = true, startsOver = false }] of STEPS.entries()) {
      await build(sql, keeps);
      if (!isFollowed) continue;
      const before = namesIn(copy);
      const note = `nothing leads on from snapshot ${index}: beginning again with the download\n`;
      expect([index, await follow(copy)]).toEqual([index, startsOver ? note : '']);
      const gone = [...before].filter((name) => !namesIn(copy).has(name));
      const bytes = readFileSync(copy);
      expect(gone.filter((name) => bytes.includes(name))).toEqual([]);
      withheld += gone.length;
      // This one begins with downloads that are older than the tree, and misses most of what follows.
      if (keeps === true) {
        await follow(late);
        continue;
      }
      const expected = tablesIn(join(out, 'downloads/register.sqlite'));
      expect(tablesIn(copy), `snapshot ${index + 2}`).toEqual(expected);
    }
    expect(indexOf(out).sequence).toBe(8);
    expect(withheld).toBe(1);
    await follow(late);
    expect(tablesIn(late)).toEqual(tablesIn(copy));
  }, 300_000);

  it('leaves the copy as it was if a bundle is not what the index says', async () => {
    const { out, build, follow } = await following();
    const copy = path('copy.sqlite');
    await follow(copy);
    const before = tablesIn(copy);
    await build(`UPDATE items SET name = 'other' WHERE id = ${nth('items', 1)}`);
    const bundle = join(out, 'changes/2.ndjson.gz');
    writeFileSync(bundle, readFileSync(bundle).with(100, 0));
    await expect(follow(copy)).rejects.toThrow('/changes/2.ndjson.gz has another hash: try again');
    expect(tablesIn(copy)).toEqual(before);
  });
});
