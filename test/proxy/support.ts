import { mkdir, mkdtemp, rename, rm, writeFile } from 'node:fs/promises';
import { request, type IncomingHttpHeaders, type OutgoingHttpHeaders, type Server } from 'node:http';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { onTestFinished } from 'vitest';
import { z } from 'zod';

import { createApp } from '../../proxy/app.js';
import { resolveConfig } from '../../proxy/config.js';
import { SnapshotFollower } from '../../proxy/follower.js';
import { createHttpServer } from '../../proxy/server.js';

/** Hand-made trees, and the proxy on a port of its own with a clock that only moves when told to. */

const JSON_TYPE = 'application/json; charset=utf-8';
const ID = [{ name: 'id', in: 'path', type: 'id', description: 'Id of the group' }];
const LIMIT = [{ name: 'limit', in: 'query', type: 'integer', minimum: 1, maximum: 200, default: 100 }];

/** One route of each class and of each shape. */
export const ROUTES = [
  { name: 'index', path: '/api/v1', file: 'api/v1.json', class: 'summary', type: JSON_TYPE },
  {
    name: 'group',
    path: '/api/v1/group/{id}',
    file: 'api/v1/group/{id}.json',
    class: 'record',
    type: JSON_TYPE,
    parameters: ID,
  },
  {
    name: 'largest',
    path: '/api/v1/largest',
    file: 'api/v1/largest/{limit}.json',
    class: 'summary',
    type: JSON_TYPE,
    parameters: LIMIT,
  },
  {
    name: 'history',
    path: '/group/{id}/history.json',
    file: 'group/{id}/history.json',
    class: 'record',
    type: JSON_TYPE,
    parameters: ID,
  },
  {
    name: 'csv',
    path: '/downloads/groups.csv',
    file: 'downloads/groups.csv',
    class: 'download',
    type: 'text/csv; charset=utf-8; header=present',
  },
  {
    name: 'feed',
    path: '/feeds/all.atom',
    file: 'feeds/all.atom',
    class: 'feed',
    type: 'application/atom+xml',
  },
  { name: 'front', path: '/', file: 'index.html', class: 'page', type: 'text/html; charset=utf-8' },
  {
    name: 'security',
    path: '/.well-known/security.txt',
    file: '.well-known/security.txt',
    class: 'page',
    type: 'text/plain',
  },
  {
    name: 'change-list',
    path: '/changes/{sequence}.json',
    file: 'changes/{sequence}.json',
    class: 'summary',
    type: JSON_TYPE,
    parameters: [{ name: 'sequence', in: 'path', type: 'id' }],
  },
  {
    name: 'changes',
    path: '/changes/index.json',
    file: 'changes/index.json',
    class: 'summary',
    type: JSON_TYPE,
  },
  { name: 'snapshot', path: '/snapshot.json', file: 'snapshot.json', class: 'summary', type: JSON_TYPE },
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
    format: 1,
    sequence: 3,
    as_of: '2026-11-20T08:00:00Z',
    built_at: '2026-11-20T09:00:00Z',
    generator: { name: 'register-api', version: '0.1.0' },
    service: SERVICE,
    limits: { api: { tokens: 60, refill_seconds: 1 }, download: { tokens: 12, refill_seconds: 60 } },
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
  readonly stop: (boundMs: number) => Promise<boolean>;
  readonly log: string[];
  /** Moves the proxy's clock. A second is enough to have it look for a new snapshot. */
  readonly advance: (ms: number) => void;
  readonly ask: (target: string, options?: AskOptions) => Promise<Answer>;
}

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

/** The whole proxy but for the process around it, on a free port, stopped after the test. */
export async function startProxy(root: string, flags: Record<string, string> = {}): Promise<TestProxy> {
  let nowMs = Date.UTC(2100, 0, 1);
  const log: string[] = [];
  const effects = { clock: () => nowMs, log: (line: string) => void log.push(line) };
  const follower = new SnapshotFollower(root, effects);
  await follower.start();
  const config = resolveConfig({ dist: root, ...flags }, {});
  const app = createApp(config, follower, effects);
  const { maxConnections } = config;
  const { server, stop } = createHttpServer(app, { maxConnections });
  await new Promise<void>((settle) => {
    server.listen(0, '127.0.0.1', settle);
  });
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('expected to listen on a port');
  const { port } = address;
  const advance = (ms: number): void => {
    nowMs += ms;
  };
  return { root, port, server, stop, log, advance, ask: (target, options) => ask(port, target, options) };
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
export async function askRaw(port: number, bytes: string, quietMs = 150): Promise<string> {
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
