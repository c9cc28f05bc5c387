import { mkdir, mkdtemp, rename, rm, writeFile } from 'node:fs/promises';
import { request, type IncomingHttpHeaders, type OutgoingHttpHeaders, type Server } from 'node:http';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { onTestFinished } from 'vitest';
import { z } from 'zod';

import { createApp, type AppOptions } from '../../proxy/http/app.js';
import { createHttpServer, type ServerOptions } from '../../proxy/http/server.js';
import { Metrics } from '../../proxy/ops/metrics.js';
import type { Disk } from '../../proxy/tree/disk.js';
import { readNow } from '../../proxy/tree/files.js';
import { SnapshotWatcher, type QuotaOverrides } from '../../proxy/snapshot/watcher.js';
import { ERRORS, HEADERS, LIMITS } from '../support/snapshot.js';

/** Hand-made trees, and the proxy on a port of its own with a clock that only moves when told to. */

const JSON_TYPE = 'application/json; charset=utf-8';
const ID = [{ name: 'id', in: 'path', type: 'id', description: 'Id of the group' }];
const TREE = { name: 'tree', in: 'path', type: 'tree' };
const LIMIT = [{ name: 'limit', in: 'query', type: 'integer', minimum: 1, maximum: 200, default: 100 }];

const route = (name: string, path: string, file: string, more: object = {}): object => ({
  name,
  path,
  file,
  class: 'summary',
  bucket: 'api',
  type: JSON_TYPE,
  ...more,
});

export { ERRORS, EXPOSED, HEADERS, LINK } from '../support/snapshot.js';

/** One route of each class and of each shape. */
export const ROUTES = [
  route('index', '/api/v1', 'api/v1.json'),
  route('group', '/api/v1/group/{id}', 'api/v1/group/{id}.json', {
    class: 'record',
    parameters: ID,
    absent: 'no group {id} in this register',
    example: '/api/v1/group/7',
  }),
  route('largest', '/api/v1/largest', 'api/v1/largest/{limit}.json', { parameters: LIMIT }),
  route('history', '/group/{id}/history.json', 'group/{id}/history.json', {
    class: 'record',
    parameters: ID,
    absent: 'no group {id} in this register',
  }),
  route('csv', '/downloads/groups.csv', 'downloads/groups.csv', {
    class: 'download',
    bucket: 'download',
    type: 'text/csv; charset=utf-8; header=present',
  }),
  route('sums', '/downloads/SHA256SUMS', 'downloads/SHA256SUMS', { class: 'download', type: 'text/plain' }),
  route('feed', '/feeds/all.atom', 'feeds/all.atom', { class: 'feed', type: 'application/atom+xml' }),
  route('front', '/', 'index.html', { class: 'page', bucket: 'page', type: 'text/html; charset=utf-8' }),
  route('style', '/assets/style-1a2b3c4d5e.css', 'assets/style-1a2b3c4d5e.css', {
    class: 'asset',
    bucket: 'page',
    type: 'text/css',
  }),
  route('security', '/.well-known/security.txt', '.well-known/security.txt', {
    class: 'page',
    bucket: 'page',
    type: 'text/plain',
  }),
  route('change-list', '/changes/{sequence}.json', 'changes/{sequence}.json', {
    parameters: [{ name: 'sequence', in: 'path', type: 'id' }],
  }),
  route('changes', '/changes/index.json', 'changes/index.json'),
  route('snapshot', '/snapshot.json', 'snapshot.json'),
  route('log-checkpoint', '/log/{tree}/checkpoint', 'log/{tree}/checkpoint', {
    class: 'checkpoint',
    bucket: 'page',
    type: 'text/plain; charset=utf-8',
    parameters: [TREE],
    absent: 'no log of tree {tree}',
  }),
  route('log-tile', '/log/{tree}/tile/{path}', 'log/{tree}/tile/{path}', {
    class: 'tile',
    bucket: 'page',
    type: 'application/octet-stream',
    parameters: [TREE, { name: 'path', in: 'path', type: 'path' }],
    absent: 'no tile {path} in the log of tree {tree}',
  }),
];

