import { Command, CommanderError } from 'commander';
import { stat } from 'node:fs/promises';
import type { Server } from 'node:http';
import { resolve } from 'node:path';
import { destination } from 'pino';

import { createAccessLog } from './access-log.js';
import { ADMIN_HOST, createAdminServer } from './admin.js';
import { createApp } from './app.js';
import { ACCESS_LOG_MAX_BYTES, ConfigError, resolveConfig, STOP_TIMEOUT_MS, type Config } from './config.js';
import { descriptorWarning } from './descriptors.js';
import { publishedQuotas, quotasOf } from './edition.js';
import { errorCode } from './files.js';
import { SnapshotFollower, titleOf } from './follower.js';
import type { Quotas } from './headers.js';
import { RedisBuckets } from './limiter/redis-buckets.js';
import { createMetrics } from './metrics.js';
import { readinessOf } from './readiness.js';
import { createHttpServer, type HttpServer } from './server.js';
import { SETTINGS, type Setting } from './settings.js';
import { SnapshotError, type Snapshot } from './snapshot.js';

/**
 * The proxy as a process: command line, listening, signals, exit codes. The only file that touches process.*
 */

const EXIT = { done: 0, usage: 2, environment: 3, defect: 70 } as const;

/** Something about this machine, not about the program: one line and exit code 3. */
class EnvironmentError extends Error {}

/** Of the routes so many are printed to be tried. */
const MAX_URLS_TO_TRY = 12;

const HELP = `
Examples:
  npm run proxy -- --dist dist --port 8080
  npm run proxy -- --dist /srv/register --host 0.0.0.0 --port 80
  npm run proxy -- --api-tokens 120 --api-refill-seconds 0.5
  PROXY_DIST=/srv/register PROXY_PORT=9000 npm run proxy

Flags win over the environment. Limits that are not set follow the snapshot in service.
Exit codes: 0 stopped by SIGTERM or SIGINT, 2 usage, 70 a defect, 3 the environment: port taken, no such
folder, a tree this proxy can't read.`;

/** Read once: it is a getter that asks whose it is each time. */
const ORIGIN_MS = performance.timeOrigin;

/** What waiting answers there are finish first; a second signal does not wait. */
const SIGNALS = { SIGTERM: 143, SIGINT: 130 } as const;

function log(line: string): void {
  process.stderr.write(`register-api proxy: ${line}\n`);
}

/**
 * Monotonic, so that a corrected system clock neither locks clients out nor lets them through; starts from
 * the time of day.
 */
function clock(): number {
  return Math.floor(ORIGIN_MS + performance.now());
}

function readCommandLine(): Config {
  const program = new Command('proxy')
    .description('Serves a published register tree over HTTP, with a limit for each client.')
    .exitOverride()
    .addHelpText('after', HELP);
  const settings: readonly Setting[] = SETTINGS;
  for (const { flag, description, environment, fallback } of settings) {
    const origin = fallback === undefined ? environment : `default: ${fallback}, or ${environment}`;
    program.option(flag, `${description} (${origin})`);
  }
  return resolveConfig(program.parse().opts(), { ...process.env });
}

async function serve(config: Config): Promise<void> {
  const isFolder = await stat(config.dist).then(
    (stats) => stats.isDirectory(),
    () => false,
  );
  if (!isFolder) throw new EnvironmentError(`--dist "${config.dist}": expected a folder`);

  const follower = new SnapshotFollower(config.dist, { clock, log });
  await follower.start();
  const shared = config.redis && new RedisBuckets(config.redis, log);
  const app = createApp(config, follower, { clock, log }, shared);
  const output = config.accessLog === 'off' ? undefined : openAccessLog();
  const accessLog = output && createAccessLog(output, config.accessLog === 'full');
  const { maxConnections, adminPort, maxAgeMs } = config;
  const { server, connections, stop } = createHttpServer(app, { maxConnections, accessLog });

  let isStopping = false;
  const admin =
    adminPort === undefined
      ? undefined
      : createAdminServer(createMetrics({ app, follower, connections, now: Date.now }), async () => {
          await follower.refresh();
          return readinessOf(follower.snapshot, Date.now(), maxAgeMs, isStopping);
        });
  try {
    await shared?.start();
    if (admin !== undefined) await listen(admin, { host: ADMIN_HOST, port: adminPort ?? 0 });
    await listen(server, config);
  } catch (error) {
    admin?.close();
    shared?.close();
    throw error;
  }
  stopOnSignal(async (boundMs) => {
    isStopping = true;
    const isClean = await stop(boundMs);
    shared?.close();
    if (output !== undefined) await flushed(output);
    return isClean;
  });
  const warning = await descriptorWarning(maxConnections);
  if (warning !== undefined) log(warning);
  announce(server, config, follower.snapshot);
  if (admin !== undefined) log(`operations on ${baseOf(admin)}: /healthz, /readyz, /metrics`);
}

