import { once } from 'node:events';
import { readdirSync, readlinkSync } from 'node:fs';
import { mkdir, mkdtemp, rename, rm, writeFile } from 'node:fs/promises';
import { request, type IncomingHttpHeaders, type OutgoingHttpHeaders } from 'node:http';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { dirname, join, relative } from 'node:path';
import { onTestFinished } from 'vitest';
import { z } from 'zod';

import { createApp, type AppOptions } from '../../proxy/http/app.js';
import { createHttpServer, type ServerOptions } from '../../proxy/http/server.js';
import { Metrics } from '../../proxy/ops/metrics.js';
import type { ActiveSnapshot, QuotaOverrides } from '../../proxy/snapshot/active.js';
import { SnapshotWatcher } from '../../proxy/snapshot/watcher.js';
import { readFile, type Disk, type ReadRequest } from '../../proxy/tree/read.js';
import { listenOn } from '../support/ports.js';
import { portOf, spawnProxy, type ProxyProcess } from '../support/proxy.js';
import { snapshotJson } from '../support/snapshot.js';

/** Hand-made trees, and the proxy on a port of its own with a clock that only moves when told to. */

export { listenOn } from '../support/ports.js';
export { ERRORS, HEADERS, LINK, ROUTES, SERVICE, snapshotJson } from '../support/snapshot.js';

export const FILES: Readonly<Record<string, string>> = {
  'api/v1.json': '{"name":"The Example Register"}',
  'api/v1/group/7.json': '{"id":7,"name":"Søren’s 🦔 group"}',
  'api/v1/group/8.json': '{"id":8}',
  'api/v1/largest/10.json': '{"limit":10}',
  'api/v1/largest/100.json': '{"limit":100}',
  'group/7/history.json': '{"id":7,"members":[]}',
  'changes/index.json': '{"snapshots":[]}',
  'downloads/groups.csv': 'id,name\r\n7,x\r\n',
  'downloads/SHA256SUMS': 'x  groups.csv\n',
  'assets/style-1a2b3c4d5e.css': 'a {}',
  'feeds/all.atom': '<feed/>',
  'index.html': '<!doctype html><title>x</title>',
  '.well-known/security.txt': 'Contact: mailto:x@register.example',
  // No route names these.
  'secret.json': '{"secret":true}',
  '.snapshot/ledger.json': '{"secret":true}',
};

/** Puts a file in place as the generator does: written next to it, then renamed. */
export async function publish(root: string, file: string, content: string | Buffer): Promise<void> {
  const path = join(root, file);
  await mkdir(dirname(path), { recursive: true });
  await writeFile(`${path}.new`, content);
  await rename(`${path}.new`, path);
}

export async function publishSnapshot(root: string, changes: Record<string, unknown> = {}): Promise<void> {
  await publish(root, 'snapshot.json', JSON.stringify(snapshotJson(changes)));
}

/** The files below a folder that this process has open, relative to it. Linux only. */
export function openFiles(root: string): string[] {
  return readdirSync('/proc/self/fd').flatMap((name) => {
    try {
      const path = readlinkSync(`/proc/self/fd/${name}`);
      return path.startsWith(`${root}/`) ? [relative(root, path)] : [];
    } catch {
      return [];
    }
  });
}

/** An empty folder, gone after the test. */
export async function emptyFolder(): Promise<string> {
  const root = await mkdtemp(join(tmpdir(), 'proxy-test-'));
  onTestFinished(() => rm(root, { recursive: true, force: true }));
  return root;
}

/** A small tree, gone after the test unless it says where. */
export async function tree(changes: Record<string, unknown> = {}, folder?: string): Promise<string> {
  const root = folder ?? (await emptyFolder());
  for (const [file, content] of Object.entries(FILES)) await publish(root, file, content);
  await publishSnapshot(root, changes);
  return root;
}

export interface TestOptions extends Partial<Pick<AppOptions, 'isTrusted' | 'redis'>> {
  readonly quotas?: Partial<QuotaOverrides>;
  readonly server?: Partial<ServerOptions>;
  readonly disk?: Disk;
}

/** A disk without bounds. */
export const INLINE_DISK: Disk = { read: readFile };

/** Something that is waited for until it is let go. */
export function gate(): { readonly passed: Promise<void>; readonly letGo: () => void } {
  let settle: (() => void) | undefined;
  const passed = new Promise<void>((resolve) => (settle = resolve));
  return { passed, letGo: () => settle?.() };
}

/** A disk that does something else once it is told to: `undefined` has it read again. */
export function controlledDisk() {
  const requests: ReadRequest[] = [];
  const reads: string[] = [];
  let interfering: Disk['read'] | undefined;
  const read: Disk['read'] = (request) => {
    requests.push(request);
    reads.push(request.path);
    return (interfering ?? INLINE_DISK.read)(request);
  };
  const interfere = (other: Disk['read'] | undefined): void => void (interfering = other);
  return { disk: { read }, requests, reads, interfere };
}

/** A disk that fails to read one file. */
export function failingDisk(path: string, code = 'EIO'): Disk {
  const error = Object.assign(new Error(`${code}: i/o error, read`), { code });
  const read: Disk['read'] = (request) =>
    request.path === path ? Promise.reject(error) : INLINE_DISK.read(request);
  return { read };
}

/** The snapshot in service. */
export function inService({ active }: Pick<SnapshotWatcher, 'active'>): ActiveSnapshot {
  if (active === undefined) throw new Error('expected a snapshot in service');
  return active;
}

/** A limit that no test reaches. */
const ample = { burst: 1_000_000 };
export const UNLIMITED = { api: ample, download: ample, page: ample };

export interface AskOptions {
  readonly method?: string;
  readonly headers?: OutgoingHttpHeaders;
  readonly from?: string;
}

