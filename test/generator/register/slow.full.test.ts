/** A register that is slow for want of an index: `check` and `build` end, or say so while SQLite is at it. */
import { beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { buildArgs, start, until } from '../../support/cli.js';
import { temporary } from '../../support/folder.js';
import { changeRegister, writeRegister } from '../../support/register.js';

const path = temporary();
const register = path('clubs.sqlite');

/** Each row of the view reads all counts: forty thousand million rows, which takes hours. */
const CLUBS = `
  DROP TABLE groups;
  CREATE TABLE clubs (id INTEGER PRIMARY KEY, club_key TEXT, last_poll TEXT);
  CREATE TABLE club_counts (club_key TEXT, day TEXT, n INTEGER);
  WITH RECURSIVE number (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM number WHERE i < 20000)
    INSERT INTO clubs SELECT i, 'club ' || i, '2026-11-21' FROM number;
  WITH RECURSIVE number (i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM number WHERE i < 99)
    INSERT INTO club_counts SELECT club_key, '2026-11-' || (10 + i % 20), id FROM clubs, number;
  CREATE VIEW latest AS SELECT id, (SELECT n FROM club_counts AS c
    WHERE c.club_key = clubs.club_key AND day <= last_poll ORDER BY day DESC LIMIT 1) AS n FROM clubs;
  CREATE VIEW groups AS SELECT id, n AS member_count, '2026-11-21T08:00:00Z' AS measured_at FROM latest;`;

const ADVICE = 'groups.member_count: scans club_counts for each row';
const NOTED = `reading groups takes longer than 10 s\n  ${ADVICE}\n`;
const REFUSED = new RegExp(
  String.raw`^error: reading groups takes at least \d+ (minutes|hours): ${ADVICE.replaceAll(/[().]/g, String.raw`\$&`)} \(--no-time-limit goes on\)`,
  'm',
);

beforeAll(() => changeRegister(writeRegister(register, {}), CLUBS));

describe('a view over a view without an index', () => {
  it('ends a check with the least time and the index', async () => {
    const { code, signal, stdout, stderr } = await start(['check', '--register', register]).done;
    expect([code, signal, stdout]).toEqual([1, null, '']);
    expect(stderr).toContain(NOTED);
    expect(stderr).toMatch(REFUSED);
  });

  it('is named by a build without a limit while it is read, and SIGINT ends it', async () => {
    const args = buildArgs(register, path('other'), '--no-time-limit').filter((arg) => arg !== '--quiet');
    const { child, done, output } = start(args);
    onTestFinished(() => void child.kill('SIGKILL'));
    await until(() => output.stderr.includes(`  ${ADVICE}\n`), 'the index is named', 60_000);
    expect(output.stderr).toContain(
      `checking groups (the values of its columns) takes longer than 10 s\n  ${ADVICE}\n`,
    );
    child.kill('SIGINT');
    // The threads are inside SQLite, so the process ends by the signal.
    expect((await done).signal).toBe('SIGINT');
  });
});
