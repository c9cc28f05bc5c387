/** Ids of the platform that are no numbers are shared by none. */
import { existsSync } from 'node:fs';
import { expect, it } from 'vitest';
import { published, run } from '../../support/build.js';
import { inputs } from '../../support/cli.js';
import { temporary } from '../../support/folder.js';
import { inProcess } from '../../support/in-process.js';
import { contentOf } from '../../support/published.js';
import { changeRegister, writeRegister } from '../../support/register.js';

const path = temporary();

const T = '2026-11-20T08:00:00Z';

/** Forty groups with slugs; a group that is withheld. */
const clubs = (): string =>
  writeRegister(path('register.sqlite'), {
    groups: [
      ...Array.from({ length: 40 }, (_, index) => ({ id: index + 1, platform_id: `club-${index + 1}` })),
      { id: 50, platform_id: 'hidden-club', name: 'Hidden' },
    ],
    withheld: [{ kind: 'group', id: 50, since: T }],
  });

it('an id of the platform that records share is refused, or left out with all of them, and for no longer', async () => {
  const register = clubs();
  const [out, fresh] = [path('dist'), path('fresh')];
  const build = () => published({ register, out, skipInvalid: true, acceptRemovals: true });
  const there = (): boolean[] => [3, 12, 30, 31].map((id) => existsSync(`${out}/api/v1/group/${id}.json`));
  await build();
  expect(there()).toEqual([true, true, true, true]);

  changeRegister(
    register,
    `UPDATE groups SET platform_id = 'club-3' WHERE id = 30;
     UPDATE groups SET platform_id = 'hidden-club' WHERE id = 12;`,
  );
  // The withheld one is counted, too.
  expect(await run({ register, out })).toMatchObject({ published: false, report: { total: 4 } });
  const { code, stdout } = await inProcess('check', '--register', register);
  expect(code).toBe(1);
  expect(stdout).toContain(
    `groups.platform_id: 4 places, expected the id of no other record\n` +
      `  id = 3: 'club-3'\n  id = 30: 'club-3'\n  id = 12: 'hidden-club'\n`,
  );

  expect(await build()).toMatchObject({ excluded: { groups: 3 } });
  expect(there()).toEqual([false, false, false, true]);
  const command = await inProcess('build', ...inputs(register, fresh), '--skip-invalid');
  expect(command.code).toBe(0);
  for (const text of [
    "groups.platform_id: 4 places, expected the id of no other record\n  id = 3: 'club-3'\n",
    'left out (--skip-invalid): 3 groups, 0 users, 0 games, 0 items\n' +
      '  groups because of groups.platform_id (4 places)\n',
  ])
    expect(command.stderr).toContain(text);
  expect(contentOf(out)).toEqual(contentOf(fresh));
  changeRegister(register, `UPDATE groups SET platform_id = NULL WHERE id IN (30, 12)`);
  expect(await build()).toMatchObject({ excluded: {} });
  expect(there()).toEqual([true, true, true, true]);
});
