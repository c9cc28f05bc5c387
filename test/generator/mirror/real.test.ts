/** Mirrors of trees that builds published, through the proxy. */
import { createHash } from 'node:crypto';
import { appendFileSync, existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect } from 'vitest';
import { it, thorough } from '../../support/thorough.js';
import { z } from 'zod';
import { published } from '../../support/build.js';
import { startProxy } from '../../support/proxy.js';
import type { RunningProxy } from '../../support/proxy.js';
import { changeRegister, writeRegister } from '../../support/register.js';
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
let [register, dist, out] = ['', '', ''];
let proxy: RunningProxy;
let day = 0;

/** Builds and waits until it is served. */
async function build(sql?: string): Promise<number> {
  if (sql !== undefined) changeRegister(register, sql);
  day += 1;
  const at = `2026-12-${String(day).padStart(2, '0')}T00:00:00Z`;
  const { sequence } = await published({ register, out: dist, at, acceptRemovals: true });
  await served();
  return sequence;
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

const resultSchema = z.looseObject({ fetched: z.string(), requests: z.int(), sequence: z.int() });

/** Mirrors; the copy must then equal the origin. */
async function mirrored() {
  const { code, stdout, stderr } = await inProcess('mirror', proxy.base, '--out', out, '--json');
  expect([code, stderr]).toEqual([0, '']);
  const [copied, original] = [out, dist].map((tree) =>
    Object.fromEntries(Object.entries(hashesOf(tree)).filter(([file]) => !file.startsWith('changes/'))),
  );
  expect(differing(copied ?? {}, original ?? {})).toEqual([]);
  await expectAtRest(out);
  return resultSchema.parse(JSON.parse(stdout));
}

const changesIn = (tree: string): string[] =>
  Object.keys(hashesOf(tree)).filter((file) => file.startsWith('changes/'));

beforeEach(async () => {
  day = 0;
  [register, dist, out] = [path('register.sqlite'), path('dist'), path('copy')];
  writeRegister(register, ROWS);
  await published({ register, out: dist });
  proxy = await startProxy(dist, ['--page-tokens', '1000000']);
  await build(change(1));
});
afterEach(async () => {
  await proxy.stop();
});

thorough(
  'a copy equals its origin, costs one request from then on, and is served with the same bytes',
  async () => {
    expect(await mirrored()).toMatchObject({ fetched: 'everything', sequence: 2 });
    expect(await mirrored()).toMatchObject({ fetched: 'nothing', requests: 1 });
    const copy = await startProxy(out, ['--page-tokens', '1000000']);
    try {
      const urlOf = urlsOf(out);
      const urls = Object.keys(hashesOf(out))
        .filter((file) => !isSibling(file))
        .flatMap((file) => urlOf(file) ?? []);
      expect(urls.length).toBeGreaterThan(200);
      for (const url of urls.filter((each) => !each.startsWith('/changes/'))) {
        const [one, other] = await Promise.all([proxy, copy].map((server) => bodyOf(server, url)));
        expect([url, one]).toEqual([url, other]);
      }
    } finally {
      await copy.stop();
    }
  },
);

async function bodyOf({ get }: RunningProxy, url: string): Promise<unknown[]> {
  const response = await get(url);
  const body = Buffer.from(await response.arrayBuffer());
  return [response.status, response.headers.get('etag'), createHash('sha256').update(body).digest('hex')];
}

describe('a copy that follows', () => {
  thorough(
    'takes bundles, one or several',
    async () => {
      await mirrored();
      await build(change(2));
      expect(await mirrored()).toMatchObject({ fetched: 'changes', sequence: 3 });
      for (let value = 3; value < 6; value += 1) await build(change(value));
      expect(await mirrored()).toMatchObject({ fetched: 'changes', sequence: 6 });
      expect(changesIn(out)).toEqual(
        ['3', '4', '5', '6']
          .flatMap((n) => [`changes/${n}.json`, `changes/${n}.ndjson.gz`])
          .concat('changes/index.json'),
      );
    },
    60_000,
  );

  thorough('does without a damaged bundle', async () => {
    await mirrored();
    await build(change(2));
    appendFileSync(join(dist, 'changes/3.ndjson.gz'), 'x');
    const { code } = await inProcess('mirror', proxy.base, '--out', out);
    expect(code).toBe(0);
    expect(changesIn(out)).toEqual(['changes/index.json']);
    expect(readFileSync(join(out, 'snapshot.json'))).toEqual(readFileSync(join(dist, 'snapshot.json')));
    await expectAtRest(out);
  });

  it('takes down what its origin took down', async () => {
    await mirrored();
    await build(change(2));
    await mirrored();
    await build(`INSERT INTO withheld VALUES ('user', 7007, '2026-12-01T00:00:00Z')`);
    expect(await mirrored()).toMatchObject({ fetched: 'changes' });
    expect(changesIn(out)).toEqual(['changes/4.json', 'changes/4.ndjson.gz', 'changes/index.json']);
    expect(existsSync(join(out, 'api/v1/user/7007.json'))).toBe(false);
  });

  thorough('starts over if its origin has a new tree', async () => {
    await mirrored();
    removeTree(dist);
    await build(change(2));
    await build(change(3));
    expect(await mirrored()).toMatchObject({ fetched: 'everything', sequence: 2 });
  });

  thorough('can be followed itself', async () => {
    await mirrored();
    await build(change(2));
    await mirrored();
    const first = out;
    const original = proxy;
    proxy = await startProxy(first, ['--page-tokens', '1000000']);
    try {
      out = path('copy-of-copy');
      expect(await mirrored()).toMatchObject({ fetched: 'everything' });
    } finally {
      await proxy.stop();
      proxy = original;
    }
  });
});
