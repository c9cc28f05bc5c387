/** The script that keeps a copy of the files of a tree; mirror.full.test.ts has all that may go wrong. */
import { expect, it } from 'vitest';
import { temporary } from '../support/folder.js';
import { has } from '../support/programs.js';
import { STEPS, filesOf, following, run, scriptOf } from './python.js';

const path = temporary();

it.skipIf(!has('the script in Python that copies files', 'python3'))(
  'mirror.py makes a copy what the tree is, file by file, and follows its changes',
  async () => {
    const { out, proxy, build } = await following(path);
    const copy = path('copy');
    for (const sql of ['', STEPS[0].sql]) {
      if (sql !== '') await build(sql);
      expect(await run(scriptOf('mirror.py'), proxy.base, copy)).toBe('');
      expect(filesOf(copy)).toEqual(filesOf(out));
    }
  },
);