export const SERVICE = {
  name: 'The Example Register',
  base_url: 'https://register.example',
  docs: '/developers',
  description: '/api/v1/openapi.json',
  licence: { name: 'CC BY 4.0', url: 'https://licence.example/by/4.0/' },
};

/** snapshot.json as the generator writes it, keys the proxy does not know included. */
export function snapshotJson(changes: Record<string, unknown> = {}): Record<string, unknown> {
  return {
    format: 4,
    sequence: 3,
    as_of: '2026-11-20T08:00:00Z',
    built_at: '2026-11-20T09:00:00Z',
    generator: { name: 'register-api', version: '0.1.0' },
    service: SERVICE,
    limits: LIMITS,
    headers: HEADERS,
    errors: ERRORS,
    counts: { groups: 2 },
    tree: { files: 8, bytes: 100 },
    routes: ROUTES,
    ...changes,
  };
}

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

/** Puts a file in place as the generator does: written beside it, then renamed. */
export async function publish(root: string, file: string, content: string | Buffer): Promise<void> {
  const path = join(root, file);
  await mkdir(dirname(path), { recursive: true });
  await writeFile(`${path}.new`, content);
  await rename(`${path}.new`, path);
}

export async function publishSnapshot(root: string, changes: Record<string, unknown> = {}): Promise<void> {
  await publish(root, 'snapshot.json', JSON.stringify(snapshotJson(changes)));
}

/** An empty folder, gone after the test. */
export async function emptyFolder(): Promise<string> {
  const root = await mkdtemp(join(tmpdir(), 'proxy-test-'));
  onTestFinished(() => rm(root, { recursive: true, force: true }));
  return root;
}

export async function tree(changes: Record<string, unknown> = {}): Promise<string> {
  const root = await emptyFolder();
  for (const [file, content] of Object.entries(FILES)) await publish(root, file, content);
  await publishSnapshot(root, changes);
  return root;
}

export interface TestProxy {
  readonly root: string;
  readonly port: number;
  readonly server: Server;
  readonly connections: () => number;
  readonly stop: (boundMs: number) => Promise<boolean>;
  readonly log: string[];
  readonly watcher: SnapshotWatcher;
  /** Moves the proxy's clock. */
  readonly advance: (ms: number) => void;
  /** Has the proxy look for a new snapshot, as it does by itself each second. */
  readonly look: () => Promise<void>;
  readonly ask: (target: string, options?: AskOptions) => Promise<Answer>;
}

export interface TestOptions extends Partial<Pick<AppOptions, 'isTrusted'>> {
  readonly quotas?: Partial<QuotaOverrides>;
  readonly server?: Partial<ServerOptions>;
  readonly disk?: Disk;
}

/** A disk that is read in this thread. */
export const INLINE_DISK: Disk = {
  isHanging: false,
  read: async (request) => readNow(request),
  close: () => Promise.resolve(),
};

/** Something that is waited for until it is let go. */
export function gate(): { readonly passed: Promise<void>; readonly letGo: () => void } {
  let settle: (() => void) | undefined;
  const passed = new Promise<void>((resolve) => {
    settle = resolve;
  });
  return { passed, letGo: () => settle?.() };
}

/** One that can be told to do something else: `undefined` as the reader has it read again. */
export function controlledDisk(): {
  disk: Disk;
  reads: string[];
  interfere: (read: Disk['read'] | undefined) => void;
} {
  const reads: string[] = [];
  let interfering: Disk['read'] | undefined;
  const disk: Disk = {
    ...INLINE_DISK,
    read: (request) => {
      reads.push(request.path);
      return (interfering ?? INLINE_DISK.read)(request);
    },
  };
  return {
    disk,
    reads,
    interfere: (read) => {
      interfering = read;
    },
  };
}

