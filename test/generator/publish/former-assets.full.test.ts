/** Assets of earlier snapshots, in a copy that an upload keeps up to date. */
import { cpSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { buildArgs } from '../../support/cli.js';
import { has } from '../../support/programs.js';
import { changeRegister, writeRegister } from '../../support/register.js';
import { differing } from '../../support/tree.js';
import { otherVersion } from './other-version.js';
import { ROWS, hashesOf, inProcess, temporary } from './support.js';

const path = temporary();

it.runIf(has('uploads of former assets', 'rsync'))(
  'an upload brings them along, and deletes them when they are dropped',
  async () => {
    const other = await otherVersion(path('program'));
    const register = writeRegister(path('a.sqlite'), ROWS);
    const edited = (price: number): string => {
      const file = path(`${price}.sqlite`);
      cpSync(register, file);
      changeRegister(file, `UPDATE items SET price = ${price} WHERE id = 3`);
      return file;
    };
    const [out, early, late] = [path('dist'), path('early'), path('late')];
    const uploaded = async (copy: string): Promise<void> => {
      expect(await inProcess('upload', '--out', out, '--to', `rsync:${copy}`)).toMatchObject({
        code: 0,
        stderr: '',
      });
      expect(differing(hashesOf(copy), hashesOf(out))).toEqual([]);
    };
    const styles = (): string[] =>
      readdirSync(join(early, 'assets')).filter((name) => /^style-\w+\.css$/.test(name));
    await other.build(register, out);
    await uploaded(early);
    for (const [source, count] of [
      [register, 2],
      [edited(7), 2],
      [edited(8), 1],
    ] as const) {
      expect((await inProcess(...buildArgs(source, out))).code).toBe(0);
      await uploaded(early);
      expect(styles()).toHaveLength(count);
      if (source === register) await uploaded(late);
    }
  },
  60_000,
);
