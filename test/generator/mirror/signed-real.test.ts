/** Copies of signed trees that builds published: their logs are equal, the index and all tiles too. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, expect } from 'vitest';
import { thorough } from '../../support/thorough.js';
import { z } from 'zod';
import { createKey } from '../../../generator/log/key-file.js';
import { Tree } from '../../../generator/tree/tree.js';
import { upload } from '../../../generator/upload/upload.js';
import { expectAtRest, hashesOf, inProcess, manifestOf, temporary, ROWS } from '../publish/support.js';
import { published, quiet } from '../../support/build.js';
import { startProxy } from '../../support/proxy.js';
import type { RunningProxy } from '../../support/proxy.js';
import { changeRegister, writeRegister } from '../../support/register.js';
import { differing } from '../../support/tree.js';
import { MemoryRemote } from '../upload/memory.js';

const path = temporary();
let [register, dist, out, key, vkey] = ['', '', '', '', ''];
let proxy: RunningProxy;
let day = 0;

async function build(sql?: string): Promise<void> {
  if (sql !== undefined) changeRegister(register, sql);
  day += 1;
  const at = `2026-12-${String(day).padStart(2, '0')}T00:00:00Z`;
  await published({ register, out: dist, at, acceptRemovals: true, key: [key] });
}

/** Waits until the newest snapshot is served. */
async function served(): Promise<void> {
  const { built_at: expected } = manifestOf(dist);
  for (let now = ''; now !== expected;) {
    const response = await proxy.get('/snapshot.json');
    now = z.looseObject({ built_at: z.string().optional() }).parse(await response.json()).built_at ?? '';
  }
}

beforeEach(async () => {
  day = 0;
  [register, dist, out, key] = [path('register.sqlite'), path('dist'), path('copy'), path('key')];
  vkey = createKey('register.example', key);
  writeRegister(register, ROWS);
  await build();
  proxy = await startProxy(dist, ['--page-tokens', '1000000']);
});
afterEach(() => proxy.stop());

const logOf = z.looseObject({ log: z.object({ size: z.int(), signed_by: z.array(z.string()) }) });

const isCompared = (file: string): boolean => !/^changes\/|\.p\/\d+$/.test(file);

/** Mirrors; the copy must then equal the origin, apart from older changes and partial tiles. */
async function mirrored(...options: string[]): Promise<number> {
  const args = ['mirror', proxy.base, '--out', out, '--json', ...options];
  const { code, stdout, stderr } = await inProcess(...args);
  expect([code, stderr]).toEqual([0, '']);
  const [copied, original] = [out, dist].map((tree) =>
    Object.fromEntries(Object.entries(hashesOf(tree)).filter(([file]) => isCompared(file))),
  );
  expect(differing(copied ?? {}, original ?? {})).toEqual([]);
  const partials = Object.keys(hashesOf(dist)).filter((file) => /^log\/.*\.p\/\d+$/.test(file));
  const { size, signed_by: signedBy } = logOf.parse(JSON.parse(stdout)).log;
  expect(signedBy).toEqual([vkey]);
  for (const file of partials.filter((each) => each.endsWith(`/${size}`)))
    expect(readFileSync(join(out, file)).equals(readFileSync(join(dist, file))), file).toBe(true);
  await expectAtRest(out);
  return size;
}

const change = (value: number): string => `UPDATE items SET price = ${value} WHERE id = 3;
  UPDATE users SET username = 'name${value}' WHERE id = 7007;`;

thorough(
  'a copy of a signed tree follows it through changes, removals and a rollback',
  async () => {
    const remote = new MemoryRemote(out, false);
    const copies = new Tree(out);
    /** Uploads the copy, of which the lists of commits say what changed. */
    const uploaded = async (isFirst: boolean): Promise<void> => {
      const result = await upload(copies, 'memory:copy', quiet(), () => remote);
      expect(result.compared).toBe(isFirst);
      const there = Object.fromEntries([...remote.files].map(([file, { hash }]) => [file, hash]));
      expect(differing(there, hashesOf(copies.out))).toEqual([]);
    };
    expect(await mirrored('--key', vkey)).toBe(1);
    await uploaded(true);
    expect(await mirrored()).toBe(1);
    await build(change(2));
    await served();
    expect(await mirrored()).toBe(2);
    await uploaded(false);
    await build('DELETE FROM games; DELETE FROM users WHERE id > 5000;');
    await build(change(3));
    await served();
    expect(await mirrored()).toBe(4);
    await uploaded(false);
    expect(await inProcess('rollback', '--out', dist, '--key', key)).toMatchObject({ code: 0 });
    await served();
    expect(await mirrored()).toBe(5);
    await uploaded(false);
    // A copy can be copied.
    const [original, copy] = [proxy, out];
    proxy = await startProxy(copy, ['--page-tokens', '1000000']);
    try {
      out = path('copy-of-copy');
      expect(await mirrored('--key', `${key}.pub`)).toBe(5);
    } finally {
      await proxy.stop();
      proxy = original;
    }
  },
  60_000,
);
