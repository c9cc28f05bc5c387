/** The files of deploy/ that other programs read, given to those programs. */
import { spawn } from 'node:child_process';
import { copyFileSync, cpSync, openSync, readFileSync, readdirSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import * as z from 'zod';
import { PROJECT, newFolder, temporary } from '../support/folder.js';
import { has } from '../support/programs.js';
import { startProxy } from '../support/proxy.js';
import { siteOf } from '../support/site.js';
import { serve, temporariesIn } from '../system/contract/servers.js';
import { DEPLOY, DONE, run } from './run.js';
import { freePort } from '../support/ports.js';
import { matching } from '../support/values.js';

const path = temporary();
const read = (file: string): string => readFileSync(join(DEPLOY, file), 'utf8');

const { out } = await siteOf(path, { groups: [{ id: 1, name: 'one' }] });

const UNITS = readdirSync(DEPLOY).filter((name) => /\.(service|timer)$/.test(name));
const HAS_SYSTEMD = has('the units of deploy/', 'systemd');

describe.skipIf(!HAS_SYSTEMD)('the units', () => {
  /** A folder with the units, as they are for this checkout and this Node. */
  function units(): string {
    const folder = newFolder(path('units'));
    for (const unit of UNITS) {
      const text = read(unit).replaceAll('/srv/register-api', PROJECT.replace(/\/$/, ''));
      writeFileSync(join(folder, unit), text.replaceAll('/usr/bin/node', process.execPath));
    }
    // As two proxies have it installed.
    copyFileSync(join(folder, 'register-proxy.service'), join(folder, 'register-proxy@.service'));
    cpSync(join(DEPLOY, 'register-proxy@.service.d'), join(folder, 'register-proxy@.service.d'), {
      recursive: true,
    });
    return folder;
  }

  it.each(UNITS)('%s is one that systemd understands', async (unit) => {
    const file = join(units(), unit.replace('@.', '@instance.'));
    expect(await run(['systemd-analyze', 'verify', '--man=no', file])).toEqual(DONE);
  });

  it.each(UNITS.filter((name) => name.endsWith('.service')))('%s is confined', async (unit) => {
    const offline = ['security', '--offline=true', '--no-pager', '--threshold=20'];
    const { code, output } = await run(['systemd-analyze', ...offline, join(units(), unit)]);
    const level = /Overall exposure level.*: (\S+ \w+)/.exec(output)?.[1];
    expect([code, level]).toEqual([0, matching(/^[01]\.\d OK|^2\.0 OK/)]);
  });
});

const HAS_PROMTOOL = has('the alerts of deploy/', 'promtool');
const dashboardSchema = z.object({
  panels: z.array(z.object({ targets: z.array(z.object({ expr: z.string() })) })),
});

describe.skipIf(!HAS_PROMTOOL)('the alerts', () => {
  it('fire for what they are about, and not before', async () => {
    const tests = join(PROJECT, 'test/deploy/prometheus-alerts.yml');
    expect(await run(['promtool', 'test', 'rules', tests])).toMatchObject({ code: 0 });
    for (const [, alert = ''] of read('prometheus-alerts.yml').matchAll(/alert: (\S+)/g))
      expect(readFileSync(tests, 'utf8')).toMatch(new RegExp(`alertname: ${alert}\\s+exp_alerts:\\s+- `));
  });

  it('and the queries of the dashboard are expressions of Prometheus', async () => {
    const { panels } = dashboardSchema.parse(JSON.parse(read('grafana-dashboard.json')));
    const queries = panels.flatMap(({ targets }) => targets.map(({ expr }) => expr));
    const rules = queries.map((expr, index) => ({
      record: `query:${index}`,
      expr: expr.replaceAll('$__rate_interval', '5m'),
    }));
    const file = path('rules.yml');
    // JSON is YAML.
    writeFileSync(file, JSON.stringify({ groups: [{ name: 'dashboard', rules }] }));
    expect(await run(['promtool', 'check', 'rules', file])).toMatchObject({ code: 0 });
  });
});

/** By curl, which takes any certificate. */
async function get(url: string, ...options: string[]) {
  const silent = ['-ksS', '--http2', '-o', '/dev/null', '-D', '-'];
  const { output } = await run(['curl', ...silent, '-H', 'Host: register.example', ...options, url]);
  return { status: Number(/^HTTP\/\S+ (\d+)/.exec(output)?.[1]), headers: output.toLowerCase() };
}

const AMPLE = { tokens: 1_000_000 };

/** nginx with the file, changed, on free ports, before a proxy with this limit of the API. */
async function start(
  api: { readonly tokens: number; readonly refill_seconds?: number },
  change = (text: string): string => text,
): Promise<{ http: string; https: string }> {
  const folder = newFolder(path('nginx'));
  const [http, https, proxy] = await Promise.all([
    freePort(),
    freePort(),
    startProxy(out, ['--trust-proxy', 'loopback'], { limits: { api } }),
  ]);
  onTestFinished(() => void proxy.stop());
  const key = ['-newkey', 'rsa:2048', '-nodes', '-keyout', join(folder, 'privkey.pem')];
  const certificate = ['-out', join(folder, 'fullchain.pem'), '-subj', '/CN=register.example'];
  await run(['openssl', 'req', '-x509', '-days', '1', ...key, ...certificate]);
  const server = change(read('nginx-tls.conf'))
    .replaceAll('/etc/letsencrypt/live/register.example', folder)
    .replaceAll('/var/cache', folder)
    .replaceAll('127.0.0.1:8080', new URL(proxy.base).host)
    .replaceAll('[::]:', '[::1]:')
    .replaceAll(/(?<=listen (\[::1\]:)?)(80|443)/g, (port) => String(port === '80' ? http : https));
  const file = join(folder, 'nginx.conf');
  writeFileSync(
    file,
    `daemon off; worker_processes 1; pid ${folder}/pid; error_log ${folder}/error.log;
    events { } http { access_log off; ${temporariesIn('tmp')} ${server} }`,
  );
  expect(await run(['nginx', '-t', '-q', '-e', 'stderr', '-p', folder, '-c', file])).toEqual(DONE);
  const { base, stop } = await serve(http, folder, file);
  onTestFinished(stop);
  return { http: base, https: `https://127.0.0.1:${https}` };
}

const HAS_NGINX = has('nginx with TLS', 'nginx', 'openssl', 'curl');

describe.skipIf(!HAS_NGINX)('nginx-tls.conf', () => {
  it('serves by HTTP/2 with TLS, from its cache the second time, and redirects HTTP', async () => {
    const { http, https } = await start(AMPLE);
    const [first, second] = [await get(`${https}/api/v1/group/1`), await get(`${https}/api/v1/group/1`)];
    expect(first.headers).toMatch(/^http\/2 200[^]*\nx-cache: miss/);
    expect(second.headers).toMatch(/^http\/2 200[^]*\nx-cache: hit/);
    expect(first.headers).not.toContain('strict-transport-security');
    const redirect = await get(`${http}/api/v1?a=b`);
    expect(redirect.headers).toContain('location: https://register.example/api/v1?a=b');
    expect(redirect.headers).toContain('cache-control: no-store');
  });

  it('sends Strict-Transport-Security with everything, once that is enabled', async () => {
    const { http, https } = await start(AMPLE, (text) =>
      text.replace('# add_header Strict-', 'add_header Strict-'),
    );
    const targets = { '/': 200, '/api/v1/group/1': 200, '/downloads/groups.csv': 200, '/nothing': 404 };
    for (const [target, status] of Object.entries(targets)) {
      const reply = await get(https + target);
      expect(reply.status).toBe(status);
      expect(reply.headers, target).toMatch(/\nstrict-transport-security: max-age=15768000\r\n/);
    }
    // By HTTP it means nothing (RFC 6797 7.2).
    expect((await get(http)).headers).not.toContain('strict-transport-security');
  });

  it('passes the address of a client, not what the client says it is', async () => {
    const { https } = await start({ tokens: 3, refill_seconds: 600 });
    const statuses: number[] = [];
    for (const id of [1, 2, 3, 4]) {
      const spoof = `X-Forwarded-For: 198.51.100.${id}`;
      statuses.push((await get(`${https}/api/v1/group/${id + 1}`, '-H', spoof)).status);
    }
    expect(statuses).toEqual([404, 404, 404, 429]);
  });
});

const HAS_LOGROTATE = has('the rotation of the access log', 'logrotate');

it.skipIf(!HAS_LOGROTATE)('logrotate.conf rotates a log that the proxy goes on writing', async () => {
  const folder = newFolder(path('log'));
  const log = join(folder, 'access.log');
  const port = await freePort();
  const options = ['--dist', out, '--port', String(port), '--access-log'];
  // Opened as systemd does for StandardOutput=append:FILE.
  const proxy = spawn(process.execPath, [join(PROJECT, 'build/proxy/main.js'), ...options], {
    stdio: ['ignore', openSync(log, 'a'), 'ignore'],
  });
  onTestFinished(() => void proxy.kill('SIGKILL'));
  const request = async (name: string) => (await fetch(`http://127.0.0.1:${port}/${name}`)).status;
  await expect.poll(() => request('before').catch(() => 0)).toBe(404);
  await expect.poll(() => readFileSync(log, 'utf8')).toContain('/before');
  const file = join(folder, 'logrotate.conf');
  writeFileSync(file, read('logrotate.conf').replaceAll('/var/log/register-proxy', folder), { mode: 0o644 });
  const rotated = await run(['logrotate', '--force', '--state', join(folder, 'state'), file]);
  expect(rotated).toEqual(DONE);
  expect(statSync(log).size).toBe(0);
  expect(readFileSync(`${log}.1`, 'utf8')).toContain('/before');
  await request('after');
  await expect.poll(() => readFileSync(log, 'utf8')).toMatch(/^\{"level":"info".*"path":"\/after"/);
});