/** A disk that fails to read one file. */
export function failingDisk(path: string, code = 'EIO'): Disk {
  return {
    ...INLINE_DISK,
    read: (request) => {
      if (request.path !== path) return INLINE_DISK.read(request);
      return Promise.reject(Object.assign(new Error(`${code}: i/o error, read`), { code }));
    },
  };
}

/** So many requests that no test meets the limit. */
export const UNLIMITED = {
  api: { burst: 1_000_000 },
  download: { burst: 1_000_000 },
  page: { burst: 1_000_000 },
};

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
  readonly text: string;
}

/** The whole proxy except for the process around it, on a free port, stopped after the test. */
export async function startProxy(root: string, options: TestOptions = {}): Promise<TestProxy> {
  let nowMs = Date.UTC(2100, 0, 1);
  const log: string[] = [];
  const dependencies = { clock: () => nowMs, log: (line: string) => void log.push(line) };
  const { disk = INLINE_DISK, quotas, isTrusted = () => false } = options;
  const watcher = new SnapshotWatcher(
    root,
    { api: {}, download: {}, page: {}, ...quotas },
    disk,
    dependencies,
  );
  await watcher.start();
  const metrics = new Metrics();
  const app = createApp({ ...dependencies, watcher, disk, metrics, isTrusted });
  const { server, connections, stop } = createHttpServer(app, {
    maxConnections: 10_000,
    maxConnectionsPerClient: 10_000,
    isTrusted,
    active: () => watcher.active,
    metrics,
    ...options.server,
  });
  await new Promise<void>((settle) => {
    server.listen(0, '127.0.0.1', settle);
  });
  onTestFinished(() => {
    watcher.stop();
    server.closeAllConnections();
    server.close();
  });
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('expected to listen on a port');
  const { port } = address;
  return {
    root,
    port,
    server,
    connections,
    stop,
    log,
    watcher,
    advance: (ms) => {
      nowMs += ms;
    },
    look: () => watcher.confirm(),
    ask: (target, options) => ask(port, target, options),
  };
}

const NODES_OWN = new Set(['date', 'connection', 'keep-alive', 'transfer-encoding']);

/**
 * One request on a connection of its own, its target sent as it is. `from` is the client's address: all of
 * 127.0.0.0/8 is this machine.
 */
export async function ask(port: number, target: string, options: AskOptions = {}): Promise<Answer> {
  const { method = 'GET', headers = {}, from = '127.0.0.1' } = options;
  return new Promise((settle, reject) => {
    const outgoing = request({
      port,
      host: '127.0.0.1',
      path: target,
      method,
      headers,
      localAddress: from,
      agent: false,
    });
    outgoing.on('error', reject);
    outgoing.on('response', (response) => {
      const chunks: Buffer[] = [];
      response.on('data', (chunk: Buffer) => chunks.push(chunk));
      response.on('error', reject);
      response.on('end', () => {
        const names = response.rawHeaders.filter((_, index) => index % 2 === 0);
        settle({
          status: response.statusCode ?? 0,
          headers: response.headers,
          names: names.filter((name) => !NODES_OWN.has(name.toLowerCase())),
          text: Buffer.concat(chunks).toString('utf8'),
        });
      });
    });
    outgoing.end();
  });
}

/** Bytes to the server and everything it says until it or the silence ends. */
export async function askRaw(port: number, bytes: string, quietMs = 500): Promise<string> {
  return new Promise((settle) => {
    let heard = '';
    const socket = connect(port, '127.0.0.1', () => socket.write(Buffer.from(bytes, 'latin1')));
    socket.setTimeout(quietMs, () => socket.destroy());
    socket.on('data', (data) => {
      heard += data.toString('latin1');
    });
    socket.on('error', () => undefined);
    socket.on('close', () => settle(heard));
  });
}

/** The body of an error. */
export function problemOf({ text }: { readonly text: string }): Record<string, unknown> {
  return z.record(z.string(), z.unknown()).parse(JSON.parse(text));
}
