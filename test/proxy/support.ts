import { once } from 'node:events';
import fs, { readdirSync, readlinkSync } from 'node:fs';
import { mkdir, mkdtemp, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { syncBuiltinESMExports } from 'node:module';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { dirname, join, relative } from 'node:path';
import { onTestFinished } from 'vitest';
import * as z from 'zod';

import { createApp } from '../../proxy/http/app.js';
import { createHttpServer, type ServerOptions } from '../../proxy/http/server.js';
import { Metrics } from '../../proxy/operations.js';
import { Snapshots } from '../../proxy/tree/snapshot.js';
import { ask, type AskOptions } from '../support/ask.js';
import { listenOn } from '../support/ports.js';
import { portOf, spawnProxy, type ProxyProcess } from '../support/proxy.js';
import { snapshotJson } from '../support/snapshot.js';

/** Hand-made trees, and the proxy on a port of its own with a clock that only moves when told to. */

export { ask, type Answer, type AskOptions } from '../support/ask.js';
export { listenOn } from '../support/ports.js';
export { ERRORS, HEADERS, LINK, ROUTES, SERVICE, route, snapshotJson } from '../support/snapshot.js';

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

export interface TestOptions {
  /** By bucket, where they differ from those of the tree. */
  readonly tokens?: Readonly<Record<string, number>>;
  readonly server?: Partial<ServerOptions>;
}

async function limit(root: string, tokens: Readonly<Record<string, number>>): Promise<void> {
  const snapshot = z
    .looseObject({ limits: z.record(z.string(), z.looseObject({})) })
    .parse(JSON.parse(await readFile(join(root, 'snapshot.json'), 'utf8')));
  for (const [bucket, count] of Object.entries(tokens))
    snapshot.limits[bucket] = { ...snapshot.limits[bucket], tokens: count };
  await publish(root, 'snapshot.json', JSON.stringify(snapshot));
}

/** Something that is waited for until it is let go. */
export function gate(): { readonly passed: Promise<void>; readonly letGo: () => void } {
  let settle: (() => void) | undefined;
  const passed = new Promise<void>((resolve) => (settle = resolve));
  return { passed, letGo: () => settle?.() };
}

/**
 * Watches the files below a folder that this process opens synchronously, until the test ends.
 *
 * @param interfere is called before each; what it throws is what opening fails with
 * @returns their paths relative to the folder, in order
 */
export function opened(root: string, interfere: (path: string) => void = () => undefined): string[] {
  const paths: string[] = [];
  const { openSync } = fs;
  const { realpathSync } = fs;
  const isBelow = (path: unknown): path is string =>
    typeof path === 'string' && path.startsWith(`${realpathSync(root)}/`);
  fs.openSync = (path, ...rest) => {
    if (isBelow(path)) {
      paths.push(relative(realpathSync(root), path));
      interfere(paths.at(-1) ?? '');
    }
    return openSync(path, ...rest);
  };
  syncBuiltinESMExports();
  onTestFinished(() => {
    fs.openSync = openSync;
    syncBuiltinESMExports();
  });
  return paths;
}

/** Has opening one file fail as a bad disk does, until the test ends. */
export function fail(root: string, path: string, code = 'EIO'): void {
  opened(root, (each) => {
    if (each === path) throw Object.assign(new Error(`${code}: i/o error, open`), { code });
  });
}

/** Limits that no test reaches. */
export const UNLIMITED = { api: 1_000_000, download: 1_000_000, page: 1_000_000 };

const isTrusted = (): boolean => false;

/** The whole proxy except for the process around it, on a free port, stopped after the test. */
export async function startProxy(root: string, options: TestOptions = {}) {
  let nowMs = Date.UTC(2100, 0, 1);
  const log: string[] = [];
  const dependencies = { clock: () => nowMs, log: (line: string) => void log.push(line) };
  const { tokens } = options;
  if (tokens !== undefined) await limit(root, tokens);
  const snapshots = new Snapshots(root, dependencies.log);
  snapshots.start();
  const metrics = new Metrics();
  const app = createApp({ ...dependencies, snapshots, metrics, isTrusted });
  const { server, connections, stop } = createHttpServer(app, {
    maxConnections: 10_000,
    maxConnectionsPerClient: 10_000,
    isTrusted,
    metrics,
    ...options.server,
  });
  const port = await listenOn(server);
  onTestFinished(() => snapshots.stop());
  return {
    root,
    port,
    server,
    connections,
    stop,
    log,
    snapshots,
    files: app.files,
    limits: app.limits,
    metrics,
    advance: (ms: number) => void (nowMs += ms),
    /** Has the proxy look for a new snapshot, as it does by itself each second. */
    look: () => snapshots.look(),
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

export const GET = (target: string, ...fields: string[]): string =>
  [`GET ${target} HTTP/1.1`, 'Host: x', ...fields, '', ''].join('\r\n');

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

export async function listening(
  args: readonly string[],
  environment?: Record<string, string>,
): Promise<ProxyProcess & { port: number }> {
  const started = start(['--port', '0', ...args], environment);
  return { ...started, port: await portOf(started) };
}

export function problemOf({ text }: { readonly text: string }): Record<string, unknown> {
  return z.record(z.string(), z.unknown()).parse(JSON.parse(text));
}
