/** The documents for finding records of a larger register, against a script in another language. */
import { describe, expect, it } from 'vitest';
import { writeSample } from '../../../../data/sample.js';
import { temporary } from '../../publish/support.js';
import { has } from '../../../support/programs.js';
import { changeRegister } from '../../../support/register.js';
import { build, builtIn, expected, found } from './support.js';

const path = temporary();
const built = (register: string): Promise<string> => builtIn(path('dist'), register);

const hasPython = has('documents for finding records of a sample', 'python3');

describe.runIf(hasPython)(
  'the documents for finding records are what Python expects',
  { timeout: 120_000 },
  () => {
    it('of a sample with two digits and several pages, also after an edit', async () => {
      const register = path('register.sqlite');
      await writeSample({ file: register, records: 30_000, seed: 7 });
      const out = await built(register);
      const before = found(out);
      expect(before).toEqual(expected(register));
      expect(Object.keys(before)).toContain('/api/v1/lookup/username/ff');
      expect(Object.keys(before).filter((url) => url.startsWith('/api/v1/ids/user/')).length).toBeGreaterThan(
        2,
      );
      changeRegister(
        register,
        `UPDATE users SET username = 'Ａ new name' WHERE id = (SELECT min(id) FROM users);
       DELETE FROM usernames WHERE user_id = (SELECT min(id) FROM users);
       DELETE FROM items WHERE id IN (SELECT id FROM items ORDER BY id LIMIT 3);
       INSERT INTO withheld SELECT 'user', owner_id, '2026-11-20T08:00:00Z' FROM groups WHERE owner_id IS NOT NULL LIMIT 1`,
      );
      await build(register, out);
      const after = found(out);
      expect(after).toEqual(expected(register));
      expect(after).not.toEqual(before);
    });
  },
);
