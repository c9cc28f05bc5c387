/** Mirrors of trees that builds published, through the proxy. */
import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect } from 'vitest';
import { z } from 'zod';
import { published } from '../../support/build.js';
import { startProxy } from '../../support/proxy.js';
import type { RunningProxy } from '../../support/proxy.js';
import { changeRegister, writeRegister } from '../../support/register.js';
import { it, thorough } from '../../support/thorough.js';
import { differing, isSibling, removeTree } from '../../support/tree.js';
import {
  ROWS,
  expectAtRest,
  hashesOf,
  inProcess,
  manifestOf,
  temporary,
  urlsOf,
} from '../publish/support.js';

const path = temporary();
const [dist, out] = [path('dist'), path('copy')];
let register = '';
let proxy: RunningProxy;
let day = 0;

/** Builds, and waits until that is served. */
async function build(sql: string): Promise<void> {
  changeRegister(register, sql);
  day += 1;
  const at = `2026-12-${String(day).padStart(2, '0')}T00:00:00Z`;
  await published({ register, out: dist, at, acceptRemovals: true });
  await served();
}

async function served(): Promise<void> {
  const { built_at: expected } = manifestOf(dist);
  for (let now = ''; now !== expected;) {
    const response = await proxy.get('/snapshot.json');
    now = z.looseObject({ built_at: z.string().optional() }).parse(await response.json()).built_at ?? '';
  }
}

const change = (value: number): string => `UPDATE items SET price = ${value} WHERE id = 3;
  UPDATE users SET username = 'name${value}' WHERE id = 7007;`;

const resultSchema = z.looseObject({
  fetched: z.string(),
  requests: z.int(),
  sequence: z.int(),
});

/** Changes are those since the first copy. */
const isCompared = (file: string): boolean => !file.startsWith('changes/');

/** Mirrors; the copy must then equal the origin. */
async function mirrored(to = out, from = proxy) {
  const { code, stdout, stderr } = await inProcess('mirror', from.base, '--out', to, '--json');
  expect([code, stderr]).toEqual([0, '']);
  const [copied, original] = [to, dist].map((tree) =>
    Object.fromEntries(Object.entries(hashesOf(tree)).filter(([file]) => isCompared(file))),
  );
  expect(differing(copied ?? {}, original ?? {})).toEqual([]);
  await expectAtRest(to);
  return resultSchema.parse(JSON.parse(stdout));
}

/** Runs with a proxy that serves the copy. */
async function servingCopy(work: (copy: RunningProxy) => Promise<void>): Promise<void> {
  const copy = await startProxy(out, ['--page-tokens', '1000000']);
  try {
    await work(copy);
  } finally {
    await copy.stop();
  }
}

const changesIn = (tree: string): string[] =>
  Object.keys(hashesOf(tree)).filter((file) => file.startsWith('changes/'));

async function begin(): Promise<void> {
  day = 1;
  register = writeRegister(path('register.sqlite'), ROWS);
  await published({ register, out: dist, at: '2026-12-01T00:00:00Z' });
  proxy = await startProxy(dist, ['--page-tokens', '1000000']);
}
afterEach(async () => {
  await proxy.stop();
  for (const tree of [dist, out]) removeTree(tree);
});

async function bodyOf({ get }: RunningProxy, url: string): Promise<unknown[]> {
  const response = await get(url);
  const body = Buffer.from(await response.arrayBuffer());
  return [response.status, response.headers.get('etag'), createHash('sha256').update(body).digest('hex')];
}

describe('a copy', () => {
  beforeEach(async () => {
    await begin();
    await build(change(1));
  });

  thorough(
    'equals its origin, costs one request from then on, is served as it and can be copied',
    async () => {
      expect(await mirrored()).toMatchObject({ fetched: 'everything', sequence: 2 });
      expect(await mirrored()).toMatchObject({ fetched: 'nothing', requests: 1 });
      const urlOf = urlsOf(out);
      const files = Object.keys(hashesOf(out)).filter((file) => !isSibling(file));
      const urls = files.flatMap((file) => urlOf(file) ?? []);
      expect(urls.length).toBeGreaterThan(200);
      await servingCopy(async (copy) => {
        for (const url of urls.filter((each) => !each.startsWith('/changes/'))) {
          const [one, other] = await Promise.all([proxy, copy].map((server) => bodyOf(server, url)));
          expect([url, one]).toEqual([url, other]);
        }
      });
      await build(change(2));
      await mirrored();
      await servingCopy(async (copy) => {
        expect(await mirrored(path('copy-of-copy'), copy)).toMatchObject({ fetched: 'everything' });
      });
    },
  );

  it('takes down what its origin took down', async () => {
    await mirrored();
    await build(change(2));
    await mirrored();
    await build(`INSERT INTO withheld VALUES ('user', 7007, '2026-12-01T00:00:00Z')`);
    expect(await mirrored()).toMatchObject({ fetched: 'changes' });
    expect(changesIn(out)).toEqual(['changes/4.json', 'changes/4.ndjson.gz', 'changes/index.json']);
    expect(existsSync(join(out, 'api/v1/user/7007.json'))).toBe(false);
  });
});
