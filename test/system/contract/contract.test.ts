/** The two halves together: what the index advertises is what the proxy answers. */
import { readFileSync } from 'node:fs';
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
