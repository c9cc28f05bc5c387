/** --skip-invalid: records that break the contract are left out whole, all others are published. */
import { describe, expect, it } from 'vitest';
import { published, run } from '../../support/build.js';
import { inputs } from '../../support/cli.js';
import { temporary } from '../../support/folder.js';
import { inProcess } from '../../support/in-process.js';
import { contentOf } from '../../support/published.js';
import { writeRegister, type Shape } from '../../support/register.js';
import { fresh } from '../../support/site.js';
import { json, readTree } from '../../support/tree.js';
import { containing } from '../../support/values.js';

const path = temporary();

const T = `'2026-11-20T08:00:00Z'`;
const SEEN = `${T}, ${T}`;

/** Groups 7, 8, 9; users 7, 8; games and items 7, 8. Number 8 is the one that goes bad. */
const VALID = `
  INSERT INTO groups (id, name, member_count, first_measured_at, measured_at, measurements)
    VALUES (7, 'seven', 70, ${SEEN}, 1), (8, 'eight', 80, ${SEEN}, 10), (9, 'nine', 90, ${SEEN}, 100);
  INSERT INTO group_member_readings VALUES (7, ${T}, 70), (8, '2026-11-19T08:00:00Z', 79), (8, ${T}, 80), (9, ${T}, 90);
  INSERT INTO group_names VALUES (7, 1, 'seven', NULL, ${SEEN}), (8, 1, 'acht', NULL, ${SEEN}),
    (8, 2, 'eight', NULL, ${SEEN}), (9, 1, 'neuf', NULL, ${SEEN}), (9, 2, 'nine', NULL, ${SEEN});
  INSERT INTO group_owners VALUES (8, 1, 'none', NULL, NULL, ${SEEN}), (9, 1, 'none', NULL, NULL, ${SEEN});
  INSERT INTO users (id, username, first_measured_at, measured_at, measurements)
    VALUES (7, 'u7', ${SEEN}, 1), (8, 'u8', ${SEEN}, 10);
  INSERT INTO usernames VALUES (7, 1, 'u7', NULL, ${SEEN}), (8, 1, 'v8', NULL, ${SEEN}), (8, 2, 'u8', NULL, ${SEEN});
  INSERT INTO games (id, visits, creator_type, creator_id, creator_name, first_measured_at, measured_at, measurements)
    VALUES (7, 70, 'user', 8, 'u8', ${SEEN}, 1), (8, 80, 'group', 8, 'eight', ${SEEN}, 10);
  INSERT INTO items (id, first_measured_at, measured_at, measurements) VALUES (7, ${SEEN}, 1), (8, ${SEEN}, 10);
`;

const without = (id: number): string =>
  ['groups:id', 'group_member_readings:group_id', 'group_names:group_id', 'group_owners:group_id']
    .map((place) => place.split(':'))
    .map(([table, column]) => `DELETE FROM ${table} WHERE ${column} = ${id};`)
    .join(' ');

/** A bad register published with --skip-invalid must be the tree of a register that never had what is bad. */
async function expectSameTree(bad: string, without: string, shape: Shape): Promise<number> {
  const out = path('skipped');
  const register = writeRegister(path('bad.sqlite'), VALID + bad, shape);
  const { report } = await published({ register, out, skipInvalid: true });
  const good = writeRegister(path('good.sqlite'), VALID + without);
  expect(contentOf(out)).toEqual(await fresh(good, path('never')));
  return report.total;
}

describe('--skip-invalid', () => {
  it.each([
    ['bytes that are no UTF-8', `UPDATE groups SET description = CAST(x'FF' AS TEXT) WHERE id = 8;`],
    [
      'a bad time in its readings',
      `UPDATE group_member_readings SET measured_at = 'now' WHERE group_id = 8 AND member_count = 79;`,
    ],
    ['a blob in its owners', `UPDATE group_owners SET owner_name = x'41' WHERE group_id = 8;`],
    ['two of one record', `INSERT INTO groups SELECT * FROM groups WHERE id = 8;`],
  ])('leaves no trace of a group with %s', async (_, sql) => {
    expect(await expectSameTree(sql, without(8), 'loose')).toBeGreaterThan(0);
  });

  it('leaves no trace of what is bad in usernames, but what points at it stays', async () => {
    const bad = `UPDATE usernames SET username = CAST(x'FF' AS TEXT) WHERE username = 'v8';`;
    const never = 'DELETE FROM users WHERE id = 8; DELETE FROM usernames WHERE user_id = 8;';
    expect(await expectSameTree(bad, never, 'loose')).toBe(1);
  });

  it('leaves no trace of all that share an id of the platform, and says why', async () => {
    const shared = `UPDATE groups SET platform_id = 'one' WHERE id IN (7, 9);`;
    expect(await expectSameTree(shared, without(7) + without(9), 'loose')).toBe(2);
    const register = writeRegister(path('register.sqlite'), VALID + shared);
    const said = containing(
      'left out (--skip-invalid): 2 groups, 0 users, 0 games, 0 items\n' +
        '  groups because of groups.platform_id (2 places)\n',
    );
    const build = await inProcess('build', ...inputs(register, path('dist')), '--skip-invalid');
    expect(build).toMatchObject({ code: 0, stderr: said });
  });

  it('is not confused by an id that is none', async () => {
    const none = [`'7'`, '7.5', 'NULL', '9007199254740993', `CAST(x'C328' AS TEXT)`].map(
      (id) =>
        `INSERT INTO groups (id, name, member_count, first_measured_at, measured_at, measurements)
           VALUES (${id}, 'odd', 75, ${SEEN}, 1);`,
    );
    expect(await expectSameTree(none.join(' '), '', 'untyped')).toBeGreaterThan(3);
  });

  it.each([
    ['a bad row in withheld', `INSERT INTO withheld VALUES ('user', 'x', ${T});`],
    ['a missing column', 'ALTER TABLE users DROP COLUMN measured_at;'],
  ])('never publishes over %s, which says nothing of a record', async (_, sql) => {
    const register = writeRegister(path('register.sqlite'), VALID + sql, 'loose');
    const result = await run({ register, out: path('out'), skipInvalid: true });
    expect(result).toMatchObject({ published: false });
    expect(result.report.total).toBeGreaterThan(0);
  });

  it('still withholds: a withheld record that is bad, too, stays out, and its names stay hidden', async () => {
    const sql = `INSERT INTO withheld VALUES ('user', 8, ${T}); UPDATE users SET state = 'odd' WHERE id = 8;
      UPDATE games SET creator_id = NULL WHERE id = 7;`;
    const register = writeRegister(path('register.sqlite'), VALID + sql, 'loose');
    const out = path('out');
    await published({ register, out, skipInvalid: true });
    const tree = readTree(out);
    expect(tree.has('api/v1/user/8.json')).toBe(false);
    expect(json(tree, 'api/v1/game/7.json')).toMatchObject({
      creator: { type: 'user', id: null, name: null },
    });
  });
});
