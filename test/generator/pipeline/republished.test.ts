/** What was withheld and is no more: no build publishes it again unasked, and the way back doesn't either. */
import { existsSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect } from 'vitest';
import { PROJECT, temporary } from '../../support/folder.js';
import { inProcess } from '../../support/in-process.js';
import { inputs } from '../../support/cli.js';
import { contentOf, stateOf } from '../../support/published.js';
import { changeRegister, writeRegister } from '../../support/register.js';
import { Site, copyOf, fresh } from '../../support/site.js';
import { it, thorough } from '../../support/thorough.js';
import { differing, inState } from '../../support/tree.js';
import { containing } from '../../support/values.js';

const path = temporary();
const TIME = '2026-11-20T08:00:00Z';
const withhold = (kind: string, id: number) => `INSERT INTO withheld VALUES ('${kind}', ${id}, '${TIME}');`;

const REGISTER = {
  groups: [1, 2, 3].map((id) => {
    return { id, name: `group ${id}`, owner_state: 'owned', owner_id: 5, owner_name: 'marlow' };
  }),
  users: [
    { id: 5, username: 'marlow' },
    { id: 6, username: 'wren' },
  ],
};

const DONE = { code: 0, stdout: '', stderr: '' };

/** A build that goes well and says nothing, after a change of the register. */
async function succeed(site: Site, sql = ''): Promise<void> {
  changeRegister(site.register, sql);
  expect(await site.command('build')).toEqual(DONE);
}

const first = new Site(writeRegister(path('register.sqlite'), REGISTER), path('dist'));
await succeed(first);
await succeed(first, withhold('group', 2) + withhold('user', 5));
await succeed(first, `UPDATE groups SET description = 'another'`);
/** Each is a copy of one that withholds two records, and that has published something else since. */
const withholding = (): Site => copyOf(first, path);

const AGAIN =
  'group 2, user 5 would be published again, though the last snapshot withheld them:' +
  ' put them back into withheld (by other ids, if ids were lost), or publish them by build --accept-republished';
const REFUSED = { code: 1, stdout: '', stderr: `error: ${AGAIN}; the published tree is what it was\n` };

describe('a record that is withheld no more', () => {
  it('is published again by no build or repair without --accept-republished, and is once with it', async () => {
    const site = withholding();
    changeRegister(site.register, 'DELETE FROM withheld');
    const before = stateOf(site.out);
    const others = ['--accept-removals', '--keep-downloads', '--skip-invalid'];
    expect(await site.command('build', ...others)).toEqual(REFUSED);
    expect(differing(stateOf(site.out), before)).toEqual([]);
    const file = join(site.out, 'api/v1/user/6.json');
    rmSync(file);
    expect(await site.command('verify', '--repair')).toMatchObject({ code: 1, stderr: containing(AGAIN) });
    expect(existsSync(file)).toBe(false);
    expect(await site.command('build', '--accept-republished')).toEqual(DONE);
    expect(readFileSync(join(site.out, 'downloads/users.csv'), 'utf8')).toContain('marlow');
    await succeed(site, `UPDATE groups SET description = 'a third'`);
  });

  it('counts where others alone name it, and along with a takedown', async () => {
    const site = withholding();
    changeRegister(site.register, `DELETE FROM users WHERE id = 5`);
    expect((await site.command('build', '--accept-removals')).code).toBe(0);
    changeRegister(site.register, `DELETE FROM withheld WHERE kind = 'user'; ${withhold('group', 3)}`);
    const one = 'error: user 5 would be published again, though the last snapshot withheld it';
    expect(await site.command('build')).toMatchObject({ code: 1, stderr: containing(one) });
  });

  it('is published again by no build where the tree, snapshot.json or a part of the state was lost', async () => {
    const site = withholding();
    changeRegister(site.register, 'DELETE FROM withheld');
    for (const lose of [
      () => rmSync(inState(site.out, 'lists'), { recursive: true }),
      () => rmSync(join(site.out, 'snapshot.json')),
      () => rmSync(site.out, { recursive: true }),
    ]) {
      lose();
      expect(await site.command('build')).toMatchObject({ code: 1, stderr: containing(AGAIN) });
    }
    expect((await site.command('build', '--accept-republished')).code).toBe(0);
  });
});

function carryingOver(today: string): string {
  const text = readFileSync(join(PROJECT, 'docs/takedowns.md'), 'utf8');
  const sql = /sqlite3 earlier\.sqlite "(?<sql>[^"]+)"/.exec(text)?.groups?.['sql'] ?? '';
  expect(sql).toContain(`'register.sqlite'`);
  return sql.replace('register.sqlite', today);
}

thorough('a build from an earlier register publishes nothing that was withheld since', async () => {
  const site = withholding();
  const earlier = writeRegister(path('earlier.sqlite'), REGISTER);
  await succeed(site, `UPDATE groups SET description = 'broken', measured_at = '2026-11-25T08:00:00Z'`);
  const from = ['--quiet', ...inputs(earlier, site.out), '--accept-removals'];
  expect(await inProcess('build', ...from)).toEqual(REFUSED);
  changeRegister(earlier, carryingOver(site.register));
  expect(await inProcess('build', ...from)).toEqual(DONE);
  expect(differing(contentOf(site.out), await fresh(earlier, path('fresh')))).toEqual([]);
  expect(readFileSync(join(site.out, 'api/v1/group/1.json'), 'utf8')).not.toMatch(/marlow|broken/);
  expect(await inProcess('verify', '--quiet', '--out', site.out)).toEqual(DONE);
  // The fixed register goes on from there.
  await succeed(site, `UPDATE groups SET description = 'fixed'`);
});
