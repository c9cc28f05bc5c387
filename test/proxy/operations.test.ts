import { connect } from 'node:net';
import { networkInterfaces } from 'node:os';
import { describe, expect, it, onTestFinished } from 'vitest';

import { errorCode } from '../../proxy/files.js';
import { listening, start, type Process } from './process.js';
import { ask, emptyFolder, problemOf, publishSnapshot, tree } from './support.js';

/** The operations port of the real process. */
async function withAdmin(args: readonly string[]): Promise<Process & { port: number; admin: number }> {
  const started = await listening(['--admin-port', '0', ...args]);
  await expect.poll(() => started.output.stderr).toContain('/metrics');
  const admin = Number(/operations on http:\/\/127\.0\.0\.1:(\d+): /.exec(started.output.stderr)?.[1]);
  return { ...started, admin };
}

/** The samples of a scrape, by name and labels as printed. */
async function scrape(admin: number): Promise<Map<string, number>> {
  const { text, headers } = await ask(admin, '/metrics');
  expect(headers['content-type']).toContain('text/plain');
  const lines = text.split('\n').filter((line) => line !== '' && !line.startsWith('#'));
  return new Map(
    lines.map((line) => [line.slice(0, line.lastIndexOf(' ')), Number(line.slice(line.lastIndexOf(' ')))]),
  );
}

describe('--admin-port', () => {
  it('says that the process lives, and from when on it is ready, without any other request', async () => {
    const root = await emptyFolder();
    const { admin, port } = await withAdmin(['--dist', root]);
    expect((await ask(admin, '/healthz')).text).toBe('{"status":"ok"}\n');
    const waiting = await ask(admin, '/readyz');
    expect([waiting.status, problemOf(waiting)['reason']]).toEqual([503, 'no snapshot yet']);
    expect(waiting.headers['cache-control']).toBe('no-store');
    await publishSnapshot(root);
    await expect.poll(async () => (await ask(admin, '/readyz')).status, { timeout: 3_000 }).toBe(200);
    expect(problemOf(await ask(admin, '/readyz'))).toMatchObject({ ready: true, sequence: 3 });
    // Not on the public port.
    expect((await ask(port, '/healthz')).status).toBe(404);
  });

  it('answers other paths by 404, other methods by 405, and HEAD without a body', async () => {
    const { admin } = await withAdmin(['--dist', await tree()]);
    expect((await ask(admin, '/')).status).toBe(404);
    expect((await ask(admin, '/__proto__')).status).toBe(404);
    const posted = await ask(admin, '/metrics', { method: 'POST' });
    expect([posted.status, posted.headers.allow]).toEqual([405, 'GET, HEAD']);
    const head = await ask(admin, '/readyz?x=y', { method: 'HEAD' });
    expect([head.status, head.text]).toEqual([200, '']);
  });

  it('counts what the proxy did', async () => {
    const { admin, port } = await withAdmin([
      '--dist',
      await tree(),
      '--api-tokens',
      '100',
      '--download-tokens',
      '1',
    ]);
    const targets = [
      '/api/v1/group/7',
      '/api/v1/group/7',
      '/nothing',
      '/downloads/groups.csv',
      '/downloads/groups.csv',
    ];
    for (const target of targets) await ask(port, target);
    for (let count = 0; count < 3; count += 1) await ask(port, '/api/v1');
    const samples = await scrape(admin);
    expect(
      Object.fromEntries([...samples].filter(([name]) => name.startsWith('register_proxy_'))),
    ).toMatchObject({
      'register_proxy_requests_total{class="record",status="200"}': 2,
      'register_proxy_requests_total{class="unrouted",status="404"}': 1,
      'register_proxy_requests_total{class="download",status="200"}': 1,
      'register_proxy_requests_total{class="download",status="429"}': 1,
      'register_proxy_limiter_refusals_total{limiter="download"}': 1,
      'register_proxy_limiter_entries{limiter="api"}': 1,
      'register_proxy_limiter_evictions_total{limiter="api"}': 0,
      register_proxy_prototypes_kept: 1,
      register_proxy_cache_hits_total: 3,
      register_proxy_cache_misses_total: 3,
      register_proxy_snapshot_sequence: 3,
      register_proxy_connections: 0,
      register_proxy_connections_dropped_total: 0,
    });
    expect(samples.get('register_proxy_cache_bytes')).toBeGreaterThan(3_000);
    expect(samples.get('register_proxy_snapshot_age_seconds')).toBeDefined();
    expect(samples.get('nodejs_eventloop_lag_p99_seconds')).toBeLessThan(5);
    expect(samples.get('process_resident_memory_bytes')).toBeGreaterThan(1e7);
  });

  it('is not ready beyond --max-age', async () => {
    const root = await tree({ built_at: '2020-01-01T00:00:00Z' });
    const { admin } = await withAdmin(['--dist', root, '--max-age', '60']);
    expect((await ask(admin, '/readyz')).status).toBe(503);
    await publishSnapshot(root, { sequence: 4, built_at: new Date().toISOString() });
    await expect.poll(async () => (await ask(admin, '/readyz')).status, { timeout: 3_000 }).toBe(200);
  });

  it('is reached from this machine alone', async () => {
    const { admin } = await withAdmin(['--dist', await tree(), '--host', '127.0.0.1']);
    const other = Object.values(networkInterfaces())
      .flat()
      .find((found) => found?.internal === false)?.address;
    const outcome = await new Promise<string>((settle) => {
      const socket = connect(admin, other ?? '127.0.0.2', () => settle('connected'));
      socket.on('error', (error) => settle(errorCode(error) ?? ''));
      onTestFinished(() => void socket.destroy());
    });
    expect(outcome).toBe('ECONNREFUSED');
  });

  it('ends with 3 if that port is taken', async () => {
    const { admin } = await withAdmin(['--dist', await tree()]);
    const second = start(['--dist', await tree(), '--port', '0', '--admin-port', String(admin)]);
    expect(await second.ended).toBe(3);
    expect(second.output.stderr).toContain(
      `can't listen on 127.0.0.1 port ${admin} (EADDRINUSE): the port is taken\n`,
    );
  });
});
