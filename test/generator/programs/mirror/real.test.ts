/** A mirror of a tree that builds published, through the proxy. */
import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { z } from 'zod';
import { startProxy, type RunningProxy } from '../../../support/proxy.js';
import { site } from '../../../support/site.js';
import { differing, isSibling } from '../../../support/tree.js';
import { expectAtRest, hashesOf, inProcess, manifestOf, temporary, urlsOf } from '../../publish/support.js';

const path = temporary();
const out = path('copy');

async function serving(tree: string): Promise<RunningProxy> {
  const proxy = await startProxy(tree);
  onTestFinished(() => void proxy.stop());
  return proxy;
}

const change = (value: number): string => `UPDATE items SET price = ${value} WHERE id = 3;
  UPDATE users SET username = 'name${value}' WHERE id = 7007;`;

const resultSchema = z.looseObject({ fetched: z.string(), requests: z.int(), sequence: z.int() });

/** Changes are those since the first copy. */
const withoutChanges = (tree: string): Record<string, string> =>
  Object.fromEntries(Object.entries(hashesOf(tree)).filter(([file]) => !file.startsWith('changes/')));

const changesIn = (tree: string): string[] =>
  Object.keys(hashesOf(tree)).filter((file) => file.startsWith('changes/'));

async function bodyOf({ get }: RunningProxy, url: string): Promise<unknown[]> {
  const response = await get(url);
  const body = Buffer.from(await response.arrayBuffer());
  return [response.status, response.headers.get('etag'), createHash('sha256').update(body).digest('hex')];
}

it('a copy equals its origin, takes down what that took down, is served as it is and can be copied', async () => {
  const origin = await site(path);
  const proxy = await serving(origin.out);
  let day = 1;
  /** Builds, and waits until that is served. */
  const build = async (sql: string): Promise<void> => {
    await origin.build(sql, { at: `2026-12-${(day += 1) + 10}T00:00:00Z` });
    const { built_at: expected } = manifestOf(origin.out);
    await expect
      .poll(async () => (await proxy.get('/snapshot.json')).json())
      .toMatchObject({
        built_at: expected,
      });
  };
  /** Mirrors; the copy must then equal the origin. */
  const mirrored = async (to = out, from = proxy) => {
    const { code, stdout, stderr } = await inProcess('mirror', from.base, '--out', to, '--json');
    expect([code, stderr]).toEqual([0, '']);
    expect(differing(withoutChanges(to), withoutChanges(origin.out))).toEqual([]);
    await expectAtRest(to);
    return resultSchema.parse(JSON.parse(stdout));
  };
  await build(change(1));
  expect(await mirrored()).toMatchObject({ fetched: 'everything', sequence: 2 });
  expect(await mirrored()).toMatchObject({ fetched: 'nothing', requests: 1 });
  await build(change(2));
  await mirrored();
  await build(`INSERT INTO withheld VALUES ('user', 7007, '2026-12-01T00:00:00Z')`);
  expect(await mirrored()).toMatchObject({ fetched: 'changes' });
  expect(changesIn(out)).toEqual(['changes/4.json', 'changes/4.ndjson.gz', 'changes/index.json']);
  expect(existsSync(join(out, 'api/v1/user/7007.json'))).toBe(false);

  const copy = await serving(out);
  const files = Object.keys(withoutChanges(out)).filter((file) => !isSibling(file));
  const urlOf = urlsOf(out);
  const urls = files.flatMap((file) => urlOf(file) ?? []);
  expect(urls.length).toBeGreaterThan(200);
  for (const url of urls) {
    const [one, other] = await Promise.all([proxy, copy].map((server) => bodyOf(server, url)));
    expect([url, one]).toEqual([url, other]);
  }
  expect(await mirrored(path('copy-of-copy'), copy)).toMatchObject({ fetched: 'everything' });
});
