#!/usr/bin/env node
import { Command, CommanderError } from 'commander';
import { stat } from 'node:fs/promises';
import { setTimeout as pause } from 'node:timers/promises';

import { createRangeMatcher } from './clients.js';
import { ConfigError, quotaOverrides, readConfig, type Config } from './config.js';
import { createApp } from './http/app.js';
import { createHttpServer, type HttpServer } from './http/server.js';
import { baseUrl, EnvironmentError, listen, passedSocket } from './listen.js';
import { errorCode } from './log.js';
import { createAdminServer, describeReadiness } from './ops/admin.js';
import { calledAs, readPackage, returnToUser, type Package } from './package.js';
import { describeSnapshot, SnapshotError } from './snapshot/schema.js';
import { SnapshotWatcher } from './snapshot/watcher.js';
import { openDisk } from './tree/read.js';

/**
 * The proxy process: command line, listening, signals, exit codes. The only file that uses
 * process.*.
 */

const EXIT = { done: 0, usage: 2, environment: 3, defect: 70 } as const;

/** @param name what starts this program */
const describeUse = (name: string): string => `
Examples:
  ${name} --out dist --port 8080
  ${name} --out /srv/register --host 0.0.0.0 --port 80
  ${name} --api-tokens 120 --api-refill-seconds 0.5
  PROXY_DIST=/srv/register PROXY_PORT=9000 ${name}

Flags win over the environment. Limits that are not set follow the snapshot in service.
Exit codes: 0 stopped by SIGTERM, SIGINT or SIGHUP, 2 usage, 70 a defect, 3 the environment: port taken,
no such folder, a tree this proxy can't read.`;

/** They stop the server; a second one ends the process. */
const SIGNALS = ['SIGHUP', 'SIGINT', 'SIGTERM'] as const;
/** Under npm, Ctrl-C arrives twice, from terminal and npm. A second signal is later than this. */
const SECOND_SIGNAL_MS = 500;
/**
 * How long requests in flight have to finish: Kubernetes kills after 30 s. An interrupted download
 * can be resumed with Range. 25 s.
 */
const STOP_TIMEOUT_MS = 25_000;

/** Threads that read files have this long to return before the process ends. 500 ms. */
const THREADS_MS = 500;

/** Cached, since the getter is slow. */
const ORIGIN_MS = performance.timeOrigin;

function log(line: string): void {
  process.stderr.write(`register-api proxy: ${line}\n`);
}

/** Monotonic: adjusting the system clock neither locks clients out nor lets them through. */
function clock(): number {
  return Math.floor(ORIGIN_MS + performance.now());
}

/** @param argv of the process, whose first argument is `serve` if the generator's program hands over */
function readCommandLine({ root, version }: Package, [, , ...args]: readonly string[]): Config {
  const isCommand = args[0] === 'serve';
  const name = calledAs(process, { root }, isCommand);
  const command = new Command(name)
    .version(version, '-v, --version')
    .exitOverride()
    .showHelpAfterError('Run with --help for usage.')
    .allowExcessArguments()
    // An earlier spelling, which still works.
    .configureHelp({ optionTerm: ({ flags }) => flags.replace(', --dist', '') })
    .description('Serves a published register tree over HTTP, with a limit for each client.')
    .addHelpText('after', describeUse(name));
  const ownArgs = args.slice(isCommand ? 1 : 0);
  return readConfig(command, ownArgs, process.env, returnToUser(process, { root }));
}

