/** A register that is slow for want of an index: `check` and `build` say so while SQLite is at it. */
import { beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { buildArgs, start, until } from '../../support/cli.js';
import { temporary } from '../../support/folder.js';
import { changeRegister, writeRegister } from '../../support/register.js';

const path = temporary();
const register = path('clubs.sqlite');

/** Each row of the view reads all counts: three thousand million rows, which takes a minute or more. */
const CLUBS = `
  DROP TABLE groups;
  CREATE TABLE clubs (club_key TEXT PRIMARY KEY, id INTEGER);
  CREATE TABLE club_counts (club_key TEXT, day TEXT, n INTEGER);
  WITH RECURSIVE number (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM number WHERE i < 40000)
    INSERT INTO clubs SELECT 'club ' || i, i FROM number;
  INSERT INTO club_counts SELECT club_key, '2026-11-20', id FROM clubs;
  INSERT INTO club_counts SELECT club_key, '2026-11-21', id FROM clubs;
  CREATE VIEW groups AS SELECT id,
    (SELECT n FROM club_counts AS c WHERE c.club_key = clubs.club_key ORDER BY day DESC LIMIT 1) AS member_count,
    '2026-11-20T08:00:00Z' AS first_measured_at, '2026-11-21T08:00:00Z' AS measured_at, 2 AS measurements
  FROM clubs;`;

const STEP = 'checking groups (the values of its columns) takes longer than 5 s\n';
const ADVICE =
  '  groups.member_count: scans club_counts for each row; an index on club_counts(club_key, day) would help\n';

beforeAll(() => changeRegister(writeRegister(register, {}), CLUBS));

describe('a view without an index', () => {
  it('is named by a build while it is read, with the index that would help, and SIGINT ends it', async () => {
    const args = buildArgs(register, path('dist')).filter((arg) => arg !== '--quiet');
    const { child, done, output } = start(args);
    onTestFinished(() => void child.kill('SIGKILL'));
    await until(() => output.stderr.includes(ADVICE), 'the index is named', 60_000);
    expect(output.stderr).toContain(STEP + ADVICE);
    child.kill('SIGINT');
    const { signal, stderr } = await done;
    // The thread is inside SQLite, so the process ends by the signal.
    expect([signal, stderr]).toEqual(['SIGINT', expect.stringContaining('error: stopped by SIGINT')]);
  });

  it('is fast with that index, and nothing is said', async () => {
    changeRegister(register, 'CREATE INDEX by_club ON club_counts (club_key, day)');
    const { code, stdout, stderr } = await start(['check', '--register', register]).done;
    expect([code, stderr]).toEqual([
      0,
      expect.stringMatching(/^checking the register: 35 steps in \S+ s\n$/),
    ]);
    expect(stdout).toContain('  40,000 groups');
  });
});
