/**
 * Builds that follow another one render only what changed. That the tree is the one of a build from nothing is tested
 * by test/system/oracle too, for any edits.
 */
import { readdirSync, rmSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { writeSample } from '../../../../data/sample.js';
import { counted, published, run } from '../../../support/build.js';
import { temporary } from '../../../support/folder.js';
import { inProcess } from '../../../support/in-process.js';
import { contentOf } from '../../../support/published.js';
import { SCHEMA, changeRegister, writeRegister } from '../../../support/register.js';
import { differing, inState } from '../../../support/tree.js';

const path = temporary();

/** Index, statistics, the way to look up and the 200 lists of the largest are rendered by each build. */
const SUMMARIES = 203;
const TIME = "'2026-11-20T07:00:00Z'";
const middle = (table: string): string => `(SELECT id FROM ${table} ORDER BY id LIMIT 1 OFFSET 40)`;

class Sample {
  readonly register = path('register.sqlite');
  readonly out = path('dist');

  /** Builds, and says how many documents were rendered. */
  async rendered(sql = ''): Promise<number> {
    if (sql !== '') changeRegister(this.register, sql);
    return (await counted({ register: this.register, out: this.out, acceptRemovals: true })).rendered;
  }

  /** How the tree differs from the one of a build from nothing. */
  async differences(): Promise<readonly string[]> {
    const fresh = path('fresh');
    await published({ register: this.register, out: fresh });
    const found = differing(contentOf(this.out), contentOf(fresh));
    rmSync(fresh, { recursive: true });
    return found;
  }
}

/** A sample, and the tree of it. */
async function sample(records: number, sql = ''): Promise<Sample> {
  const made = new Sample();
  await writeSample({ file: made.register, records, seed: 4 });
  if (sql !== '') changeRegister(made.register, sql);
  await published(made);
  return made;
}

/** A user that had another name before. */
const renamed = (id: number): string =>
  `INSERT INTO users (id, username, first_measured_at, measured_at, measurements) VALUES (${id}, 'high', ${TIME}, ${TIME}, 1);
   INSERT INTO usernames VALUES (${id}, 1, 'low', NULL, ${TIME}, ${TIME}), (${id}, 2, 'high', NULL, ${TIME}, ${TIME});`;

const measured = (users: number): string =>
  `UPDATE users SET measurements = measurements + 1 WHERE id IN (SELECT id FROM users ORDER BY id LIMIT ${users} OFFSET 40)`;

describe('a build that follows another', () => {
  it('renders what changed, and nothing beside it', async () => {
    const made = await sample(700);
    expect(await made.rendered()).toBe(SUMMARIES);
    const one = await made.rendered(measured(1));
    // Each with its history.
    expect((await made.rendered(measured(3))) - one).toBe(2 * 2);
    // No neighbour of it, but what is recent, and in two formats the feeds of new items and of all, and its month.
    expect(await made.rendered(`DELETE FROM items WHERE id = ${middle('items')}`)).toBe(SUMMARIES + 7);
    expect(await made.differences()).toEqual([]);
  });

  it('keeps what the next build compares with, also where it renders nothing, and renders everything once where that was lost', async () => {
    const made = await sample(700);
    const { register, out } = made;
    const known = (): readonly string[] => readdirSync(inState(out, 'index'));
    const first = known();
    expect(first).toContain('inputs-feed-groups-archive');
    await published(made);
    expect(known()).toEqual(first);
    changeRegister(register, `UPDATE users SET measurements = measurements + 1`);
    await published({ register, out, keepDownloads: true });
    expect(known()).toEqual(first);
    // The downloads alone are written.
    const isWritten = async (): Promise<boolean> =>
      Object.values((await published(made)).exports).some(({ written }) => written);
    expect([await isWritten(), await isWritten()]).toEqual([true, false]);
    rmSync(inState(out, 'index'), { recursive: true });
    expect(await made.rendered()).toBeGreaterThan(1000);
    expect(await made.rendered()).toBe(SUMMARIES);
    expect((await inProcess('verify', '--out', out)).code).toBe(0);
  });
});

describe('a build that follows another refuses', () => {
  it('records of one id, where no key forbids them, and a history whose record is gone', async () => {
    const made = new Sample();
    const { register, out } = made;
    const [games = ''] = /CREATE TABLE games[^;]*;/.exec(SCHEMA) ?? [];
    const add = `INSERT INTO games (id, first_measured_at, measured_at, measurements) VALUES (9, ${TIME}, ${TIME}, 1);`;
    writeRegister(register, renamed(7));
    const keyless = `DROP TABLE games; ${games.replace(' PRIMARY KEY', '')} CREATE INDEX ids ON games (id);`;
    await made.rendered(`${keyless} ${add}`);
    changeRegister(register, add.repeat(40));
    const doubled = await inProcess('build', '--register', register, '--out', out, '--quiet');
    const message = 'games.id: 1 place, expected one row for each key\n  id = 9: 41 rows';
    expect([doubled.code, doubled.stderr]).toEqual([1, expect.stringContaining(message)]);
    changeRegister(register, `DELETE FROM games; ${add} DELETE FROM users`);
    const { findings } = (await run(made)).report;
    expect(findings[0]).toMatchObject({ table: 'usernames', column: 'user_id' });
  });
});
