/** How long a view takes to read, at least: what is known of it after seconds, by a clock that the test sets. */
import { afterEach, describe, expect, it, vi } from 'vitest';
import { Register } from '../../../generator/register/database.js';
import { leastTime } from '../../../generator/register/least-time.js';
import { RESOURCES, recordTable } from '../../../generator/schema/schema.js';
import { temporary } from '../../support/folder.js';
import { inProcess } from '../../support/in-process.js';
import { OPERATOR } from '../../support/build.js';
import { changeRegister, writeRegister } from '../../support/register.js';
import { readTree } from '../../support/tree.js';

const path = temporary();
const [groups] = RESOURCES.map(recordTable);
const CLUBS = 3000;

const LOOKED_UP = '(SELECT n FROM reading AS r WHERE r.k = club.k ORDER BY n DESC LIMIT 1)';
const view = (columns: string, rest: string): string =>
  `CREATE VIEW groups AS SELECT id, '2026-11-20T08:00:00Z' AS measured_at${columns} FROM club ${rest};`;
const LOOKS_UP = `, ${LOOKED_UP} AS member_count`;

const rows = (most: number, row: string): string =>
  `WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ${most}) SELECT ${row} FROM n;`;

/** A register of clubs and their readings, of which each club has one. */
function clubs(views: string, readings = CLUBS, most = CLUBS): string {
  const file = writeRegister(path('register.sqlite'), '');
  changeRegister(
    file,
    `DROP TABLE groups; CREATE TABLE club (id INTEGER PRIMARY KEY, k TEXT); CREATE TABLE reading (k TEXT, n INTEGER);
     INSERT INTO club ${rows(most, `i, 'k' || i`)} INSERT INTO reading ${rows(readings, `'k' || i, i`)} ${views}`,
  );
  return file;
}

function opened<T>(file: string, work: (register: Register) => T): T {
  const register = Register.open(file);
  try {
    return work(register);
  } finally {
    register.close();
  }
}

/** Each time that is asked for is so much later than the one before. */
function tick(ms: number): void {
  let now = 0;
  vi.spyOn(performance, 'now').mockImplementation(() => (now += ms));
}
afterEach(() => vi.restoreAllMocks());

describe('the rows of a view', () => {
  // Each would take minutes to read.
  const readings = 200_000;
  it.each([
    ['that looks up a value', view(LOOKS_UP, '')],
    ['that sorts by what it looks up', view(LOOKS_UP, 'ORDER BY 3')],
    ['that keeps rows by what it looks up', view('', `WHERE ${LOOKED_UP} > 1`)],
    ['that joins without an index', view('', 'JOIN reading AS r ON lower(r.k) = lower(club.k)')],
    [
      'over a view',
      view(LOOKS_UP, '').replace('VIEW groups', 'VIEW own') + 'CREATE VIEW groups AS SELECT * FROM own',
    ],
  ])('%s are counted without looking anything up', (_, views) => {
    let asked = 0;
    opened(clubs(views, readings), (register) => {
      register.define('is_read', () => {
        asked += 1;
        return 0;
      });
      expect([...register.rows('SELECT * FROM groups WHERE is_read()')]).toEqual([]);
    });
    expect(asked).toBe(CLUBS);
  });
});

/** The least time of a view, by a clock that goes on so much with each look. */
const least = (ms: number, views: string): number => {
  const file = clubs(views);
  if (groups === undefined) throw new Error('expected groups');
  tick(ms);
  return opened(file, (register) => leastTime(register, groups));
};

describe('the least time', () => {
  it('is that of the rows left at the rate of the first seconds', () => {
    // 4 rows a second: the rest are counted, and all of them need 750 seconds.
    const ms = least(250, view(LOOKS_UP, ''));
    expect(ms).toBeGreaterThan(600_000);
    expect(ms).toBeLessThanOrEqual(751_000);
  });

  it('is nothing to speak of for a view that can’t be read, which the check reports', () => {
    expect(least(1, view(", json_extract('{', '$.a') AS name", ''))).toBeLessThan(1000);
  });
});

describe('a check or build of a register with a view that takes hours', () => {
  const HOPELESS =
    /^error: reading groups takes at least \d+ minutes: groups.member_count: scans reading for each row \(--no-time-limit goes on\)/;

  it('leaves the tree as it was, and lets the next build go on', async () => {
    const register = clubs(view(LOOKS_UP, ''), 600, 600);
    changeRegister(register, 'CREATE INDEX by_club ON reading (k, n)');
    const args = ['--register', register, '--out', path('dist'), '--operator', OPERATOR, '--quiet'];
    expect(await inProcess('build', ...args)).toMatchObject({ code: 0 });
    const before = readTree(path('dist'));
    changeRegister(register, 'DROP INDEX by_club');
    tick(1250);
    for (const command of ['check', 'build', 'diff', 'verify']) {
      const more = command === 'verify' ? ['--repair'] : [];
      const options = command === 'check' ? args.slice(0, 2) : args;
      const { code, stderr } = await inProcess(command, ...options, ...more);
      expect([command, code, stderr]).toEqual([command, 1, expect.stringMatching(HOPELESS)]);
    }
    vi.restoreAllMocks();
    expect(readTree(path('dist'))).toEqual(before);
    changeRegister(
      register,
      `CREATE INDEX by_club ON reading (k, n); UPDATE reading SET n = 7 WHERE k = 'k1'`,
    );
    expect(await inProcess('build', ...args)).toMatchObject({ code: 0, stderr: '' });
  });

  it('goes on if it is told to', async () => {
    const register = clubs(view(LOOKS_UP, ''), 200);
    tick(250);
    const { code } = await inProcess('check', '--register', register, '--no-time-limit', '--quiet');
    expect(code).toBe(0);
  });
});
