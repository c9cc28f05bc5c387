/** On a terminal the bar is drawn by a timer, which must not outlive the work. */
import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { published } from '../../support/build.js';
import { PROJECT, temporary } from '../../support/folder.js';
import { leaveOut } from '../../support/programs.js';
import { writeRegister } from '../../support/register.js';

const path = temporary();
const hasScript = spawnSync('script', ['--version']).status === 0;
if (!hasScript) leaveOut('a build on a terminal', 'no `script` of util-linux');

/** Runs the command line on a pseudo-terminal. */
function onTerminal(...args: readonly string[]): { code: number | null; shown: string } {
  const command = [process.execPath, join(PROJECT, 'build/generator/cli.js'), ...args].join(' ');
  const { status, stdout } = spawnSync('script', ['-qec', command, '/dev/null'], {
    encoding: 'utf8',
    timeout: 20_000,
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  return { code: status, shown: stdout };
}

it.runIf(hasScript)('a build that is refused while the bar is shown says so, and ends', async () => {
  const out = path('dist');
  await published({ register: writeRegister(path('full.sqlite'), { items: [{ id: 1 }, { id: 2 }] }), out });
  // Refused after rendering.
  const other = writeRegister(path('other.sqlite'), {});
  const { code, shown } = onTerminal('build', '--register', other, '--out', out);
  expect(code).toBe(1);
  expect(shown).toContain('2 of 2 rows of items would be gone');
  // The bar doesn't hide the cursor, since a signal may end the process at any moment.
  expect(shown).not.toContain('\u001b[?25l');
});

it.runIf(hasScript)('a build on a terminal draws a bar and leaves only its summary', () => {
  const register = writeRegister(path('some.sqlite'), { items: [{ id: 1 }] });
  const { code, shown } = onTerminal('build', '--register', register, '--out', path('dist'));
  expect(code).toBe(0);
  expect(shown).toContain('rendering [');
  const [last = ''] = shown.match(/committing \[[^\]]*\] [\d,]+\/[\d,]+ files/g)?.slice(-1) ?? [];
  const [, done, total] = /([\d,]+)\/([\d,]+)/.exec(last) ?? [];
  expect(Number(total?.replace(',', ''))).toBeGreaterThan(1);
  expect(done).toBe(total);
  expect(shown).toContain('Published snapshot 1');
});
