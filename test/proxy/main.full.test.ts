import { execFileSync, spawn } from 'node:child_process';
import { connect, createServer } from 'node:net';
import { networkInterfaces } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { describe, expect, it, onTestFinished } from 'vitest';

import { errorCode } from '../../proxy/log.js';
import { PROJECT } from '../support/project.js';
import { MAIN, adminOf } from '../support/proxy.js';
import { has } from '../support/programs.js';
import { LIMITS } from '../support/snapshot.js';
import { containing, matching } from '../support/values.js';
import {
  GET,
  ask,
  emptyFolder,
  listenOn,
  listening,
  open,
  problemOf,
  publish,
  publishSnapshot,
  stalled,
  start,
  tree,
} from './support.js';

async function withAdmin(...args: readonly string[]) {
  const started = await listening(['--admin-port', '0', ...args]);
  return { ...started, admin: Number(new URL(adminOf(started)).port) };
}

/** A process of another command, as a group that ends with the test, and everything that it writes. */
function watched(command: string, ...args: readonly string[]) {
  const child = spawn(command, args, { cwd: PROJECT, stdio: ['ignore', 'pipe', 'pipe'], detached: true });
  const { pid = 0 } = child;
  let heard = '';
  for (const stream of [child.stdout, child.stderr])
    stream.on('data', (data: Buffer) => (heard += data.toString('utf8')));
  const ended = new Promise((settle) => child.on('close', settle));
  onTestFinished(() => {
    if (child.exitCode === null && child.signalCode === null) process.kill(-pid, 'SIGKILL');
  });
  const serving = async (): Promise<number> => {
    await expect.poll(() => heard, { timeout: 20_000 }).toMatch(/ proxy on .* serving /);
    return Number(/http:\/\/127\.0\.0\.1:(\d+) /.exec(heard)?.[1]);
  };
  return { pid, heard: () => heard, ended, serving };
}

const stalledDownload = (port: number) => stalled(port, GET('/downloads/groups.csv'));

async function treeWithDownload(): Promise<string> {
  const root = await tree();
  await publish(root, 'downloads/groups.csv', Buffer.alloc(DOWNLOAD_BYTES, 'x'));
  return root;
}

const DOWNLOAD_BYTES = 20_000_000;

/** Starts a proxy that must end, and say nothing but why. @returns its exit code and that */
async function endOf(args: readonly string[], env: Record<string, string> = {}) {
  const { ended, output } = start(args, env);
  const code = await ended;
  expect(output.stdout).toBe('');
  return [code, output.stderr];
}

const guess = (text: string): unknown =>
  matching(new RegExp(`^error: .*\n\\(Did you mean ${text}\\?\\)\nRun with --help for usage.\n$`));
const ofTree = (text: string): unknown => matching(new RegExp(`^register-api proxy: --out ".+"${text}\n$`));

describe('main: misuse', () => {
  it('ends with 2 and says why if it can not read its command line or environment', async () => {
    expect(await endOf(['--prot', '80'])).toEqual([2, guess('--port')]);
    expect(await endOf(['site'])).toEqual([2, guess('--out site')]);
    const unknown = matching(/^register-api proxy: PROXY_API_TOKENS: no such setting; .*\n$/);
    expect(await endOf([], { PROXY_API_TOKENS: '60' })).toEqual([2, unknown]);
  });

  it('ends with 3 and one line if the tree is of a newer format, broken, or no folder', async () => {
    const [newer, broken] = [await emptyFolder(), await emptyFolder()];
    await publishSnapshot(newer, { format: 99 });
    await publish(broken, 'snapshot.json', '{"format":1');
    for (const [dist, said] of [
      [newer, ': the tree is of format 99, .+'],
      [broken, String.raw`: snapshot\.json is not JSON \(see verify --repair\)`],
      ['/nowhere', ' does not exist: build it first, .+'],
      [join(newer, 'snapshot.json'), ': expected a folder'],
    ] as const)
      expect(await endOf(['--dist', dist])).toEqual([3, ofTree(said)]);
  });

  it('ends with 3 if a port is taken, and names the setting; or if the address is not ours', async () => {
    const [dist, port] = [`--dist=${await tree()}`, await listenOn(createServer())];
    const place = `127.0.0.1 port ${port} (EADDRINUSE)`;
    for (const [args, said] of [
      [[`--port=${port}`], `${place}: the port is taken, choose another with --port or PROXY_PORT\n`],
      [
        ['--port=0', `--admin-port=${port}`],
        `${place}: the port is taken, choose another with --admin-port or PROXY_ADMIN_PORT\n`,
      ],
      [['--host=192.0.2.1', '--port=0'], "can't listen on 192.0.2.1 port 0 (EADDRNOTAVAIL)"],
    ] as const)
      expect(await endOf([dist, ...args])).toEqual([3, containing(said)]);
  });
});

