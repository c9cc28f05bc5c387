/** Uploads by the command and the real rclone: to object storage, WebDAV, or a folder. */
import { expect } from 'vitest';
import { z } from 'zod';
import { published } from '../../../support/build.js';
import { changeRegister, writeRegister } from '../../../support/register.js';
import { differing, isSibling } from '../../../support/tree.js';
import { ROWS, buildWith, hashesOf, inProcess } from '../../publish/support.js';

const count = z.int();
const resultSchema = z.object({ written: count, deleted: count, unchanged: count, compared: z.boolean() });
const at = '2026-12-02T00:00:00Z';

/**
 * A tree and its uploads.
 * @param there path -> SHA-256 of what is on the remote
 */
export async function realSite(
  path: (name: string) => string,
  to: string,
  there: () => Record<string, string>,
) {
  const register = writeRegister(path('register.sqlite'), ROWS);
  const out = path('dist');
  await published({ register, out });
  const args = ['upload', '--out', out, '--to', to];
  const files = (): Record<string, string> =>
    Object.fromEntries(Object.entries(hashesOf(out)).filter(([file]) => !isSibling(file)));
  const upload = async () => {
    const { code, stdout, stderr } = await inProcess(...args, '--json');
    expect([code, stderr]).toEqual([0, '']);
    return resultSchema.parse(JSON.parse(stdout));
  };
  /** What is wrong there. */
  const wrong = (): string[] => differing(there(), files());
  return {
    out,
    args,
    upload,
    wrong,
    change: (sql: string) => changeRegister(register, sql),
    build: async () => expect(await buildWith({ register, out, at })).toMatchObject({ published: true }),
  };
}
