/** The two halves together: what the index advertises is what the proxy answers. */
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { z } from 'zod';
import { writeSample } from '../../../data/sample.js';
import { temporary } from '../../support/folder.js';
import { contractCases, sender } from './cases.js';
import { buildSigned } from './signed-tree.js';
import { startProxy } from '../../support/proxy.js';
import type { RunningProxy } from '../../support/proxy.js';
import { readTree } from '../../support/tree.js';

const path = temporary();
const out = path('dist');
let proxy: RunningProxy;

const snapshotFile = z.object({
  routes: z.array(
    z.object({
      name: z.string(),
      path: z.string(),
      file: z.string(),
      example: z.string().optional(),
      requires: z.string().optional(),
    }),
  ),
});
const indexBody = z.object({
  endpoints: z.array(
    z.object({ method: z.literal('GET'), path: z.string(), description: z.string().min(1) }),
  ),
});

beforeAll(async () => {
  const register = path('register.sqlite');
  await writeSample({ file: register, records: 400, seed: 3 });
  await buildSigned(register, out);
  proxy = await startProxy(out);
});

afterAll(() => proxy.stop());

describe('the index', () => {
  it('advertises the nine endpoints of the specification, in its order', async () => {
    const { endpoints } = indexBody.parse(await (await proxy.get('/api/v1')).json());
    expect(endpoints.map((endpoint) => endpoint.path)).toEqual(
      (
        '/api/v1 /api/v1/group/{id} /api/v1/user/{id} /api/v1/game/{id} /api/v1/item/{id} ' +
        '/api/v1/largest /api/v1/stats /group/{id}/history.json /user/{id}/usernames.json'
      ).split(' '),
    );
  });

  it('advertises only what answers 200, each with JSON and the same file in the tree', async () => {
    const { endpoints } = indexBody.parse(await (await proxy.get('/api/v1')).json());
    const { routes } = snapshotFile.parse(JSON.parse(readFileSync(join(out, 'snapshot.json'), 'utf8')));
    const contents = new Set([...readTree(out).values()].map(({ text }) => text));
    for (const endpoint of endpoints) {
      const example = routes.find((route) => route.path === endpoint.path)?.example ?? endpoint.path;
      const answer = await proxy.get(example);
      expect(answer.status, example).toBe(200);
      expect(answer.headers.get('content-type')).toBe('application/json; charset=utf-8');
      expect(contents.has(await answer.text()), example).toBe(true);
    }
  });
});

describe('the proxy', () => {
  it('keeps the contract, in every case', async () => {
    const behindBalancer = await startProxy(out, ['--trust-proxy', 'loopback', '--api-tokens', '60']);
    const send = sender(behindBalancer.base);
    const cases = contractCases(out);
    const found: string[] = [];
    for (const { name, run } of cases) for (const line of await run(send)) found.push(`${name}: ${line}`);
    await behindBalancer.stop();
    expect(found).toEqual([]);
    expect(cases.length).toBeGreaterThan(600);
  });
});

describe('every document of the tree', () => {
  it('is answered at its URL, byte for byte', async () => {
    const { routes } = snapshotFile.parse(JSON.parse(readFileSync(join(out, 'snapshot.json'), 'utf8')));
    // A page of records is at the URLs of records as well; its own is that of the other route.
    const own = routes.filter(({ requires }) => requires === undefined);
    const paths = new Map(own.map(({ file, path }) => [file, path]));
    for (const [file, { text }] of readTree(out)) {
      // These have a limit of their own, and tests of their own.
      if (/\.(csv|csv\.gz|parquet|ndjson\.gz|sqlite\.gz)$/.test(file)) continue;
      const limit = /^api\/v1\/largest\/(\d+)\.json$/.exec(file)?.[1];
      const bare = file.startsWith('api/') ? file.replace(/\.json$/, '') : file;
      const path = paths.get(file) ?? `/${bare}`;
      if (path === '/404') continue;
      const answer = await proxy.get(limit === undefined ? path : `/api/v1/largest?limit=${limit}`);
      expect(answer.status, file).toBe(200);
      expect(await answer.text(), file).toBe(text);
    }
  });
});

describe('every link of a record', () => {
  const who = z.looseObject({ type: z.string().nullish(), id: z.number().nullable() });
  const record = z.looseObject({
    links: z.record(z.string(), z.string().nullable()),
    owner: who.nullish(),
    creator: who.nullish(),
  });
  const records = (): readonly (readonly [string, z.infer<typeof record>])[] =>
    [...readTree(out)]
      .filter(([file]) => /^(api\/v1\/(group|user|game|item)|group|user)\//.test(file))
      .map(([file, { text }]) => [file, record.parse(JSON.parse(text))]);

  it('leads to what it says', () => {
    for (const [file, { links }] of records()) {
      const { owner: _, creator: __, ...own } = links;
      for (const link of Object.values(own)) {
        const path = z.string().parse(link).slice(1);
        const target = path.endsWith('.json') ? path : `${path}.json`;
        expect(existsSync(join(out, target)), `${file} -> ${link}`).toBe(true);
      }
    }
  });

  it('leads to the owner and creator whenever their id is published', () => {
    const found = { paths: 0, nulls: 0 };
    for (const [file, { links, owner, creator }] of records()) {
      for (const [link, reference] of Object.entries({ owner, creator })) {
        // A history has an owner in each entry, and no link to any.
        if (reference === undefined) continue;
        const kind = link === 'owner' ? 'user' : reference?.type;
        const id = reference?.id ?? null;
        const path = id === null || kind === undefined || kind === null ? null : `/api/v1/${kind}/${id}`;
        expect(links[link], file).toBe(path);
        found[path === null ? 'nulls' : 'paths'] += 1;
      }
    }
    expect(found.paths).toBeGreaterThan(0);
    expect(found.nulls).toBeGreaterThan(0);
  });
});
