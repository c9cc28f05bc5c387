/** What is published without --operator goes out in the name, and under the licence, of the example. */
import { expect, it } from 'vitest';
import { writeSample } from '../../../data/sample.js';
import { temporary } from '../../support/folder.js';
import { inProcess } from '../../support/in-process.js';
import { changeRegister, writeRegister } from '../../support/register.js';

const path = temporary();
const WARNING =
  'warning: without --operator this register is published as "The Example Register" under CC BY 4.0:' +
  ' copy data/operator.json, say in the copy who you are, and name it with --operator\n';

it.each(['build', 'diff'])(
  '%s without --operator warns of a register that sample did not write',
  async (command) => {
    const said = async (register: string, ...options: readonly string[]): Promise<string> => {
      const tree = ['--register', register, '--out', path('dist')];
      const { code, stderr } = await inProcess(command, '--quiet', ...tree, ...options);
      expect(code).toBe(0);
      return stderr;
    };
    const own = writeRegister(path('own.sqlite'), { items: [{ id: 1 }] });
    expect(await said(own)).toBe(WARNING);
    expect(await said(own, '--operator', 'data/operator.json')).toBe('');
    const sample = path('sample.sqlite');
    await writeSample({ file: sample, records: 50, seed: 1 });
    changeRegister(sample, `UPDATE groups SET description = 'Changed.'`);
    expect(await said(sample, '--out', path('other'))).toBe('');
  },
);