type Output = ReturnType<typeof destination>;

/** On stdout, written beside answering. */
function openAccessLog(): Output {
  const output = destination({ dest: 1, sync: false, maxLength: ACCESS_LOG_MAX_BYTES });
  output.on('error', () => undefined);
  output.once('drop', () => log('the access log is not taken as fast as it is written: lines are lost'));
  return output;
}

/** Whoever reads the access log may have stopped to, and is not waited for longer than a second. */
async function flushed(output: Output): Promise<void> {
  await new Promise<void>((settle) => {
    setTimeout(settle, 1_000);
    output.once('close', settle);
    output.end();
  });
}

async function listen(server: Server, { host, port }: { host: string; port: number }): Promise<void> {
  await new Promise<void>((settle, reject) => {
    server.once('error', (error) => {
      const code = errorCode(error) ?? error.message;
      const reason =
        code === 'EADDRINUSE' ? 'the port is taken' : `expected an address and a port this process may use`;
      reject(new EnvironmentError(`can't listen on ${host} port ${port} (${code}): ${reason}`));
    });
    server.listen(port, host, () => {
      server.removeAllListeners('error');
      settle();
    });
  });
  // From now on a failed accept (out of file descriptors) is a matter of one connection.
  server.on('error', (error) =>
    log(`a connection could not be accepted (${errorCode(error) ?? error.message})`),
  );
}

function stopOnSignal(stop: HttpServer['stop']): void {
  let isStopping = false;
  for (const [signal, hastyExitCode] of Object.entries(SIGNALS)) {
    process.on(signal, () => {
      if (isStopping) process.exit(hastyExitCode);
      isStopping = true;
      log(`${signal}: finishing what is in flight`);
      void stop(STOP_TIMEOUT_MS).then((isClean) => {
        if (!isClean) log(`cut what was still open after ${STOP_TIMEOUT_MS / 1000} s`);
        process.exit(EXIT.done);
      });
    });
  }
}

/** Where a server listens, as a URL. */
function baseOf(server: Server): string {
  const address = server.address();
  if (address === null || typeof address === 'string') return '';
  const host = address.family === 'IPv6' ? `[${address.address}]` : address.address;
  return `http://${host}:${address.port}`;
}

/** Stdout is the access log's alone if there is one. */
function announce(server: Server, config: Config, snapshot: Snapshot | undefined): void {
  const { dist, quotas, accessLog } = config;
  const base = baseOf(server);
  const state = snapshot ? titleOf(snapshot) : 'no snapshot yet';
  const lines = [`register-api proxy on ${base} serving ${resolve(dist)} (${state})`];
  if (snapshot !== undefined) {
    const inForce = quotasOf(snapshot, quotas);
    const published = publishedQuotas(snapshot);
    if (describe(inForce) !== describe(published)) {
      log(`limits set by hand: ${describe(inForce)}; the published texts say ${describe(published)}`);
    }
    lines.push('Try:', ...urlsToTry(snapshot).map((path) => `  ${base}${path}`));
  }
  const stream = accessLog === 'off' ? process.stdout : process.stderr;
  stream.write(`${lines.join('\n')}\n`);
}

function urlsToTry({ routes }: Snapshot): string[] {
  const paths = routes.map(({ path, example }) => example ?? (path.includes('{') ? undefined : path));
  return paths.filter((path) => path !== undefined).slice(0, MAX_URLS_TO_TRY);
}

function describe({ api, download }: Quotas): string {
  return [
    `API ${api.tokens} per ${api.refillMs / 1000} s`,
    `downloads ${download.tokens} per ${download.refillMs / 1000} s`,
  ].join(', ');
}

/** A reader of our output that goes away, as head does, is no reason to stop serving. */
for (const stream of [process.stdout, process.stderr]) stream.on('error', () => undefined);

process.on('uncaughtException', (error) => {
  log(`a defect: ${error.stack ?? String(error)}`);
  process.exit(EXIT.defect);
});

try {
  await serve(readCommandLine());
} catch (error) {
  if (error instanceof CommanderError) {
    process.exitCode = error.exitCode === 0 ? EXIT.done : EXIT.usage;
  } else if (error instanceof ConfigError) {
    log(error.message);
    process.exitCode = EXIT.usage;
  } else if (
    error instanceof EnvironmentError ||
    error instanceof SnapshotError ||
    errorCode(error) !== undefined
  ) {
    log(error instanceof Error ? error.message : String(error));
    process.exitCode = EXIT.environment;
  } else {
    throw error;
  }
}
