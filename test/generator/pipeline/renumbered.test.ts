/** An id never comes to mean another record unnoticed, whatever was lost. */
import { readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { describe, expect, it } from 'vitest';
import { temporary } from '../../support/folder.js';
import { stateOf } from '../../support/published.js';
import { changeRegister } from '../../support/register.js';
import { sites, type Site } from '../../support/site.js';
import { differing, inState } from '../../support/tree.js';
import { containing } from '../../support/values.js';

const path = temporary();
const SLUGS = ['abbey', 'mill', 'old "oak"', 'sail', 'tower', 'weir'];

const REGISTER = {
  groups: [
    ...SLUGS.map((slug, index) => ({ id: index + 1, platform_id: slug })),
    // The platform's own number is the id of the one; nobody has read that of the other.
    { id: 100, name: 'hundred' },
    { id: 101, name: 'unknown' },
  ],
  users: [{ id: 1, platform_id: 'ann' }],
};

const DONE = { code: 0, stdout: '', stderr: '' };
/** All numbers but that of the last slug are another's, as of a table of ids that began again. */
const RENUMBER = `UPDATE groups SET platform_id = '-' || platform_id;
  UPDATE groups SET platform_id = CASE id
    WHEN 1 THEN 'mill' WHEN 2 THEN 'abbey' WHEN 3 THEN 'sail' WHEN 4 THEN 'old "oak"' WHEN 5 THEN 'bridge'
    ELSE 'weir' END WHERE id <= 6;
  UPDATE users SET platform_id = 'bob';`;
const REFUSAL =
  `error: 6 ids would mean another record than published: group 1 'mill' instead of 'abbey', group 2 'abbey' instead of` +
  ` 'mill', group 3 'sail' instead of 'old "oak"' and 3 more, expected those that are published: restore what numbers` +
  ' the records (docs/your-register.md#text-ids), or publish other ids by build --accept-renumbered';
const REFUSED = { code: 1, stdout: '', stderr: `${REFUSAL}; the published tree is what it was\n` };

const published = sites(path, REGISTER);
const site = async (sql = ''): Promise<Site> => {
  const copy = await published();
  changeRegister(copy.register, sql);
  return copy;
};

describe('an id that would mean another record', () => {
  it('is refused by every command that publishes, and accepted once', async () => {
    const renumbered = await site(RENUMBER);
    const { out } = renumbered;
    const before = stateOf(out);
    const others = ['--accept-removals', '--accept-republished', '--keep-downloads'];
    expect(await renumbered.command('build', ...others)).toEqual(REFUSED);
    const [doubt] = REFUSAL.split('error: ').slice(1);
    expect((await renumbered.command('diff')).stdout).toContain(`A build would be refused: ${doubt}\n`);
    expect(differing(stateOf(out), before)).toEqual([]);
    rmSync(join(out, 'api/v1/user/1.json'));
    const repair = await renumbered.command('verify', '--repair');
    expect(repair).toMatchObject({ code: 1, stderr: containing('6 ids would mean another record') });
    expect((await renumbered.command('verify', '--repair', '--accept-renumbered')).code).toBe(0);
    expect(readFileSync(join(out, 'api/v1/group/1.json'), 'utf8')).toContain('"platform_id":"mill"');
    expect(await renumbered.command('build')).toEqual(DONE);
  });

  it('is refused though the state and snapshot.json are gone', async () => {
    const renumbered = await site(RENUMBER);
    rmSync(inState(renumbered.out), { recursive: true });
    rmSync(join(renumbered.out, 'snapshot.json'));
    expect(await renumbered.command('build')).toMatchObject({ code: 1, stderr: containing(REFUSAL) });
  });

  it('is no record that is gone, new, withheld or left out, nor one whose platform id became known', async () => {
    const changed = await site(`
      DELETE FROM groups WHERE id = 1;
      INSERT INTO groups (id, platform_id, measured_at) SELECT 7, 'abbey', measured_at FROM groups WHERE id = 2;
      UPDATE groups SET platform_id = 'known' WHERE id = 101;
      UPDATE groups SET platform_id = NULL WHERE id = 2;
      INSERT INTO withheld VALUES ('group', 3, '2026-11-20T08:00:00Z');
      UPDATE groups SET platform_id = 'renamed' WHERE id = 3;
      UPDATE groups SET platform_id = 'shared' WHERE id IN (4, 5);`);
    expect(await changed.command('build', '--skip-invalid')).toMatchObject({ code: 0 });
  });
});

it('a look-up that is damaged is said to be and repaired, and nothing is refused for it', async () => {
  const damaged = await site();
  const folder = join(damaged.out, 'api/v1/lookup/platform-id/group');
  const files = readdirSync(folder).map((file) => join(folder, file));
  const altered = files.find((file) => readFileSync(file, 'utf8').includes('"weir"')) ?? '';
  const unread = files.find((file) => file !== altered) ?? '';
  const intact = files.map((file) => readFileSync(file, 'utf8'));
  writeFileSync(altered, readFileSync(altered, 'utf8').replace('"weir"', '"wear"'));
  writeFileSync(unread, '{"prefix":');
  const warning =
    `warning: the published look-up by platform id is damaged ("${relative(damaged.out, unread)}", group 6; see` +
    ' verify), so nobody can tell of all ids whether they mean the same records as before\n';
  expect(await damaged.command('verify', '--repair')).toMatchObject({ code: 0, stderr: warning });
  expect(files.map((file) => readFileSync(file, 'utf8'))).toEqual(intact);
});
