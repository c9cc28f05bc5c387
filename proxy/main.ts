#!/usr/bin/env node
import { Command, CommanderError } from 'commander';
import { readFileSync, statSync } from 'node:fs';
import type { Server } from 'node:http';
import * as z from 'zod';

import { createApp } from './http/app.js';
import { createHttpServer } from './http/server.js';
import { createAccessLog, errorCode } from './log.js';
import { createAdminServer, describeReadiness, Metrics } from './operations.js';
import { readSettings, SettingsError, type Settings } from './settings.js';
import { describeSnapshot, SnapshotError } from './tree/schema.js';
import { Snapshots } from './tree/snapshot.js';

/** The process: command line, listening, signals, exit codes. The only file that uses process.*. */

const { version: VERSION } = z
  .object({ version: z.string() })
  .parse(JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8')));

const EXIT = { done: 0, usage: 2, environment: 3, defect: 70 } as const;

/** An error of the machine, not the program: one line and exit code 3. */
class EnvironmentError extends Error {
  override name = 'EnvironmentError';
}

/** @param name the command that starts this program */
const describeUse = (name: string): string => `
Examples:
  ${name} --out dist --port 8080
  ${name} --out /srv/register --host 0.0.0.0 --port 80
  PROXY_DIST=/srv/register PROXY_PORT=9000 ${name}

Flags win over the environment. The limits are those of the snapshot: set them in operator.json.
Exit codes: 0 stopped by SIGTERM, SIGINT or SIGHUP, 2 usage, 70 a defect, 3 the environment: port taken,
no such folder, a tree this proxy can't read.`;

/** The signals that stop the server; a second one ends the process. */
const SIGNALS = ['SIGHUP', 'SIGINT', 'SIGTERM'] as const;
/** Under npm, Ctrl-C arrives twice, from terminal and npm. A second signal is later than this. */
const SECOND_SIGNAL_MS = 500;
/** How long requests in flight have to finish: Kubernetes kills after 30 s. 25 s. */
const STOP_TIMEOUT_MS = 25_000;
/** How long the end waits until the last lines of the access log are read. 1 s. */
const FLUSH_MS = 1_000;

function log(line: string): void {
  process.stderr.write(`register-api proxy: ${line}\n`);
}

/** Kept, since the getter is slow. */
const ORIGIN_MS = performance.timeOrigin;
/** Monotonic, so adjusting the system clock neither locks clients out nor lets them through. */
function clock(): number {
  return Math.floor(ORIGIN_MS + performance.now());
}

function readCommandLine(): Settings {
  // The generator's program hands over its command `serve` with all arguments.
  const isCommand = process.argv[2] === 'serve';
  // Under npm, generator/run.mjs says what the user typed.
  const { REGISTER_API_CALL: call } = process.env;
  const name = isCommand ? `${call ?? 'register-api'} serve` : (call ?? 'register-api-proxy');
  const command = new Command(name)
    .version(VERSION, '-v, --version')
    .exitOverride()
    .showHelpAfterError('Run with --help for usage.')
    .allowExcessArguments()
    // --dist is an earlier spelling, which still works.
    .configureHelp({ optionTerm: ({ flags }) => flags.replace(', --dist', '') })
    .description('Serves a published register tree over HTTP, with a limit for each client.')
    .addHelpText('after', describeUse(name));
  const args = process.argv.slice(isCommand ? 3 : 2);
  return readSettings(command, args, process.env);
}

async function serve(settings: Settings): Promise<void> {
  const { dist, host, port, adminPort, adminHost, readyMaxAge } = settings;
  const { trustProxy: isTrusted = () => false, maxConnections, maxConnectionsPerClient } = settings;
  const snapshots = openTree(dist);
  // The client of Redis is loaded only where it is used.
  const redis =
    settings.redis === undefined
      ? undefined
      : new (await import('./limiter/redis.js')).RedisBuckets(settings.redis, log);
  const metrics = adminPort === undefined ? undefined : new Metrics();
  const app = createApp({ snapshots, metrics, isTrusted, shared: redis, clock, log });
  const accessLog = settings.accessLog ? createAccessLog(process.stdout, log) : undefined;
  const { server, connections, stop } = createHttpServer(app, {
    maxConnections,
    maxConnectionsPerClient,
    isTrusted,
    metrics,
    accessLog,
  });

  let isStopping = false;
  const readiness = () => describeReadiness(snapshots, isStopping, readyMaxAge);
  await redis?.start();
  await listen(server, host, port, '--port or PROXY_PORT');
  if (metrics !== undefined && adminPort !== undefined) {
    const build = { version: VERSION, node: process.versions.node };
    metrics.watch({ snapshots, files: app.files, limits: app.limits, connections, redis, build });
    const admin = createAdminServer(metrics, readiness);
    await listen(admin, adminHost, adminPort, '--admin-port or PROXY_ADMIN_PORT');
    log(`operations on ${baseUrl(admin)}: /healthz, /readyz, /metrics`);
  }
  stopOnSignal(async () => {
    isStopping = true;
    if (!(await stop(STOP_TIMEOUT_MS))) log(`cut what was still open after ${STOP_TIMEOUT_MS / 1000} s`);
    redis?.close();
  });
  const state = snapshots.current ? describeSnapshot(snapshots.current.snapshot) : 'no snapshot yet';
  // If there is an access log, only its lines go to stdout.
  const stream = settings.accessLog ? process.stderr : process.stdout;
  stream.write(`register-api proxy on ${baseUrl(server)} serving ${dist} (${state})\n`);
}

/** @throws EnvironmentError if `dist` is no folder, or has a snapshot.json that can't be used */
function openTree(dist: string): Snapshots {
  const stats = statSync(dist, { throwIfNoEntry: false });
  if (stats === undefined)
    throw new EnvironmentError(`--out "${dist}" does not exist: build it first, or name another folder`);
  if (!stats.isDirectory()) throw new EnvironmentError(`--out "${dist}": expected a folder`);
  const snapshots = new Snapshots(dist, log);
  try {
    snapshots.start();
  } catch (error) {
    if (!(error instanceof SnapshotError)) throw error;
    throw new EnvironmentError(`--out "${dist}": ${error.message}`);
  }
  return snapshots;
}

/** Settles when the server listens. @param setting names the port @throws EnvironmentError if it can't */
async function listen(server: Server, host: string, port: number, setting: string): Promise<void> {
  await new Promise<void>((settle, reject) => {
    server.once('error', (error) => {
      const code = errorCode(error) ?? error.message;
      const reason =
        code === 'EADDRINUSE'
          ? `the port is taken, choose another with ${setting}`
          : 'expected an address and a port that this process may use';
      reject(new EnvironmentError(`can't listen on ${host} port ${port} (${code}): ${reason}`));
    });
    server.listen(port, host, settle);
  });
  server.removeAllListeners('error');
  // From now on, an error concerns a single failed accept (no file descriptors left).
  server.on('error', (error) =>
    log(`a connection could not be accepted (${errorCode(error) ?? error.message})`),
  );
}

function baseUrl(server: Server): string {
  const address = server.address();
  if (address === null || typeof address === 'string') return '';
  const host = address.family === 'IPv6' ? `[${address.address}]` : address.address;
  return `http://${host}:${address.port}`;
}

function stopOnSignal(stop: () => Promise<void>): void {
  let stoppingSinceMs: number | undefined;
  const end = async (): Promise<void> => {
    await stop();
    setTimeout(() => process.exit(EXIT.done), FLUSH_MS);
    process.stdout.write('', () => process.exit(EXIT.done));
  };
  for (const signal of SIGNALS) {
    process.on(signal, () => {
      if (stoppingSinceMs === undefined) {
        stoppingSinceMs = clock();
        log(`${signal}: finishing what is in flight`);
        void end();
      } else if (clock() - stoppingSinceMs >= SECOND_SIGNAL_MS) {
        process.removeAllListeners(signal);
        process.kill(process.pid, signal);
      }
    });
  }
}

// A program that reads our output and exits, such as head, must not stop the server.
for (const stream of [process.stdout, process.stderr]) stream.on('error', () => undefined);

// HAZARD: a defect in what is done for one connection ends all of them. AsyncLocalStorage could tell
// which one it is, but costs 15 to 23 % of a request on Node 20 and 22, knows none in "close" and
// "end" of a socket on 24 and 26, and names the wrong one where responses are written together. The
// guard is test/system/soak, with clients that pipeline and clients that are hostile.
process.on('uncaughtException', (error) => {
  log(`a defect: ${error.stack ?? String(error)}`);
  process.exit(EXIT.defect);
});

try {
  await serve(readCommandLine());
} catch (error) {
  if (error instanceof CommanderError) process.exit(error.exitCode === 0 ? EXIT.done : EXIT.usage);
  const isEnvironment = error instanceof EnvironmentError;
  if (!(error instanceof SettingsError) && !isEnvironment && errorCode(error) === undefined) throw error;
  log(error instanceof Error ? error.message : String(error));
  process.exit(error instanceof SettingsError ? EXIT.usage : EXIT.environment);
}
