/** What is published without --operator goes out in the name, and under the licence, of the example. */
import { existsSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { SAMPLE_ID } from '../../../generator/register/database.js';
import { snapshot } from '../../support/cli.js';
import { PROJECT, temporary } from '../../support/folder.js';
import { inProcess } from '../../support/in-process.js';
import { changeRegister, writeRegister } from '../../support/register.js';

const path = temporary();
const warningOf = (operator: string): string =>
  'warning: without --operator this register is published as "The Example Register" under CC BY 4.0:' +
  ` copy ${operator}, say in the copy who you are, and name it with --operator\n`;

it('a build without --operator warns of any register but a sample', async () => {
  const said = async (register: string, ...options: readonly string[]): Promise<string> => {
    const tree = ['--register', register, '--out', path('dist')];
    const { code, stderr } = await inProcess('build', '--quiet', ...tree, ...options);
    expect(code).toBe(0);
    return stderr;
  };
  const own = writeRegister(path('own.sqlite'), { items: [{ id: 1 }] });
  expect(await said(own)).toBe(warningOf('data/operator.json'));
  expect(await said(own, '--operator', 'data/operator.json')).toBe('');
  changeRegister(own, `PRAGMA application_id = ${SAMPLE_ID}`);
  expect(await said(own)).toBe('');
});

it('where the folder has no data/operator.json, builds take the example of the program, and the warning names it', async () => {
  const folder = path('elsewhere');
  mkdirSync(folder);
  const register = writeRegister(path('register.sqlite'), { items: [{ id: 1 }] });
  const args = ['build', '--quiet', '--register', register];
  const warning = warningOf(join(PROJECT, 'data/operator.json'));
  expect(await snapshot(args, folder)).toEqual({ code: 0, stdout: '', stderr: warning });
  expect(existsSync(join(folder, 'dist/snapshot.json'))).toBe(true);
  const named = await snapshot([...args, '--operator', 'data/operator.json'], folder);
  const missing = 'error: operator file "data/operator.json" does not exist (--operator)';
  expect([named.code, named.stderr]).toEqual([3, expect.stringContaining(missing)]);
});
