/** On a terminal the bar is drawn by a timer, which must not outlive the work. */
import { spawnSync } from 'node:child_process';
import { expect, it } from 'vitest';
import { CLI } from '../../support/cli.js';
import { temporary } from '../../support/folder.js';
import { leaveOut } from '../../support/programs.js';
import { writeRegister } from '../../support/register.js';

const path = temporary();
const hasScript = spawnSync('script', ['--version']).status === 0;
if (!hasScript) leaveOut('a build on a terminal', 'no `script` of util-linux');

function onTerminal(...args: readonly string[]): { code: number | null; shown: string } {
  const command = [process.execPath, CLI, ...args].join(' ');
  const { status, stdout } = spawnSync('script', ['-qec', command, '/dev/null'], {
    encoding: 'utf8',
    timeout: 20_000,
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  return { code: status, shown: stdout };
}

it.runIf(hasScript)('a build on a terminal draws a bar, and leaves its summary or its refusal', () => {
  const out = path('dist');
  const build = (items: readonly { readonly id: number }[]) =>
    onTerminal('build', '--register', writeRegister(path('some.sqlite'), { items }), '--out', out);
  const { code, shown } = build([{ id: 1 }, { id: 2 }]);
  expect(code).toBe(0);
  expect(shown).toContain('rendering [');
  const [last = ''] = shown.match(/committing \[[^\]]*\] [\d,]+\/[\d,]+ files/g)?.slice(-1) ?? [];
  const [, done, total] = /([\d,]+)\/([\d,]+)/.exec(last) ?? [];
  expect(Number(total?.replace(',', ''))).toBeGreaterThan(1);
  expect(done).toBe(total);
  expect(shown).toContain('Published snapshot 1');
  // Refused after rendering.
  const refused = build([]);
  expect(refused.code).toBe(1);
  expect(refused.shown).toContain('2 of 2 rows of items would be gone');
  // The bar doesn't hide the cursor, since a signal may end the process at any moment.
  expect(refused.shown).not.toContain('\u001b[?25l');
});
