/** nginx with the configuration that `edge` writes: odd requests, links, texts of operators. */
import { spawnSync } from 'node:child_process';
import { mkdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { nginxConfiguration } from '../../../../generator/programs/edge/nginx.js';
import { readPublished } from '../../../../generator/programs/edge/published.js';
import type { Snapshot } from '../../../../generator/tree/snapshot-json.js';
import { Tree } from '../../../../generator/tree/tree.js';
import { GET, askRaw, problemOf } from '../../../proxy/support.js';
import { sender } from '../../../system/contract/cases.js';
import { serve, startNginx, type EdgeServer } from '../../../system/contract/servers.js';
import { publishedSample } from '../../../support/build.js';
import { newFolder, temporary } from '../../../support/folder.js';
import { freePort } from '../../../support/ports.js';
import { has } from '../../../support/programs.js';

const path = temporary();
const real = path('a "tree" $of {mine};');
// The tree itself may be reached through a link.
const out = path('link');
const isPossible = has('nginx with the configuration of edge', 'nginx');
let nginx: EdgeServer | undefined;

beforeAll(async () => {
  if (!isPossible) return;
  const register = path('register.sqlite');
  await publishedSample(register, real);
  symlinkSync(real, out);
  nginx = await startNginx(out, path('nginx'), []);
});

afterAll(() => nginx?.stop());

/** Header values and titles that would end a string, or become a variable. */
const NASTY = [`a"b'c`, `\\d$host\${e}`, `;}#`, `{"x"}`, `"`, '$', '\\'];

function nasty(): Snapshot {
  const published = readPublished(new Tree(real));
  const all = Object.fromEntries(NASTY.map((value, index) => [`X-Nasty-${index}`, value]));
  const errors = Object.fromEntries(
    Object.entries(published.errors).map(([code, error]) => [code, { ...error, title: NASTY.join(' ') }]),
  );
  return { ...published, errors, headers: { ...published.headers, all } };
}

describe.runIf(isPossible)('nginx', () => {
  it.each([
    ['another version of HTTP', 'GET /api/v1 HTTP/2.0\r\nHost: h\r\n\r\n', 505, 'version_not_supported'],
    ['a request line that is too long', GET(`/?${'a'.repeat(17_000)}`), 414, 'uri_too_long'],
    ['headers that are too long', GET('/', `X: ${'a'.repeat(70_000)}`), 400, 'invalid_request'],
    ['a line that is none', 'x\r\n\r\n', 400, 'invalid_path'],
    ['a path that is too long', GET(`/${'a'.repeat(3000)}`, 'Connection: close'), 414, 'uri_too_long'],
  ])('refuses %s by a problem document', async (_, bytes, status, error) => {
    const [head = '', text = ''] = (await askRaw(nginx?.port ?? 0, bytes, 5_000)).split('\r\n\r\n');
    expect(head).toMatch(new RegExp(`^HTTP/1\\.1 ${status} `));
    expect(head).toMatch(/^content-type: application\/problem\+json\r?$/im);
    expect(head).toMatch(/^access-control-allow-origin: \*\r?$/im);
    expect(head).toMatch(/^cache-control: no-store\r?$/im);
    expect(problemOf({ text })).toMatchObject({ status, error });
  });

  it('sends any header and title as it is, from a folder of any name', async () => {
    const port = await freePort();
    const file = path('nasty.conf');
    const folder = newFolder(path('nasty'));
    const options = { out: real, file, listen: `127.0.0.1:${port}`, trusted: [] };
    writeFileSync(file, nginxConfiguration(nasty(), options).text);
    const { base, stop } = await serve(port, folder, file);
    const send = sender(base);
    const found = await send('/api/v1');
    const missing = await send('/nothing');
    await stop();
    expect(found.status).toBe(200);
    for (const [index, value] of NASTY.entries()) expect(found.headers[`x-nasty-${index}`]).toBe(value);
    expect(JSON.parse(missing.body.toString())).toMatchObject({ status: 404, title: NASTY.join(' ') });
  });

  it('reads limits of one token and of a million', () => {
    const published = readPublished(new Tree(real));
    const [one, million] = [
      { tokens: 1, refill_seconds: 1 },
      { tokens: 1_000_000, refill_seconds: 1 },
    ];
    const limits = { api: million, download: { ...one, token_bytes: 1 }, page: one };
    const [folder, file] = [path('tokens'), path('tokens.conf')];
    const options = { out: real, file, listen: '127.0.0.1:80', trusted: ['10.0.0.0/8', '2001:db8::/32'] };
    writeFileSync(file, nginxConfiguration({ ...published, limits }, options).text);
    mkdirSync(folder);
    const args = ['-t', '-e', 'stderr', '-p', folder, '-c', file];
    const { status, stderr } = spawnSync('nginx', args, { encoding: 'utf8' });
    expect([status, stderr]).toEqual([0, expect.stringContaining('syntax is ok')]);
  });

  it('follows no link in the tree', async () => {
    const secret = path('secret');
    writeFileSync(secret, 'secret');
    const [document, folder] = [`${real}/api/v1/stats.json`, `${real}/feeds`];
    const content = readFileSync(document);
    rmSync(document);
    symlinkSync(secret, document);
    rmSync(`${document}.gz`, { force: true });
    rmSync(`${document}.br`, { force: true });
    rmSync(folder, { recursive: true });
    symlinkSync('/etc', folder);
    writeFileSync(`${real}/.linked`, content);
    for (const target of ['/api/v1/stats', '/feeds/all.atom', '/feeds/passwd']) {
      const response = await fetch(nginx?.base + target, { headers: { 'Accept-Encoding': 'identity' } });
      expect([target, response.status]).toEqual([target, 404]);
      expect(await response.text()).not.toContain('secret');
    }
    expect((await fetch(`${nginx?.base}/api/v1`)).status).toBe(200);
  });
});