async function serve(config: Config, version: string): Promise<void> {
  await checkFolder(config.dist);
  const { dist, adminPort, adminHost, readyMaxAge } = config;
  const disk = openDisk();
  const watcher = new SnapshotWatcher(dist, quotaOverrides(config), disk, { log });
  await watcher.start().catch((error: unknown) => {
    if (!(error instanceof SnapshotError)) throw error;
    throw new EnvironmentError(`--out "${dist}": ${error.message}`);
  });
  const isTrusted = createRangeMatcher(config.trustProxy ?? []);
  // The libraries of Redis, of metrics and of the access log are loaded only where they are used.
  const redis =
    config.redis === undefined
      ? undefined
      : new (await import('./limiter/redis-store.js')).RedisBuckets(config.redis, log);
  const metrics = adminPort === undefined ? undefined : new (await import('./ops/metrics.js')).Metrics();
  const app = createApp({ watcher, disk, metrics, isTrusted, redis, clock, log });
  const accessLog = config.accessLog
    ? (await import('./http/access-log.js')).openAccessLog(config, log)
    : undefined;
  const { server, connections, stop } = createHttpServer(app, {
    maxConnections: config.maxConnections,
    maxConnectionsPerClient: config.maxConnectionsPerClient,
    isTrusted,
    metrics,
    accessLog,
  });

  let isStopping = false;
  const readiness = () =>
    describeReadiness({
      snapshot: watcher.active?.snapshot,
      isReadable: watcher.isReadable,
      isStopping,
      nowMs: Date.now(),
      maxAgeMs: readyMaxAge && readyMaxAge * 1000,
    });
  await redis?.start();
  const passed = passedSocket(process.env, process.pid, log);
  const { host, port } = config;
  await listen(server, passed ?? { host, port, setting: '--port or PROXY_PORT' }, log);
  if (metrics !== undefined && adminPort !== undefined) {
    const { files, limits } = app;
    const build = { version, node: process.versions.node };
    metrics.watch({ watcher, files, limits, connections, redis, build });
    const admin = createAdminServer(metrics, readiness);
    const setting = '--admin-port or PROXY_ADMIN_PORT';
    await listen(admin, { host: adminHost, port: adminPort, setting }, log);
    log(`operations on ${baseUrl(admin)}: /healthz, /readyz, /metrics`);
  }
  stopOnSignal(async (boundMs) => {
    isStopping = true;
    const isClean = await stop(boundMs);
    redis?.close();
    await accessLog?.flush();
    return isClean;
  });
  const place = passed === undefined ? baseUrl(server) : `${baseUrl(server)} (socket passed by systemd)`;
  const state = watcher.active ? describeSnapshot(watcher.active.snapshot) : 'no snapshot yet';
  // If there is an access log, only its lines go to stdout.
  const stream = config.accessLog ? process.stderr : process.stdout;
  stream.write(`register-api proxy on ${place} serving ${dist} (${state})\n`);
}

async function checkFolder(dist: string): Promise<void> {
  const stats = await stat(dist).catch((error: unknown) => {
    if (errorCode(error) !== 'ENOENT') throw error;
    throw new EnvironmentError(`--out "${dist}" does not exist: build it first, or name another folder`);
  });
  if (!stats.isDirectory()) throw new EnvironmentError(`--out "${dist}": expected a folder`);
}

function stopOnSignal(stop: HttpServer['stop']): void {
  let stoppingSinceMs: number | undefined;
  for (const signal of SIGNALS) {
    process.on(signal, () => {
      const nowMs = clock();
      if (stoppingSinceMs !== undefined) {
        if (nowMs - stoppingSinceMs >= SECOND_SIGNAL_MS) kill(signal);
        return;
      }
      stoppingSinceMs = nowMs;
      log(`${signal}: finishing what is in flight`);
      void stop(STOP_TIMEOUT_MS).then((isClean) => {
        if (!isClean) log(`cut what was still open after ${STOP_TIMEOUT_MS / 1000} s`);
        return exit(EXIT.done, signal);
      });
    });
  }
}

/** Ends the process with a code, or by the signal if a thread hangs: process.exit() would wait for it. */
async function exit(code: number, signal: NodeJS.Signals): Promise<void> {
  const untilMs = clock() + THREADS_MS;
  while (process.getActiveResourcesInfo().some((name) => name.startsWith('FSReq'))) {
    if (clock() >= untilMs) kill(signal);
    await pause(10);
  }
  process.exit(code);
}

/** Ends the process by what a signal does by default, which waits for nothing. */
function kill(signal: NodeJS.Signals): void {
  process.removeAllListeners(signal);
  process.kill(process.pid, signal);
}

// A reader of our output that exits, such as head, must not stop the server.
for (const stream of [process.stdout, process.stderr]) stream.on('error', () => undefined);

// HAZARD: a defect in what is done for one connection ends all of them. AsyncLocalStorage could tell
// which one it is, but costs 15 to 23 % of a request on Node 20 and 22, knows none in "close" and
// "end" of a socket on 24 and 26, and names the wrong one where responses are written together. The
// guard is test/system/soak, with clients that pipeline and clients that are hostile.
process.on('uncaughtException', (error) => {
  log(`a defect: ${error.stack ?? String(error)}`);
  void exit(EXIT.defect, 'SIGKILL');
});

try {
  const self = readPackage();
  await serve(readCommandLine(self, process.argv), self.version);
} catch (error) {
  if (error instanceof CommanderError) {
    process.exit(error.exitCode === 0 ? EXIT.done : EXIT.usage);
  }
  const isEnvironment = error instanceof EnvironmentError;
  if (!(error instanceof ConfigError) && !isEnvironment && errorCode(error) === undefined) throw error;
  log(error instanceof Error ? error.message : String(error));
  await exit(error instanceof ConfigError ? EXIT.usage : EXIT.environment, 'SIGKILL');
}
