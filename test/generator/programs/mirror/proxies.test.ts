/** Requests go through the forward proxies that the environment names. */
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { connect } from 'node:net';
import { createServer } from 'node:tls';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { snapshot } from '../../../support/cli.js';
import { forwardProxy } from '../../../support/forward-proxy.js';
import { listenOn } from '../../../support/ports.js';
import { has } from '../../../support/programs.js';
import { isThorough } from '../../../support/thorough.js';
import { inProcess } from '../../publish/support.js';
import { copying } from './copies.js';
import { documentsOf } from './made-up.js';

const { path, origin, base, out } = await copying();
const ONE = documentsOf({ 1: 'one' });
const PORT = Number(new URL(base).port);

afterEach(() => void vi.unstubAllEnvs());

const mirrored = async (from: string) => {
  origin.publish(ONE);
  const { code, stderr } = await inProcess('mirror', from, '--out', out);
  return [code, stderr];
};

describe('a mirror', () => {
  it.each(['HTTP_PROXY', 'http_proxy'])('goes through the proxy of %s, in absolute form', async (name) => {
    const proxy = await forwardProxy({ 'origin.invalid': PORT });
    vi.stubEnv('http_proxy', undefined);
    vi.stubEnv(name, proxy.url);
    expect(await mirrored('http://origin.invalid')).toEqual([0, '']);
    expect(proxy.asked).toContain('GET http://origin.invalid/snapshot.json');
    expect(proxy.asked).toHaveLength(origin.asked().length);
  });

  it('goes past it to a host of NO_PROXY', async () => {
    const proxy = await forwardProxy({});
    vi.stubEnv('http_proxy', proxy.url);
    vi.stubEnv('NO_PROXY', 'example.org,127.0.0.1');
    expect(await mirrored(base)).toEqual([0, '']);
    expect(proxy.asked).toEqual([]);
  });

  it.each(['127.0.0.1:3128', 'ftp://127.0.0.1'])('is refused with the proxy %s', async (value) => {
    vi.stubEnv('http_proxy', value);
    expect(await mirrored(base)).toEqual([
      2,
      expect.stringContaining('HTTP_PROXY or HTTPS_PROXY is no URL of a proxy, expected http://HOST:PORT'),
    ]);
  });
});

const HAS_OPENSSL = isThorough && has('a mirror by https through a proxy', 'openssl');

it.skipIf(!HAS_OPENSSL)('a mirror by https goes through a tunnel of HTTPS_PROXY', async () => {
  const [key, cert] = [path('key.pem'), path('cert.pem')];
  const name = ['-subj', '/CN=origin.invalid', '-addext', 'subjectAltName=DNS:origin.invalid'];
  const made = ['-x509', '-days', '1', '-newkey', 'rsa:2048', '-nodes', '-keyout', key, '-out', cert];
  execFileSync('openssl', ['req', ...made, ...name], { stdio: 'ignore' });
  const secure = createServer({ key: readFileSync(key), cert: readFileSync(cert) }, (socket) => {
    const plain = connect(PORT, '127.0.0.1');
    socket.pipe(plain).pipe(socket);
    for (const each of [socket, plain]) each.on('error', () => [socket, plain].map((end) => end.destroy()));
  });
  const proxy = await forwardProxy({ 'origin.invalid': await listenOn(secure) });
  vi.stubEnv('https_proxy', undefined);
  vi.stubEnv('HTTPS_PROXY', proxy.url);
  vi.stubEnv('NODE_EXTRA_CA_CERTS', cert);
  origin.publish(ONE);
  const ran = await snapshot(['mirror', 'https://origin.invalid', '--out', out, '--quiet']);
  expect(ran).toEqual({ code: 0, stdout: '', stderr: '' });
  expect(new Set(proxy.asked)).toEqual(new Set(['CONNECT origin.invalid:443']));
});

it('a proof is asked for through the proxy as well', async () => {
  const proxy = await forwardProxy({ 'origin.invalid': PORT });
  vi.stubEnv('http_proxy', proxy.url);
  origin.publish(ONE);
  const { stderr } = await inProcess('prove', 'http://origin.invalid', '/api/v1/group/1');
  expect(proxy.asked).toContain('GET http://origin.invalid/snapshot.json');
  expect(stderr).not.toContain('ENOTFOUND');
});
