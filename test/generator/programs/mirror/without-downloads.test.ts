/** A mirror without the bulk downloads: all else of the tree, for the bytes of that. */
import { existsSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { z } from 'zod';
import { startProxy, type RunningProxy } from '../../../support/proxy.js';
import { site } from '../../../support/site.js';
import { differing } from '../../../support/tree.js';
import { damageOf, hashesOf, inProcess, manifestOf, temporary } from '../../publish/support.js';
import { memorySite } from '../upload/memory.js';

const path = temporary();

async function serving(tree: string): Promise<RunningProxy> {
  const proxy = await startProxy(tree);
  onTestFinished(async () => void (await proxy.stop()));
  return proxy;
}

const resultSchema = z.looseObject({ fetched: z.string(), bytes: z.int(), sequence: z.int() });

const DESCRIBING = ['README.txt', 'SHA256SUMS', 'datapackage.json'].map((name) => `downloads/${name}`);
const isFile = (file: string): boolean => file.startsWith('downloads/') && !DESCRIBING.includes(file);
const sizeOf = (tree: string, files: readonly string[]): number =>
  files.reduce((sum, file) => sum + statSync(join(tree, file)).size, 0);
/** Changes are those since the first copy. */
const lasting = (tree: string, isThere: (file: string) => boolean): Record<string, string> =>
  Object.fromEntries(
    Object.entries(hashesOf(tree)).filter(([file]) => !file.startsWith('changes/') && isThere(file)),
  );

it('a copy without downloads follows, is verified, served and uploaded, and gets them back', async () => {
  const origin = await site(path);
  const [out, proxy] = [path('copy'), await serving(origin.out)];
  const files = Object.keys(hashesOf(origin.out)).filter(isFile);
  expect(files).toHaveLength(33);
  let builds = 0;
  const build = async (sql: string): Promise<void> => {
    await origin.build(sql, { at: `2026-12-1${(builds += 1)}T00:00:00Z` });
    const { built_at: expected } = manifestOf(origin.out);
    await expect
      .poll(async () => (await proxy.get('/snapshot.json')).json())
      .toMatchObject({ built_at: expected });
  };
  /** Mirrors, and compares the copy with the origin. */
  const mirrored = async (...options: string[]) => {
    const { code, stdout, stderr } = await inProcess(
      'mirror',
      proxy.base,
      '--out',
      out,
      '--json',
      ...options,
    );
    expect([code, stderr]).toEqual([0, '']);
    const isWhole = options.length === 0;
    const expected = lasting(origin.out, (file) => isWhole || !isFile(file));
    expect(
      differing(
        lasting(out, () => true),
        expected,
      ),
    ).toEqual([]);
    expect(await damageOf(out)).toEqual([]);
    return resultSchema.parse(JSON.parse(stdout));
  };
  const without = () => mirrored('--without-downloads');

  const first = await without();
  expect(first).toMatchObject({ fetched: 'everything', sequence: 1 });
  // The documents are what the copy is made of.
  const unneeded = files.filter((file) => !file.startsWith('downloads/documents/'));
  expect(unneeded).toHaveLength(26);
  expect(first.bytes).toBeLessThan(
    sizeOf(origin.out, Object.keys(lasting(origin.out, (file) => !unneeded.includes(file)))),
  );
  expect(await without()).toMatchObject({ fetched: 'nothing', bytes: 0 });

  await build(`UPDATE items SET price = 12 WHERE id = 3; UPDATE groups SET name = 'other' WHERE id = 3`);
  const followed = await without();
  expect(followed).toMatchObject({ fetched: 'changes', sequence: 2 });
  const bundle = sizeOf(origin.out, ['changes/2.ndjson.gz', 'changes/2.json', 'changes/index.json']);
  const own = ['snapshot.json', 'feeds/snapshots.atom', 'feeds/snapshots.json', ...DESCRIBING];
  expect(followed.bytes).toBeLessThanOrEqual(bundle + sizeOf(origin.out, own));

  const copy = await serving(out);
  for (const [url, status] of [
    ['/api/v1/item/3', 200],
    ['/downloads', 200],
    ['/downloads/datapackage.json', 200],
    ['/downloads/items.csv', 404],
    ['/downloads/register.sqlite', 404],
  ] as const)
    expect((await copy.get(url)).status, url).toBe(status);
  const { upload, verify, wrong, remote } = memorySite(out);
  await upload();
  expect([wrong(), [...remote.files.keys()].filter(isFile)]).toEqual([[], []]);

  // A file in the place of one that is left out belongs to nobody.
  writeFileSync(join(out, 'downloads/items.csv'), 'id');
  expect(await damageOf(out)).toEqual([{ file: 'downloads/items.csv', what: 'extra' }]);

  // Without the option, even of a snapshot that the copy has.
  expect(await mirrored()).toMatchObject({ fetched: 'everything', sequence: 2 });
  await upload();
  expect([wrong(), [...remote.files.keys()].filter(isFile).length]).toEqual([[], 33]);
  await build('UPDATE items SET price = 13 WHERE id = 3');
  expect(await mirrored()).toMatchObject({ fetched: 'changes' });

  // And back, along with changes of the files that go.
  await build('UPDATE items SET price = 14 WHERE id = 3');
  expect(await without()).toMatchObject({ fetched: 'changes', sequence: 4 });
  expect(existsSync(join(out, 'downloads/documents'))).toBe(false);
  await mirrored();
  expect(await without()).toMatchObject({ fetched: 'nothing', sequence: 4 });
  await upload();
  expect([wrong(), (await verify()).missing, (await verify()).extra]).toEqual([[], [], []]);
});