export interface Answer {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  /** Names as sent, in order, but for Node's own. */
  readonly names: readonly string[];
  readonly body: Buffer;
  readonly text: string;
}

/** The whole proxy except for the process around it, on a free port, stopped after the test. */
export async function startProxy(root: string, options: TestOptions = {}) {
  let nowMs = Date.UTC(2100, 0, 1);
  const log: string[] = [];
  const dependencies = { clock: () => nowMs, log: (line: string) => void log.push(line) };
  const { disk = INLINE_DISK, quotas, isTrusted = () => false, redis } = options;
  const overrides = { api: {}, download: {}, page: {}, ...quotas };
  const watcher = new SnapshotWatcher(root, overrides, disk, dependencies);
  await watcher.start();
  const metrics = new Metrics();
  const app = createApp({ ...dependencies, watcher, disk, metrics, isTrusted, redis });
  const { server, connections, stop } = createHttpServer(app, {
    maxConnections: 10_000,
    maxConnectionsPerClient: 10_000,
    isTrusted,
    metrics,
    ...options.server,
  });
  const port = await listenOn(server);
  onTestFinished(() => watcher.stop());
  return {
    root,
    port,
    server,
    connections,
    stop,
    log,
    watcher,
    metrics,
    /** Moves the proxy's clock. */
    advance: (ms: number) => void (nowMs += ms),
    /** Has the proxy look for a new snapshot, as it does by itself each second. */
    look: () => watcher.poll(),
    ask: (target: string, options?: AskOptions) => ask(port, target, options),
    /** Asks for some targets, one after the other: "200 404". */
    statuses: async (targets: string, options?: AskOptions): Promise<string> => {
      const all: number[] = [];
      for (const target of targets.split(' ')) all.push((await ask(port, target, options)).status);
      return all.join(' ');
    },
  };
}

export type TestProxy = Awaited<ReturnType<typeof startProxy>>;

/** A proxy of the standard tree with these files. */
export async function serving(
  content: Readonly<Record<string, string | Buffer>>,
  options?: TestOptions,
): Promise<TestProxy> {
  const root = await tree();
  for (const [file, bytes] of Object.entries(content)) await publish(root, file, bytes);
  return startProxy(root, options);
}

const NODES_OWN = new Set(['date', 'connection', 'keep-alive', 'transfer-encoding']);

/**
 * One request on a connection of its own, its target sent as it is. `from` is the client's address: all of
 * 127.0.0.0/8 is this machine.
 */
export async function ask(port: number, target: string, options: AskOptions = {}): Promise<Answer> {
  const { method = 'GET', headers = {}, from = '127.0.0.1' } = options;
  return new Promise((settle, reject) => {
    const place = { port, host: '127.0.0.1', path: target, localAddress: from };
    const outgoing = request({ ...place, method, headers, agent: false });
    outgoing.on('error', reject).on('response', (response) => {
      const chunks: Buffer[] = [];
      response.on('data', (chunk: Buffer) => chunks.push(chunk));
      response.on('error', reject);
      response.on('end', () => {
        const names = response.rawHeaders.filter((_, index) => index % 2 === 0);
        const body = Buffer.concat(chunks);
        settle({
          status: response.statusCode ?? 0,
          headers: response.headers,
          names: names.filter((name) => !NODES_OWN.has(name.toLowerCase())),
          body,
          text: body.toString('utf8'),
        });
      });
    });
    outgoing.end();
  });
}

/** A request as it is sent. */
export const GET = (target: string, ...fields: string[]): string =>
  [`GET ${target} HTTP/1.1`, 'Host: x', ...fields, '', ''].join('\r\n');

/** A connection, and what it was sent so far. */
export async function open(port: number, options: { from?: string; allowHalfOpen?: boolean } = {}) {
  const { from: localAddress = '127.0.0.1', allowHalfOpen = false } = options;
  let heard = '';
  const socket = connect({ port, host: '127.0.0.1', localAddress, allowHalfOpen });
  socket.on('error', () => undefined).on('data', (data) => (heard += data.toString('latin1')));
  // Not by `once`, which would reject after a reset.
  const closed = new Promise<void>((settle) => socket.once('close', () => settle()));
  await once(socket, 'connect');
  onTestFinished(() => void socket.destroy());
  return { socket, heard: () => heard, closed };
}

/** A client that has begun to get the response and then stops reading. */
export async function stalled(port: number, requests: string) {
  const opened = await open(port);
  opened.socket.write(requests);
  await once(opened.socket, 'data');
  opened.socket.pause();
  return opened;
}

/** Bytes to the server and everything it says until it or the silence ends. */
export async function askRaw(port: number, bytes: string, quietMs = 500): Promise<string> {
  const { socket, heard, closed } = await open(port);
  socket.setTimeout(quietMs, () => socket.destroy());
  socket.write(Buffer.from(bytes, 'latin1'));
  await closed;
  return heard();
}

/** The compiled proxy as a process that ends with the test; `npm test` compiles first. */
export function start(args: readonly string[], environment: Record<string, string> = {}): ProxyProcess {
  const started = spawnProxy(args, environment);
  onTestFinished(() => void started.child.kill('SIGKILL'));
  return started;
}

/** Starts on a free port and waits until it says so. */
export async function listening(
  args: readonly string[],
  environment?: Record<string, string>,
): Promise<ProxyProcess & { port: number }> {
  const started = start(['--port', '0', ...args], environment);
  return { ...started, port: await portOf(started) };
}

/** The body of an error. */
export function problemOf({ text }: { readonly text: string }): Record<string, unknown> {
  return z.record(z.string(), z.unknown()).parse(JSON.parse(text));
}