describe('main', () => {
  it('goes on serving when nobody reads its output', async () => {
    const { child, port } = await listening(['--dist', await emptyFolder()]);
    child.stdout?.destroy();
    child.stderr?.destroy();
    expect((await ask(port, '/api/v1')).status).toBe(503);
    expect((await ask(port, '/api/v1')).status).toBe(503);
  });

  it('ends with 70 after a defect, and logs where that is', async () => {
    const code = `process.once('SIGUSR2', () => { throw new Error('of the test'); })`;
    const environment = { NODE_OPTIONS: `--import=data:text/javascript,${encodeURIComponent(code)}` };
    const { child, output } = await listening(['--dist', await emptyFolder()], environment);
    child.kill('SIGUSR2');
    await expect.poll(() => output.stderr).toMatch(/ a defect: Error: of the test\n +at /);
    await expect.poll(() => child.exitCode).toBe(70);
  });

  it('writes its access log to stdout, and what is for people to stderr', async () => {
    const root = await tree();
    const args = ['--dist', root, '--port', '0', '--access-log'];
    const { child, ended, output } = start(args);
    await expect.poll(() => output.stderr, { timeout: 5_000 }).toContain(' proxy on ');
    const port = Number(/http:\/\/127\.0\.0\.1:(\d+) /.exec(output.stderr)?.[1]);
    for (let count = 0; count < 20; count += 1) await ask(port, `/api/v1/group/${count}`);
    child.kill('SIGTERM');
    expect(await ended).toBe(0);
    const lines = output.stdout.trimEnd().split('\n');
    expect(lines.length).toBe(20);
    for (const [index, text] of lines.entries())
      expect(problemOf({ text })['path']).toBe(`/api/v1/group/${index}`);
  });

  it('responds 500 or not at all when it runs out of file descriptors, and goes on when it has some', async () => {
    const command = [process.execPath, MAIN, '--dist', await tree(), '--port', '0'];
    const { pid, heard, serving } = watched('/bin/sh', '-c', 'ulimit -n 160; exec "$0" "$@"', ...command);
    const port = await serving();
    const statusOf = async () => (await ask(port, '/api/v1/group/7').catch(() => undefined))?.status;
    const early = await open(port);
    const crowd = Array.from({ length: 200 }, () => connect(port, '127.0.0.1').on('error', () => undefined));
    // Nobody is accepted any more.
    await expect.poll(statusOf).toBeUndefined();
    early.socket.write(GET('/api/v1/group/7'));
    await expect.poll(early.heard).toMatch(/^HTTP\/1\.1 500 /);
    for (const socket of crowd) socket.destroy();
    await expect.poll(statusOf, { timeout: 5_000 }).toBe(200);
    expect(() => process.kill(pid, 0)).not.toThrow();
    expect(heard()).toMatch(/can't \w+ api\/v1\/group\/7\.json: EMFILE/);
  });
});

describe('main: signals', () => {
  it('SIGHUP finishes a download in flight, accepts nothing new, and ends with 0', async () => {
    const root = await treeWithDownload();
    const { child, ended, output, port } = await listening([], { PROXY_DIST: root });
    expect(output.stdout).toBe(
      `register-api proxy on http://127.0.0.1:${port} serving ${root} (snapshot 3, as of 2026-11-20T08:00:00Z)\n`,
    );
    const { socket, heard, closed } = await stalledDownload(port);
    child.kill('SIGHUP');
    await expect.poll(async () => ask(port, '/').catch(() => 'refused')).toBe('refused');
    expect(child.exitCode).toBeNull();
    socket.resume();
    expect(await ended).toBe(0);
    await closed;
    expect(heard().length).toBeGreaterThan(DOWNLOAD_BYTES);
  });

  it('does not wait after a second signal', async () => {
    const { child, ended, output, port } = await listening(['--dist', await treeWithDownload()]);
    await stalledDownload(port);
    child.kill('SIGTERM');
    await expect.poll(() => output.stderr).toContain('SIGTERM: finishing what is in flight');
    // What arrives at once is the same signal.
    await pause(600);
    child.kill('SIGINT');
    expect(await ended).toBe('SIGINT');
  });
});

const HAS_PROMTOOL = has('the names of metrics', 'promtool');

describe('main: operations', () => {
  it('says when it is ready: not beyond --ready-max-age, nor while stopping', async () => {
    const root = await emptyFolder();
    const { admin, child, port } = await withAdmin('--dist', root, '--ready-max-age', '60');
    const readiness = async () => problemOf(await ask(admin, '/readyz'));
    expect((await readiness())['reason']).toBe('no snapshot yet');
    await publish(root, 'downloads/groups.csv', Buffer.alloc(DOWNLOAD_BYTES, 'x'));
    await publishSnapshot(root, { built_at: '2020-01-01T00:00:00Z' });
    await expect.poll(readiness).toMatchObject({ reason: 'the snapshot was built more than 60 s ago' });
    await publishSnapshot(root, { sequence: 4, built_at: new Date().toISOString() });
    await expect.poll(readiness).toMatchObject({ ready: true, sequence: 4 });
    // Not on the public port.
    expect((await ask(port, '/healthz')).status).toBe(404);
    await stalledDownload(port);
    child.kill('SIGTERM');
    await expect.poll(readiness).toMatchObject({ reason: 'stopping' });
  });

  it('counts what the proxy did', async () => {
    // Each download costs a token, small as it is.
    const limits = { ...LIMITS, download: { tokens: 1, refill_seconds: 60, token_bytes: 1 } };
    const { admin, port } = await withAdmin('--dist', await tree({ limits }));
    const targets = ['/api/v1/group/7', '/api/v1/group/7', '/nothing', '/downloads/groups.csv'];
    for (const target of [...targets, '/downloads/groups.csv']) await ask(port, target);
    for (let count = 0; count < 3; count += 1) await ask(port, '/api/v1');
    const { text } = await ask(admin, '/metrics');
    // A file is kept from the second time. The second download is refused after its cost is known.
    for (const line of [
      'requests_total{class="record",status="200"} 2',
      'requests_total{class="download",status="429"} 1',
      'request_duration_seconds_count 8',
      'limiter_refusals_total{limiter="download"} 1',
      'cache_hits_total 1',
      'cache_misses_total 6',
      'limiter_entries{limiter="api"} 1',
      'limiter_evictions_total{limiter="api"} 0',
      'snapshot_sequence 3',
      `snapshot_as_of_timestamp_seconds ${Date.parse('2026-11-20T08:00:00Z') / 1000}`,
      `snapshot_built_timestamp_seconds ${Date.parse('2026-11-20T09:00:00Z') / 1000}`,
      'snapshot_readable 1',
      'connections_dropped_total{reason="client"} 0',
    ])
      expect(text).toContain(`\nregister_proxy_${line}\n`);
    expect(text).toMatch(/^register_proxy_cache_bytes [1-9]/m);
    expect(text).toMatch(/^register_proxy_response_bytes_total\{class="record"\} [1-9]/m);
    expect(text).toMatch(/^register_proxy_build_info\{version="\d+\.\d+\.\d+",node="\d+\.\d+\.\d+"\} 1$/m);
    expect(text).not.toContain('redis_up ');
    // Three of Node's own have names against the conventions.
    const input = text.replaceAll(/^(# \w+ )?nodejs_.*\n/gm, '');
    const complaints = HAS_PROMTOOL ? execFileSync('promtool', ['check', 'metrics'], { input }) : '';
    expect(complaints.toString()).toBe('');
  });

  it('listens on this machine alone unless --admin-host says otherwise', async () => {
    const other = Object.values(networkInterfaces())
      .flat()
      .find((found) => found?.internal === false && found.family === 'IPv4')?.address;
    const reach = (port: number): Promise<string> =>
      new Promise((settle) => {
        const socket = connect(port, other ?? '127.0.0.2', () => settle('connected'));
        socket.on('error', (error) => settle(errorCode(error) ?? ''));
        onTestFinished(() => void socket.destroy());
      });
    const local = await withAdmin('--dist', await tree());
    expect(await reach(local.admin)).toBe('ECONNREFUSED');
    const open = await withAdmin('--dist', await tree(), '--admin-host', '0.0.0.0');
    expect(await reach(open.admin)).toBe('connected');
  });
});
