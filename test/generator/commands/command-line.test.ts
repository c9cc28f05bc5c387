/** One name for one program: `serve`, `status`, what help calls it, and messages in its own words. */
import { spawnSync } from 'node:child_process';
import { existsSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { SAMPLE_ID } from '../../../generator/register/database.js';
import { published } from '../../support/build.js';
import { inputs, snapshot, start, until } from '../../support/cli.js';
import { PROJECT, newFolder, temporary } from '../../support/folder.js';
import { inProcess } from '../../support/in-process.js';
import { changeRegister, writeRegister } from '../../support/register.js';
import { sites } from '../../support/site.js';
import { containing, matching } from '../../support/values.js';
import { interruptCommit } from '../publish/support.js';

const path = temporary();
const T = '2026-11-20T08:00:00Z';
const ROWS = {
  groups: [{ id: 1, name: 'A long name that begins alike', description: 'x'.repeat(200) }, { id: 2 }],
  users: [{ id: 5 }],
};
const site = sites(path, ROWS);

it('`serve` takes --out for the tree, and ends with 0 after SIGTERM', async () => {
  const { out } = await site();
  const { child, done, output } = start(['serve', '--out', out, '--port', '0']);
  await until(() => output.stdout !== '', 'it listens');
  const [base = ''] = /http:\/\/127\.0\.0\.1:\d+/.exec(output.stdout) ?? [];
  expect(await fetch(`${base}/api/v1/group/1`).then((response) => response.json())).toMatchObject({ id: 1 });
  child.kill('SIGTERM');
  expect((await done).code).toBe(0);
});

it('a process prints results to standard output, messages to standard error, and ends with their code', async () => {
  const [register, out] = [writeRegister(path('process.sqlite'), ROWS), join(path('deep'), 'er', 'dist')];
  const build = (...more: string[]) => snapshot(['build', ...inputs(register, out), ...more]);
  const { stdout, stderr } = await build();
  expect([stdout, stderr]).toEqual([
    matching(/^Published snapshot 1 /),
    matching(/^rendering: .* parts in /m),
  ]);
  expect((await build()).stdout).toMatch(/^Nothing changed since snapshot 1 /);
  changeRegister(register, `UPDATE groups SET member_count = -1`);
  const refused = await build('--json');
  expect([refused.code, JSON.parse(refused.stdout)]).toMatchObject([1, { published: false }]);
  expect(refused.stderr).toMatch(/; nothing was published\n$/);
});

const status = (out: string, ...more: string[]) => inProcess('status', '--out', out, ...more);

it('status says what is published, in one line or as JSON', async () => {
  const [register, out] = [writeRegister(path('status.sqlite'), ROWS), path('status')];
  changeRegister(register, 'DROP TABLE items; DROP TABLE group_names;');
  await published({ register, out });
  const stdout =
    `${out} has snapshot 1, built 2026-12-01T00:00:00Z (register as of 2026-11-20T08:00:00Z); ` +
    '2 groups, 1 user, 0 games; not measured: group_names, items\n';
  expect(await status(out)).toEqual({ code: 0, stderr: '', stdout });
  expect(JSON.parse((await status(out, '--json')).stdout)).toMatchObject({
    tree: out,
    sequence: 1,
    as_of: '2026-11-20T08:00:00Z',
    built_at: '2026-12-01T00:00:00Z',
    records: { groups: 2, users: 1, games: 0, items: null },
    not_measured: ['group_names', 'items'],
  });
});

it('status says that there is no tree, and of a commit that was interrupted what completes it', async () => {
  const { register, out } = await site();
  expect(JSON.parse((await status(out, '--json')).stdout)).toMatchObject({ committing: false });
  changeRegister(register, `UPDATE groups SET name = 'changed'`);
  await interruptCommit({ register, out });
  const said = 'a commit is under way or was interrupted: the next build completes it';
  expect(await status(out)).toMatchObject({ code: 0, stdout: containing(`; ${said}\n`) });
  expect(JSON.parse((await status(out, '--json')).stdout)).toMatchObject({ committing: true });
  const first = newFolder(path('first'));
  const none = `error: "${first}" holds no published tree (no snapshot.json)`;
  expect(await status(first)).toEqual({ code: 3, stdout: '', stderr: `${none}\n` });
  await interruptCommit({ register, out: first }, 1);
  expect(await status(first)).toEqual({ code: 3, stdout: '', stderr: `${none}; ${said}\n` });
});

it.each([
  ['snapshot', 'serve', 'npm run snapshot -- serve [options]'],
  ['snapshot', 'status', 'npm run snapshot -- status [options]'],
  ['proxy', '', 'npm run proxy -- [options]'],
])('help names the program as it was called: npm run %s -- %s', (script, command, usage) => {
  const args = ['run', '-s', script, '--', command, '--help'].filter((each) => each !== '');
  const { stdout } = spawnSync('npm', args, { cwd: PROJECT, encoding: 'utf8' });
  expect(stdout).toContain(`Usage: ${usage}`);
  expect(stdout.split('Examples')[1]).toContain('npm run ');
  expect(stdout).not.toContain('register-api');
});

it('diff shows removed records first, and values around their difference', async () => {
  const { register, out } = await site();
  changeRegister(
    register,
    `DELETE FROM users; UPDATE groups SET description = description || 'the end' WHERE id = 1;`,
  );
  const { stdout } = await inProcess('diff', '--details', '--register', register, '--out', out);
  const [, examples = ''] = stdout.split('For example\n');
  expect(examples.split('\n')[0]).toBe('  removed /api/v1/user/5');
  expect(examples).toContain(`    description: …${'x'.repeat(20)}" -> …${'x'.repeat(20)}the end"`);
});

/** What a reader sees of a text. */
const looks = (text = ''): string => text.normalize('NFKC').replaceAll('\u200b', '');

it('diff shows no two texts that look equal', async () => {
  const { register, out } = await site();
  changeRegister(register, `UPDATE users SET display_name = 'é'`);
  const args = ['--register', register, '--out', out] as const;
  await inProcess('build', '--quiet', ...args);
  // Each differs far behind, by what nobody sees, or by what looks the same.
  changeRegister(
    register,
    `UPDATE users SET display_name = 'e' || char(0x301), username = '${'x'.repeat(200)}2';
     UPDATE groups SET description = description || char(0x200b) WHERE id = 1;
     INSERT INTO usernames SELECT 5, n, '${'x'.repeat(200)}' || n, NULL, '${T}', '${T}'
       FROM (SELECT 1 AS n UNION ALL SELECT 2)`,
  );
  const { stdout } = await inProcess('diff', '--details', ...args);
  // The fields of one document each.
  const shown = stdout
    .split(/^ {2}changed /m)
    .flatMap((document) => [
      ...[...document.matchAll(/^ {4}\w+: (.+) -> (.+)$/gm)].map(([, ...pair]) => pair),
      [...document.matchAll(/^ {4}\w+: [-+] .+$/gm)].map(([line]) => line.replace(/: [-+]/, '')),
    ]);
  expect(shown.flat().length).toBeGreaterThan(5);
  for (const texts of shown) expect(new Set(texts.map(looks)).size).toBe(texts.length);
});

/** What is published without --operator goes out in the name, and under the licence, of the example. */
const warningOf = (operator: string): string =>
  'warning: without --operator this register is published as "The Example Register" under CC BY 4.0:' +
  ` copy ${operator}, say in the copy who you are, and name it with --operator\n`;

it('a build without --operator warns of any register but a sample', async () => {
  const out = path('dist');
  const said = async (register: string, ...options: readonly string[]): Promise<string> => {
    const command = options[0] === '--repair' ? 'verify' : 'build';
    const { code, stderr } = await inProcess(
      command,
      '--quiet',
      '--register',
      register,
      '--out',
      out,
      ...options,
    );
    expect(code).toBe(0);
    return stderr;
  };
  const own = writeRegister(path('own.sqlite'), { items: [{ id: 1 }] });
  expect(await said(own)).toBe(warningOf('data/operator.json'));
  rmSync(join(out, 'api/v1/stats.json'));
  expect(await said(own, '--repair')).toBe(warningOf('data/operator.json'));
  expect(await said(own, '--operator', 'data/operator.json')).toBe('');
  changeRegister(own, `PRAGMA application_id = ${SAMPLE_ID}`);
  expect(await said(own)).toBe('');
});

it('where the folder has no data/operator.json, builds take the example of the program, and the warning names it', async () => {
  const folder = newFolder(path('elsewhere'));
  const register = writeRegister(path('register.sqlite'), { items: [{ id: 1 }] });
  const args = ['build', '--quiet', '--register', register];
  const warning = warningOf(join(PROJECT, 'data/operator.json'));
  expect(await snapshot(args, folder)).toEqual({ code: 0, stdout: '', stderr: warning });
  expect(existsSync(join(folder, 'dist/snapshot.json'))).toBe(true);
  const named = await snapshot([...args, '--operator', 'data/operator.json'], folder);
  const missing = 'error: operator file "data/operator.json" does not exist (--operator)';
  expect([named.code, named.stderr]).toEqual([3, expect.stringContaining(missing)]);
});
