/** Uploads by the command and the real programs: to object storage, WebDAV, or a folder. */

import { expect } from 'vitest';
import { z } from 'zod';
import { Dice } from '../../../data/sample/dice.js';
import { published } from '../../support/build.js';
import { changeRegister, writeRegister } from '../../support/register.js';
import { differing, isSibling } from '../../support/tree.js';
import { ROWS, buildWith, hashesOf, inProcess, start, startBuild } from '../publish/support.js';

const resultSchema = z.object({
  written: z.int(),
  deleted: z.int(),
  unchanged: z.int(),
  compared: z.boolean(),
});
const at = '2026-12-02T00:00:00Z';

/**
 * A tree and its uploads.
 * @param there path -> SHA-256 of what is on the remote
 * @param hasSiblings whether compressed siblings are uploaded
 */
export async function realSite(
  path: (name: string) => string,
  to: string,
  there: () => Record<string, string>,
  hasSiblings = false,
) {
  const register = writeRegister(path('register.sqlite'), ROWS);
  const out = path('dist');
  await published({ register, out });
  const args = ['upload', '--out', out, '--to', to];
  const files = (): Record<string, string> =>
    Object.fromEntries(Object.entries(hashesOf(out)).filter(([file]) => hasSiblings || !isSibling(file)));
  const upload = async () => {
    const { code, stdout, stderr } = await inProcess(...args, '--json');
    expect([code, stderr]).toEqual([0, '']);
    return resultSchema.parse(JSON.parse(stdout));
  };
  /** What is wrong there. */
  const wrong = (): string[] => differing(there(), files());
  return {
    register,
    out,
    args,
    files,
    upload,
    wrong,
    run: (...more: readonly string[]) => inProcess(...args, ...more),
    change: (sql: string) => changeRegister(register, sql),
    build: async () => expect(await buildWith({ register, out, at })).toMatchObject({ published: true }),
    /** What is wrong after uploads that are killed while builds go on. @param pause until the kill of a round */
    afterKills: async (
      pause: (dice: Dice, round: number, child: ReturnType<typeof start>['child']) => Promise<void>,
      alsoKilled: (round: number, pid: number) => readonly number[] = () => [],
    ): Promise<string[]> => {
      const dice = new Dice(20261201, 'upload', 0);
      let killed = 0;
      for (let round = 1; round <= 10; round += 1) {
        const { child, done, pid } = start([...args, '--quiet', '--wait']);
        await pause(dice, round, child);
        const programs = alsoKilled(round, pid);
        if (child.exitCode === null) killed += 1;
        child.kill('SIGKILL');
        for (const each of programs) process.kill(each, 'SIGKILL');
        await done;
        // Some go back and forth between two contents.
        changeRegister(
          register,
          `UPDATE groups SET description = CASE WHEN description IS NULL THEN 'other' END
             WHERE id = ${1 + dice.below(10)};
           DELETE FROM items WHERE id = ${round};
           INSERT OR IGNORE INTO withheld VALUES ('game', ${round}, '2026-12-01T00:00:00Z')`,
        );
        expect((await startBuild(register, out).done).code, `round ${round}`).toBe(0);
      }
      expect(killed).toBeGreaterThan(4);
      await upload();
      return wrong();
    },
  };
}
