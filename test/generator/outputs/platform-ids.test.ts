/** Ids of the platform that are no numbers are shared by none. */
import { existsSync } from 'node:fs';
import { expect, it } from 'vitest';
import { run } from '../../support/build.js';
import { inputs } from '../../support/cli.js';
import { temporary } from '../../support/folder.js';
import { inProcess } from '../../support/in-process.js';
import { changeRegister, writeRegister } from '../../support/register.js';
import { containing } from '../../support/values.js';

const path = temporary();

it('an id of the platform that records share is refused, or left out with all of them, and for no longer', async () => {
  const [register, out] = [path('register.sqlite'), path('dist')];
  writeRegister(register, {
    groups: [
      ...['club-3', 'hidden', 'club-3', 'club-4'].map((platform_id, at) => ({ id: at + 1, platform_id })),
      { id: 50, platform_id: 'hidden' },
    ],
    withheld: [{ kind: 'group', id: 50, since: '2026-11-20T08:00:00Z' }],
  });
  // The withheld one is counted, too.
  expect(await run({ register, out })).toMatchObject({ published: false, report: { total: 4 } });
  const build = async (said: string): Promise<boolean[]> => {
    const build = await inProcess('build', ...inputs(register, out), '--skip-invalid');
    expect(build).toMatchObject({ code: 0, stderr: containing(said) });
    return [1, 2, 3, 4].map((id) => existsSync(`${out}/api/v1/group/${id}.json`));
  };
  const said =
    `groups.platform_id: 4 places, expected the id of no other record\n  id = 1: 'club-3'\n` +
    `  id = 3: 'club-3'\n  id = 2: 'hidden'\n` +
    'left out (--skip-invalid): 3 groups, 0 users, 0 games, 0 items\n' +
    '  groups because of groups.platform_id (4 places)\n';
  expect(await build(said)).toEqual([false, false, false, true]);
  changeRegister(register, `UPDATE groups SET platform_id = NULL WHERE id IN (2, 3)`);
  expect(await build('')).toEqual([true, true, true, true]);
});
