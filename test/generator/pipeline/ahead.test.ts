/** Times that were measured in the future, by the clock of the machine that builds. */
import { expect } from 'vitest';
import { OPERATOR, published, run } from '../../support/build.js';
import { temporary } from '../../support/folder.js';
import { CLOCK, inProcess } from '../../support/in-process.js';
import { changeRegister, writeRegister } from '../../support/register.js';
import { json, readTree } from '../../support/tree.js';
import { it, thorough } from '../../support/thorough.js';
import { containing } from '../../support/values.js';

const path = temporary();
const out = path('dist');

/** 20 groups, 19 of them measured on 20 November. @param ahead when number 7 was measured */
function registerOf(ahead: string): string {
  const ids = Array.from({ length: 20 }, (_, index) => index + 1);
  return writeRegister(path('register.sqlite'), {
    groups: ids.map((id) => ({ id, member_count: id, ...(id === 7 && { measured_at: ahead }) })),
    group_member_readings: ids.map((id) => ({
      group_id: id,
      measured_at: id === 7 ? ahead : '2026-11-20T08:00:00Z',
      member_count: id,
    })),
  });
}

const measure = (register: string, at: string): void =>
  changeRegister(
    register,
    `UPDATE groups SET measured_at = '${at}' WHERE id = 7;
     UPDATE group_member_readings SET measured_at = '${at}' WHERE group_id = 7`,
  );

const finding = (column: string, key: string): string =>
  `${column}: 1 place, expected at most 24 hours after the clock of this machine\n  ${key}: '2026-12-25T00:00:01Z'\n` +
  `  hint: it is ${CLOCK} by that clock, and nothing is measured in the future\n`;

it('a time more than 24 hours after the clock breaks the contract: check and build name row, column and clock', async () => {
  // One second too much.
  const register = registerOf('2026-12-25T00:00:01Z');
  const both =
    finding('groups.measured_at', 'id = 7') +
    finding('group_member_readings.measured_at', "group_id = 7, measured_at = '2026-12-25T00:00:01Z'");
  const check = await inProcess('check', '--quiet', '--register', register);
  expect(check).toMatchObject({ code: 1, stdout: containing(both) });
  const tree = ['--operator', OPERATOR, '--out', out];
  const refused = await inProcess('build', '--quiet', '--register', register, ...tree);
  expect(refused).toMatchObject({ code: 1, stderr: containing(both) });
  const inTime = registerOf('2026-12-25T00:00:00Z');
  expect(await inProcess('check', '--quiet', '--register', inTime)).toMatchObject({ code: 0, stdout: '' });
  expect(await inProcess('build', '--quiet', '--register', inTime, ...tree)).toMatchObject({ code: 0 });
});

thorough('a tree that was published ahead of the clock is found to be wrong, and corrected', async () => {
  const at = '2026-12-01T00:00:00Z';
  const register = registerOf('2031-01-01T00:00:00Z');
  await published({ register, out, at: '2031-01-01T00:00:00Z' });
  // Though nothing changed.
  expect(await run({ register, out, at })).toMatchObject({ published: false, report: { total: 2 } });
  const skipped = await published({ register, out, at, skipInvalid: true });
  expect(skipped).toMatchObject({ excluded: { groups: 1 }, asOf: '2026-11-20T08:00:00Z' });
  // By less than 24 hours, it is none.
  measure(register, '2026-12-01T20:00:00Z');
  expect(await published({ register, out, at })).toMatchObject({ asOf: '2026-12-01T20:00:00Z' });
  measure(register, '2026-11-21T08:00:00Z');
  expect(await published({ register, out, at })).toMatchObject({ asOf: '2026-11-21T08:00:00Z' });
  expect(json(readTree(out), 'api/v1/stats.json')).toMatchObject({ as_of: '2026-11-21T08:00:00Z' });
  measure(register, '2026-11-20T08:00:00Z');
  await expect(run({ register, out, at })).rejects.toThrow('expected none before 2026-11-21T08:00:00Z');
});
