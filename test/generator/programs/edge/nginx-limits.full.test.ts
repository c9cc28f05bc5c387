/** The limits as nginx counts them, with its real clock. */
import { renameSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startNginx, type EdgeServer } from '../../../system/contract/servers.js';
import { sender } from '../../../system/contract/cases.js';
import { published, publishedSample } from '../../../support/build.js';
import { temporary } from '../../../support/folder.js';
import { changeRegister } from '../../../support/register.js';
import { has } from '../../../support/programs.js';

const path = temporary();
const out = path('dist');
const register = path('register.sqlite');
let nginx: EdgeServer | undefined;
const isPossible = has('the limits of nginx', 'nginx');

beforeAll(async () => {
  if (!isPossible) return;
  await publishedSample(register, out);
  nginx = await startNginx(out, path('nginx'));
});

afterAll(() => nginx?.stop());

const statuses = async (target: string, count: number, client: string, method = 'GET') => {
  const send = sender(nginx?.base ?? '');
  const headers = { 'x-forwarded-for': client };
  const answers = await Promise.all(Array.from({ length: count }, () => send(target, { method, headers })));
  return answers.map(({ status }) => status);
};
const allowed = async (...args: Parameters<typeof statuses>): Promise<number> =>
  (await statuses(...args)).filter((status) => status !== 429).length;

describe.runIf(isPossible)('nginx', () => {
  it('allows 60 of 100 at once, then one each second, whatever becomes of them', async () => {
    const client = '203.0.113.1';
    const startedMs = performance.now();
    // It never counts OPTIONS and other methods.
    expect(new Set(await statuses('/api/v1', 100, client, 'OPTIONS'))).toEqual(new Set([204]));
    expect(new Set(await statuses('/api/v1', 100, client, 'POST'))).toEqual(new Set([405]));
    expect(await allowed('/api/v1', 100, client)).toBe(60);
    const drainedMs = performance.now();
    let back = 0;
    for (const target of ['/nothing', '/api/v1/group/abc', '/api/v1/', '/api/v1/../x', '/snapshot.json']) {
      await sleep(1300);
      const fromMs = performance.now();
      back += await allowed(target, 6, client);
      // As many as whole seconds have passed, whenever within the bursts nginx counted them.
      expect(back, target).toBeGreaterThanOrEqual(Math.floor((fromMs - drainedMs) / 1000));
      expect(back, target).toBeLessThanOrEqual(Math.floor((performance.now() - startedMs) / 1000));
    }
    expect(await allowed('/api/v1', 5, '203.0.113.2')).toBe(5);
  });

  it('counts pages of records against the limit of pages, even if there is no such record', async () => {
    const startedMs = performance.now();
    const found = await statuses('/group/9007199254740991', 300, '203.0.113.7');
    const back = Math.ceil((performance.now() - startedMs) / 250);
    expect(new Set(found)).toEqual(new Set([404, 429]));
    const passed = found.filter((status) => status === 404).length;
    expect(passed).toBeGreaterThanOrEqual(240);
    expect(passed).toBeLessThanOrEqual(240 + back);
    expect(await allowed('/api/v1', 60, '203.0.113.7')).toBe(60);
  });

  it('counts an IPv6 client by its /56, and one behind NAT64 by its IPv4 address, as a mapped one', async () => {
    for (const [address, count] of [
      ['2001:db8:0:ff00::1', 50],
      ['2001:db8:0:ffff:1::2', 10],
      ['2001:db8:0:fe00::1', 50],
      ['64:ff9b::203.0.113.8', 50],
      ['::ffff:203.0.113.8', 10],
    ] as const)
      expect([address, await allowed('/api/v1', 50, address)]).toEqual([address, count]);
  });

  it('counts downloads by a limit of their own and by that of the API; a HEAD by the latter alone', async () => {
    // A bundle counts as a whole download, though there is none.
    expect(await allowed('/changes/9.ndjson.gz', 20, '203.0.113.4')).toBe(12);
    expect(await allowed('/changes/9.ndjson.gz', 20, '203.0.113.4', 'HEAD')).toBe(20);
    expect(await allowed('/api/v1', 60, '203.0.113.4')).toBe(28);
    expect(await allowed('/', 100, '203.0.113.4')).toBe(100);
    // A small file counts as a hundredth, so that the limit of the API comes first.
    expect(await allowed('/downloads/groups.csv', 70, '203.0.113.5')).toBe(60);
  });

  it('serves a new snapshot without being told, and says 503, never 404, while there is no tree', async () => {
    const send = sender(nginx?.base ?? '');
    expect(await send('/changes/2.ndjson.gz')).toMatchObject({ status: 404 });
    changeRegister(register, `UPDATE games SET genre = 'Another'`);
    await published({ register, out });
    const served = async (): Promise<unknown> => JSON.parse((await send('/snapshot.json')).body.toString());
    // Rarely, for the limits.
    const rarely = { interval: 200 };
    await expect.poll(served, rarely).toMatchObject({ sequence: 2 });
    await expect.poll(() => send('/changes/2.ndjson.gz'), rarely).toMatchObject({ status: 200 });
    const seen = new Set<number>();
    const index = async () => {
      const answer = await send('/api/v1');
      seen.add(answer.status);
      return answer;
    };
    renameSync(out, `${out}.away`);
    const headers = { 'retry-after': '10', 'cache-control': 'no-store' };
    await expect.poll(index, rarely).toMatchObject({ status: 503, headers });
    renameSync(`${out}.away`, out);
    await expect.poll(index, rarely).toMatchObject({ status: 200 });
    expect([...seen].filter((status) => ![200, 503].includes(status))).toEqual([]);
  });
});
