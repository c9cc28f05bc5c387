/**
 * From a hostile origin through `mirror` and `edge nginx` into a running nginx: the name of a header
 * in the origin's snapshot.json is a directive of nginx.
 */
import { existsSync, readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { z } from 'zod';
import { startNginx } from '../../system/contract/servers.js';
import { publishedSample } from '../../support/build.js';
import { snapshot } from '../../support/cli.js';
import { temporary } from '../../support/folder.js';
import { freePort } from '../../support/ports.js';
import { has } from '../../support/programs.js';
import { startProxy } from '../../support/proxy.js';
import { jsonObject } from '../tree/hostile.js';

const path = temporary();
const isPossible = has('a hostile origin, mirrored for nginx', 'nginx');

/** Written as the name of a header, it would have nginx serve the files of /etc. */
const INJECTED = 'X-Z 1;\n    location ^~ /pwn/ { alias /etc/; autoindex on; }\n    add_header X-Y';

const tables = z.looseObject({ all: jsonObject });

function injected(content: Buffer): Buffer {
  const snapshotJson = jsonObject.parse(JSON.parse(content.toString()));
  const headers = tables.parse(snapshotJson['headers']);
  const all = { ...headers.all, [INJECTED]: 'z' };
  return Buffer.from(JSON.stringify({ ...snapshotJson, headers: { ...headers, all } }));
}

/** Serves what the proxy does, but for a header name in snapshot.json while it is hostile. */
const origin = { isHostile: false, base: '' };
const stops: (() => unknown)[] = [];

beforeAll(async () => {
  if (!isPossible) return;
  const [register, out] = [path('register.sqlite'), path('dist')];
  await publishedSample(register, out);
  const proxy = await startProxy(out, ['--page-tokens', '1000000']);
  const server = createServer((request, response) => {
    void (async () => {
      const { url = '' } = request;
      const found = await fetch(proxy.base + url, { headers: { 'accept-encoding': 'identity' } });
      const body = Buffer.from(await found.arrayBuffer());
      const sent = origin.isHostile && url === '/snapshot.json' ? injected(body) : body;
      response.writeHead(found.status, { 'content-length': sent.length }).end(sent);
    })();
  });
  const port = await freePort();
  server.listen(port, '127.0.0.1');
  origin.base = `http://127.0.0.1:${port}`;
  stops.push(
    () => server.closeAllConnections(),
    () => server.close(),
    proxy.stop,
  );
});

afterAll(async () => {
  for (const stop of stops) await stop();
});

const mirror = (out: string) => snapshot(['mirror', origin.base, '--out', out, '--quiet']);
const REFUSED = /^error: \/snapshot\.json of the origin can't be used \(see "headers\.all\./;

/** What nginx serves of a copy that has been written for it again: of the API, and of /etc. */
async function servedBy(out: string) {
  const { base, stop } = await startNginx(out, path('nginx'), []);
  const [api, other] = await Promise.all([fetch(`${base}/api/v1`), fetch(`${base}/pwn/passwd`)]);
  const served = { api: api.status, other: other.status, text: await other.text() };
  await stop();
  return served;
}

describe.runIf(isPossible)('an origin that names a header by directives of nginx', () => {
  it('reaches no copy, and so no nginx', async () => {
    origin.isHostile = true;
    const out = path('copy');
    const { code, stderr } = await mirror(out);
    expect([code, stderr]).toEqual([1, expect.stringMatching(REFUSED)]);
    expect(existsSync(`${out}/snapshot.json`)).toBe(false);
    const file = path('nginx.conf');
    const edge = ['edge', 'nginx', '--out', out, '--write', file];
    expect(await snapshot(edge)).toMatchObject({ code: 3 });
    expect(existsSync(file)).toBe(false);
  });

  it('leaves a copy, and what nginx serves of it, as they were', async () => {
    origin.isHostile = false;
    const out = path('copy');
    expect(await mirror(out)).toMatchObject({ code: 0 });
    const before = readFileSync(`${out}/snapshot.json`, 'utf8');
    origin.isHostile = true;
    const { code, stderr } = await mirror(out);
    expect([code, stderr]).toEqual([1, expect.stringMatching(REFUSED)]);
    expect(readFileSync(`${out}/snapshot.json`, 'utf8')).toBe(before);
    const served = await servedBy(out);
    expect(served).toMatchObject({ api: 200, other: 404 });
    expect(served.text).not.toContain('root:');
    origin.isHostile = false;
    expect(await mirror(out)).toMatchObject({ code: 0 });
  });
});
