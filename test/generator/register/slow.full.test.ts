/** A register that is slow for want of an index: `check` and `build` end, or say so while SQLite is at it. */
import { beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { buildArgs, start, until } from '../../support/cli.js';
import { temporary } from '../../support/folder.js';
import { changeRegister, writeRegister } from '../../support/register.js';
import { readTree } from '../../support/tree.js';

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

const ADVICE =
  'groups.member_count: scans club_counts for each row; an index on club_counts(club_key, day) would help';
const NOTED = `reading groups takes longer than 10 s\n  ${ADVICE}\n`;
const REFUSED = new RegExp(
  String.raw`^error: reading groups takes at least \d+ (minutes|hours): ${ADVICE.replaceAll(/[().]/g, String.raw`\$&`)} \(--no-time-limit goes on\)`,
  'm',
);

beforeAll(() => changeRegister(writeRegister(register, {}), CLUBS));

describe('a view over a view without an index', () => {
  it('ends a check within half a minute, with the least time and the index', async () => {
    const startedAt = performance.now();
    const { code, signal, stdout, stderr } = await start(['check', '--register', register]).done;
    expect([code, signal, stdout]).toEqual([1, null, '']);
    expect(stderr).toContain(NOTED);
    expect(stderr).toMatch(REFUSED);
    expect(performance.now() - startedAt).toBeLessThan(30_000);
  });

  it('ends a build, which leaves the tree as it was and the next one free to work', async () => {
    const small = writeRegister(path('small.sqlite'), { groups: [{ id: 7 }] });
    const out = path('dist');
    expect((await start(buildArgs(small, out)).done).code).toBe(0);
    const before = readTree(out);
    const { code, stderr } = await start(buildArgs(register, out)).done;
    expect([code, stderr]).toEqual([1, expect.stringMatching(REFUSED)]);
    expect(stderr).toContain('; the published tree is what it was');
    expect(readTree(out)).toEqual(before);
    expect((await start(buildArgs(small, out)).done).code).toBe(0);
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

  it('is fast with that index, and nothing is said', async () => {
    changeRegister(register, 'CREATE INDEX by_club ON club_counts (club_key, day)');
    const { code, stdout, stderr } = await start(['check', '--register', register]).done;
    expect([code, stderr]).toEqual([
      0,
      expect.stringMatching(/^checking the register: \d+ steps in \S+ s\n/),
    ]);
    expect(stderr).not.toContain('takes longer');
    expect(stdout).toContain('  20,000 groups');
  });
});
