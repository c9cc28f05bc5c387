/** Requests that no path can be read from, and trees with links, in nginx as in the proxy. */
import { readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { createConnection } from 'node:net';
import { spawn } from 'node:child_process';
import { mkdirSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { z } from 'zod';
import { writeSample } from '../../../data/sample.js';
import { startNginx, serving } from '../../system/contract/servers.js';
import { buildArgs, snapshot } from '../../support/cli.js';
import { temporary } from '../../support/folder.js';
import { freePort } from '../../support/ports.js';
import { has } from '../../support/programs.js';
import { startProxy } from '../../support/proxy.js';

const path = temporary();
const real = path('dist');
// The tree itself may be reached through a link.
const out = path('link');
const isPossible = has('unusual requests to nginx', 'nginx');
const bases = { proxy: '', nginx: '' };
const stops: (() => Promise<unknown>)[] = [];

beforeAll(async () => {
  if (!isPossible) return;
  const register = path('register.sqlite');
  await writeSample({ file: register, records: 50, seed: 3 });
  const { code, stderr } = await snapshot(buildArgs(register, real));
  if (code !== 0) throw new Error(stderr);
  symlinkSync(real, out);
  const [proxy, nginx] = [await startProxy(out), await startNginx(out, path('nginx'), [])];
  stops.push(proxy.stop, nginx.stop);
  Object.assign(bases, { proxy: proxy.base, nginx: nginx.base });
});

afterAll(async () => {
  for (const stop of stops) await stop();
});

/** What a server sends for some bytes, until it closes the connection. */
const sent = (base: string, bytes: string): Promise<string> =>
  new Promise((settle, reject) => {
    let text = '';
    const socket = createConnection(Number(new URL(base).port), '127.0.0.1', () => socket.write(bytes));
    socket.setTimeout(5000, () => socket.destroy(new Error(`no end: ${text}`)));
    socket.on('data', (data) => (text += data.toString('latin1')));
    // A server may close while it is still being written to.
    socket.on('error', (error) => (text === '' ? reject(error) : settle(text)));
    socket.on('close', () => settle(text));
  });

const problem = z.object({ status: z.int(), error: z.string() });

async function refusalOf(base: string, bytes: string) {
  const text = await sent(base, bytes);
  const [head = '', body = ''] = text.split('\r\n\r\n');
  const { status, error } = problem.parse(JSON.parse(body));
  const [, line] = /^HTTP\/1\.1 (\d+)/.exec(head) ?? [];
  return {
    line: Number(line),
    status,
    error,
    isProblem: /^content-type: application\/problem\+json\r?$/im.test(head),
    isForAll: /^access-control-allow-origin: \*\r?$/im.test(head),
    isKept: !/^cache-control: no-store\r?$/im.test(head),
  };
}

describe.runIf(isPossible)('nginx', () => {
  it.each([
    ['another version of HTTP', 'GET /api/v1 HTTP/2.0\r\nHost: h\r\n\r\n', 505, 'version_not_supported'],
    [
      'a request line that is too long',
      `GET /?${'a'.repeat(17_000)} HTTP/1.1\r\nHost: h\r\n\r\n`,
      414,
      'uri_too_long',
    ],
    [
      'headers that are too long',
      `GET / HTTP/1.1\r\nHost: h\r\nX: ${'a'.repeat(70_000)}\r\n\r\n`,
      400,
      'invalid_request',
    ],
    ['a line that is none', 'x\r\n\r\n', 400, 'invalid_path'],
    [
      'a path that is too long',
      `GET /${'a'.repeat(3000)} HTTP/1.1\r\nHost: h\r\nConnection: close\r\n\r\n`,
      414,
      'uri_too_long',
    ],
  ])('refuses %s by a problem document', async (_, bytes, status, error) => {
    expect(await refusalOf(bases.nginx, bytes)).toEqual({
      line: status,
      status,
      error,
      isProblem: true,
      isForAll: true,
      isKept: false,
    });
  });

  it('logs nothing of a request that it refuses', async () => {
    const [folder, port] = [path('logged'), await freePort()];
    mkdirSync(folder);
    const file = `${folder}/nginx.conf`;
    const args = ['edge', 'nginx', '--out', out, '--listen', `127.0.0.1:${port}`, '--write', file];
    expect(await snapshot(args)).toMatchObject({ code: 0 });
    const user = process.getuid?.() === 0 ? ['-g', 'user root;'] : [];
    const child = spawn('nginx', ['-e', 'stderr', '-p', folder, '-c', file, ...user], { stdio: 'pipe' });
    let said = '';
    child.stderr.on('data', (data: Buffer) => (said += data.toString()));
    const { base, stop } = await serving(port, child);
    for (let count = 0; count < 20; count += 1) {
      await sent(base, 'GET /api/v1 HTTP/2.0\r\nHost: h\r\n\r\n');
      await sent(base, `GET /?${'a'.repeat(17_000)} HTTP/1.1\r\nHost: h\r\n\r\n`);
    }
    await stop();
    expect(said.split('\n').filter((line) => line.includes('[error]'))).toEqual([]);
  });

  it('follows no link in the tree, as the proxy does not', async () => {
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
    for (const base of [bases.proxy, bases.nginx]) {
      for (const target of ['/api/v1/stats', '/feeds/all.atom', '/feeds/passwd']) {
        const response = await fetch(base + target, { headers: { 'Accept-Encoding': 'identity' } });
        expect([base === bases.proxy, target, response.status]).toEqual([base === bases.proxy, target, 404]);
        expect(await response.text()).not.toContain('secret');
      }
      expect((await fetch(`${base}/api/v1`)).status).toBe(200);
    }
  });
});
