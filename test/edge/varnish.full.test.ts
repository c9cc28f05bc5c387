/** Varnish before the proxy: what it keeps, for how long, and what it leaves to the proxy. */
import { spawnSync } from 'node:child_process';
import { cpSync, readFileSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { writeSample } from '../../data/sample.js';
import { sender } from '../contract/cases.js';
import { startVarnish } from '../contract/servers.js';
import type { EdgeServer } from '../contract/servers.js';
import { buildArgs, snapshot } from '../support/cli.js';
import { PROJECT, temporary } from '../support/folder.js';
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

interface Started {
  readonly proxy: RunningProxy;
  readonly varnish: EdgeServer;
  /** Of Varnish. */
  readonly folder: string;
}

async function start(tree: string, name: string): Promise<Started> {
  const proxy = await startProxy(tree, ALLOWS_60);
  const folder = path(name);
  const varnish = await startVarnish(tree, folder, Number(new URL(proxy.base).port));
  stops.push(varnish.stop, proxy.stop);
  return { proxy, varnish, folder };
}

/** The commands of the documentation that remove what is kept, for another group than 7. */
function bans(folder: string, id: number): readonly string[] {
  const page = readFileSync(join(PROJECT, 'docs/edge-servers.md'), 'utf8');
  return [...page.matchAll(/^varnishadm (ban .*)$/gm)].map(
    ([, ban = '']) => `varnishadm -n ${folder} ${ban.replaceAll('/7', `/${id}`)}`,
  );
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

  it('keeps two forms of a 404 that is also a page, whatever Accept says', async () => {
    const { varnish } = await start(out, 'forms');
    const send = sender(varnish.base);
    const ask = (accept: string) =>
      send('/nothing', { headers: { Accept: accept, 'x-forwarded-for': '203.0.113.2' } });
    // More than the limit allows, if each were asked of the proxy.
    for (let count = 0; count < 100; count += 1) {
      const html = await ask(`text/html,application/x-${count},*/*;q=0.8`);
      const json = await ask(`application/json,application/x-${count}`);
      expect([html.status, html.headers['content-type']]).toEqual([404, 'text/html; charset=utf-8']);
      expect([json.status, json.headers['content-type']]).toEqual([404, 'application/problem+json']);
      expect([html.headers['vary'], json.headers['vary']]).toEqual(['Accept', 'Accept']);
    }
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

  it('removes a record, its kind or everything, as documented for takedowns', async () => {
    const { varnish, folder } = await start(out, 'bans');
    const send = sender(varnish.base);
    const [first = 0, second = 0] = readdirSync(join(out, 'api/v1/group')).map(parseFloat);
    const urls = [
      `/api/v1/group/${first}`,
      `/group/${first}/history.json`,
      `/api/v1/group/${second}`,
      `/group/${second}/history.json`,
      '/api/v1/stats',
    ];
    /** Which of them are kept; those that aren't are fetched. */
    const kept = async (): Promise<readonly boolean[]> => {
      const responses = await Promise.all(urls.map((url) => send(url)));
      expect(responses.map(({ status }) => status)).toEqual(urls.map(() => 200));
      await pause(1100);
      return responses.map(({ headers }) => Number(headers['age']) > 0);
    };
    expect(await kept()).toEqual([false, false, false, false, false]);
    const gone = [
      [false, false, true, true, true],
      [false, false, false, false, true],
      [false, false, false, false, false],
    ];
    const commands = bans(folder, first);
    expect(commands).toHaveLength(gone.length);
    for (const [index, command] of commands.entries()) {
      expect(await kept()).toEqual([true, true, true, true, true]);
      const { status, stderr } = spawnSync('sh', ['-c', command], { encoding: 'utf8' });
      expect([status, stderr], command).toEqual([0, '']);
      expect(await kept(), command).toEqual(gone[index]);
    }
  });
});
