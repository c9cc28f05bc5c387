/** Varnish before the proxy: what it keeps, for how long, and what it leaves to the proxy. */
import { cpSync, readFileSync, writeFileSync } from 'node:fs';
import { setTimeout as pause } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { writeSample } from '../../data/sample.js';
import { sender } from '../contract/cases.js';
import { startVarnish } from '../contract/servers.js';
import type { EdgeServer } from '../contract/servers.js';
import { buildArgs, snapshot } from '../support/cli.js';
import { temporary } from '../support/folder.js';
import { has } from '../support/programs.js';
import { startProxy } from '../support/proxy.js';
import type { RunningProxy } from '../support/proxy.js';

const path = temporary();
const out = path('dist');
const stops: (() => Promise<unknown>)[] = [];
const isPossible = has('what Varnish keeps', 'varnish');
const ALLOWS_60 = ['--api-tokens', '60', '--trust-proxy', 'loopback'];

beforeAll(async () => {
  if (!isPossible) return;
  const register = path('register.sqlite');
  await writeSample({ file: register, records: 400, seed: 3 });
  const { code, stderr } = await snapshot(buildArgs(register, out));
  if (code !== 0) throw new Error(stderr);
});

afterAll(async () => {
  for (const stop of stops) await stop();
});

async function start(tree: string, name: string): Promise<{ proxy: RunningProxy; varnish: EdgeServer }> {
  const proxy = await startProxy(tree, ALLOWS_60);
  const varnish = await startVarnish(tree, path(name), Number(new URL(proxy.base).port));
  stops.push(varnish.stop, proxy.stop);
  return { proxy, varnish };
}

describe.runIf(isPossible)('Varnish', () => {
  it('leaves the limit to the proxy, and keeps no refusal', async () => {
    const { varnish } = await start(out, 'limits');
    const send = sender(varnish.base);
    const headers = { 'x-forwarded-for': '203.0.113.1' };
    expect(await send('/api/v1/stats', { headers })).toMatchObject({ status: 200 });
    const limits = Array.from({ length: 100 }, (_, index) => `/api/v1/largest?limit=${index + 1}`);
    const answers = await Promise.all(limits.map((url) => send(url, { headers })));
    const refused = answers.filter(({ status }) => status === 429);
    expect(refused).toHaveLength(41);
    expect(refused.every(({ headers: sent }) => sent['cache-control'] === 'no-store')).toBe(true);
    // What is kept costs nothing; what was refused is there for others.
    for (let count = 0; count < 100; count += 1) {
      expect(await send('/api/v1/stats', { headers })).toMatchObject({ status: 200 });
    }
    const again = await Promise.all(limits.slice(60).map((url) => send(url)));
    expect(new Set(again.map(({ status }) => status))).toEqual(new Set([200]));
  });

  it('keeps one copy of a URL, whatever parameters and cookies come with it', async () => {
    const { varnish, proxy } = await start(out, 'keys');
    const send = sender(varnish.base);
    await send('/api/v1');
    await send('/api/v1/largest?limit=7');
    await proxy.stop();
    for (const url of [
      '/api/v1',
      '/api/v1?x=1',
      '/api/v1/largest?limit=7',
      '/api/v1/largest?a=b&limit=7&c',
    ]) {
      const headers = { Cookie: 'a=b', Authorization: 'Basic eA==', Host: 'other.example' };
      expect(await send(url, { headers }), url).toMatchObject({ status: 200 });
    }
    const { status, headers, body } = await send('/api/v1/stats');
    expect(status).toBe(503);
    expect(headers).toMatchObject({
      'content-type': 'application/problem+json',
      'access-control-allow-origin': '*',
      'cache-control': 'no-store',
      'retry-after': '10',
    });
    expect(JSON.parse(body.toString())).toMatchObject({ status: 503, error: 'no_snapshot' });
  });

  it('serves what is stale while the proxy is down, as long as stale-if-error says', async () => {
    const tree = path('brief');
    cpSync(out, tree, { recursive: true });
    const file = `${tree}/snapshot.json`;
    const brief = 'max-age=1, stale-while-revalidate=1, stale-if-error=5';
    const text = readFileSync(file, 'utf8');
    writeFileSync(
      file,
      text.replaceAll('max-age=60, stale-while-revalidate=120, stale-if-error=3600', brief),
    );
    const { varnish, proxy } = await start(tree, 'stale');
    const send = sender(varnish.base);
    const first = await send('/api/v1/stats');
    expect(first.headers['cdn-cache-control']).toBe(brief);
    await pause(3000);
    // Too old to be revalidated in the background: it is fetched again.
    expect(Number((await send('/api/v1/stats')).headers['age'])).toBeLessThan(2);
    await proxy.stop();
    await pause(3000);
    const stale = await send('/api/v1/stats');
    expect(stale).toMatchObject({ status: 200, body: first.body });
    expect(Number(stale.headers['age'])).toBeGreaterThanOrEqual(3);
    await pause(5000);
    expect(await send('/api/v1/stats')).toMatchObject({ status: 503 });
  });
});
