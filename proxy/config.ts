import { Option, type Command } from 'commander';
import { join } from 'node:path';

import { ConfigError } from './errors.js';
import type { AccessLogConfig } from './http/access-log.js';
import { parseRanges, type AddressRange } from './limiter/client-ip.js';
import type { Quota } from './limiter/gcra.js';
import type { QuotaOverrides } from './snapshot/watcher.js';

/** What the operator can set, by flags and environment variables. */

/** The checked and frozen settings. */
export interface Config {
  /** The published tree, as given. */
  readonly dist: string;
  /** 0 lets the system choose. */
  readonly port: number;
  readonly host: string;
  /** Quotas that are not set follow the snapshot. */
  readonly quotas: QuotaOverrides;
  /** Proxies whose X-Forwarded-For is trusted. */
  readonly trustProxy: readonly AddressRange[];
  /** The server through which several proxies share their limits: a URL, or the path of a socket. */
  readonly redis: string | undefined;
  readonly maxConnections: number;
  /** Per client, as the limiter identifies it; trusted proxies are exempt. */
  readonly maxConnectionsPerClient: number;
  /** Port for operations; undefined for none, 0 lets the system choose. */
  readonly adminPort: number | undefined;
  readonly adminHost: string;
  /** The proxy is unready if the snapshot was built longer ago. */
  readonly readyMaxAgeMs: number | undefined;
  readonly accessLog: AccessLogConfig | undefined;
}

/** Something the operator can set, by a flag or an environment variable. */
interface Setting<T> {
  readonly option: Option;
  /** @throws Error saying what was expected */
  readonly parse: (text: string) => T;
  readonly fallback: T;
}

const PREFIX = 'PROXY_';

/** @param flags in commander's syntax */
function setting<T>(flags: string, description: string, parse: (text: string) => T, fallback: T): Setting<T> {
  const option = new Option(flags, description);
  option.env(PREFIX + option.name().toUpperCase().replaceAll('-', '_'));
  if (typeof fallback === 'string' || typeof fallback === 'number') option.default(fallback);
  return { option, parse, fallback };
}

/** Even a million tokens of a day each are exact integers in milliseconds. */
const tokens = wholeNumber(1, 1_000_000);
const MAX_REFILL_SECONDS = 86_400;
const port = wholeNumber(0, 65_535);
const connections = wholeNumber(1, 1_000_000);
const UNTIL_ONE_IS_BACK = 'time until one of them is back';
const RANGES = 'CIDR ranges, loopback, linklocal, private, separated by commas';

const settings = {
  dist: setting('--out, --dist <folder>', 'the published tree', nonEmpty, 'dist'),
  port: setting('--port <number>', 'port to listen on', port, 8080),
  host: setting('--host <address>', 'address to listen on', nonEmpty, '127.0.0.1'),
  apiTokens: setting('--api-tokens <number>', 'requests a client can make at once', tokens, undefined),
  apiRefill: setting('--api-refill-seconds <seconds>', UNTIL_ONE_IS_BACK, milliseconds, undefined),
  downloadTokens: setting('--download-tokens <number>', 'the same for downloads', tokens, undefined),
  downloadRefill: setting('--download-refill-seconds <seconds>', UNTIL_ONE_IS_BACK, milliseconds, undefined),
  pageTokens: setting('--page-tokens <number>', 'the same for pages and their assets', tokens, undefined),
  pageRefill: setting('--page-refill-seconds <seconds>', UNTIL_ONE_IS_BACK, milliseconds, undefined),
  trustProxy: setting(
    '--trust-proxy <ranges>',
    `proxies whose X-Forwarded-For is believed: ${RANGES}`,
    parseRanges,
    [],
  ),
  redis: setting(
    '--redis <url>',
    'Redis or Valkey server in which several proxies share their limits: redis:, rediss: or unix:/path',
    redisUrl,
    undefined,
  ),
  maxConnections: setting(
    '--max-connections <number>',
    'connections open at once; further ones are closed unanswered',
    connections,
    5_000,
  ),
  maxConnectionsPerClient: setting(
    '--max-connections-per-client <number>',
    'the same for one client; trusted proxies are exempt',
    connections,
    256,
  ),
  adminPort: setting('--admin-port <number>', 'port for /healthz, /readyz and /metrics', port, undefined),
  adminHost: setting('--admin-host <address>', 'address of that port', nonEmpty, '127.0.0.1'),
  readyMaxAge: setting(
    '--ready-max-age <seconds>',
    'not ready if the snapshot was built longer ago',
    wholeNumber(1, 9_999_999),
    undefined,
  ),
  accessLog: setting('--access-log [boolean]', 'a JSON line on stdout for each request', isOn, false),
  accessLogFullAddresses: setting(
    '--access-log-full-addresses [boolean]',
    'addresses not shortened',
    isOn,
    false,
  ),
  accessLogDetails: setting(
    '--access-log-details [boolean]',
    'user agent, referer, request id and what the limiter said as well',
    isOn,
    false,
  ),
};

/** All options of the command line, each with its variable. */
export const OPTIONS: readonly Option[] = Object.values(settings).map(({ option }) => option);

/** Settings that have no effect without another one. */
const REQUIREMENTS: readonly (readonly [Setting<unknown>, Setting<unknown>])[] = [
  [settings.adminHost, settings.adminPort],
  [settings.readyMaxAge, settings.adminPort],
  [settings.accessLogFullAddresses, settings.accessLog],
  [settings.accessLogDetails, settings.accessLog],
];

/**
 * Has an empty variable mean none.
 *
 * @throws ConfigError for an unknown PROXY_ variable: a default would silently stay in effect
 */
export function checkVariables(environment: Record<string, string | undefined>): void {
  for (const [name, value] of Object.entries(environment)) {
    if (!name.startsWith(PREFIX)) continue;
    if (value === '') delete environment[name];
    else if (!OPTIONS.some(({ envVar }) => envVar === name)) {
      throw new ConfigError(`${name}: no such setting; --help lists the variables`);
    }
  }
}

/**
 * Flags override the environment, which overrides the defaults.
 *
 * @param command has parsed OPTIONS
 * @param defaultsFolder where default paths start
 * @throws ConfigError for the first invalid value
 */
export function resolveConfig(command: Command, defaultsFolder = ''): Config {
  const read = <T>({ option, parse, fallback }: Setting<T>): T => {
    const key = option.attributeName();
    const source = command.getOptionValueSource(key);
    if (source === undefined || source === 'default') return fallback;
    const text = String(command.getOptionValue(key));
    try {
      return parse(text);
    } catch (error) {
      const name = source === 'env' ? option.envVar : option.long;
      // A Redis URL can contain a password.
      const value = option === settings.redis.option ? '' : ` "${text}"`;
      const expected = error instanceof Error ? error.message : String(error);
      throw new ConfigError(`${name}${value}: expected ${expected}`);
    }
  };

  for (const [dependent, required] of REQUIREMENTS) {
    if (read(dependent) === dependent.fallback || read(required) !== required.fallback) continue;
    throw new ConfigError(`${dependent.option.long}: expected ${required.option.long} with it`);
  }
  const readyMaxAge = read(settings.readyMaxAge);
  return Object.freeze({
    dist: read({ ...settings.dist, fallback: join(defaultsFolder, settings.dist.fallback) }),
    port: read(settings.port),
    host: read(settings.host),
    quotas: Object.freeze({
      api: override(read(settings.apiTokens), read(settings.apiRefill)),
      download: override(read(settings.downloadTokens), read(settings.downloadRefill)),
      page: override(read(settings.pageTokens), read(settings.pageRefill)),
    }),
    trustProxy: Object.freeze(read(settings.trustProxy)),
    redis: read(settings.redis),
    maxConnections: read(settings.maxConnections),
    maxConnectionsPerClient: read(settings.maxConnectionsPerClient),
    adminPort: read(settings.adminPort),
    adminHost: read(settings.adminHost),
    readyMaxAgeMs: readyMaxAge && readyMaxAge * 1000,
    accessLog: read(settings.accessLog)
      ? Object.freeze({
          hasFullAddresses: read(settings.accessLogFullAddresses),
          hasDetails: read(settings.accessLogDetails),
        })
      : undefined,
  });
}

function override(burst: number | undefined, emissionIntervalMs: number | undefined): Partial<Quota> {
  return Object.freeze({
    ...(burst !== undefined && { burst }),
    ...(emissionIntervalMs !== undefined && { emissionIntervalMs }),
  });
}

function nonEmpty(text: string): string {
  if (text === '') throw new Error('a text that is not empty');
  return text;
}

function wholeNumber(minimum: number, maximum: number): (text: string) => number {
  return (text) => {
    const number = /^\d{1,7}$/.test(text) ? Number(text) : Number.NaN;
    if (number >= minimum && number <= maximum) return number;
    throw new Error(`a whole number from ${minimum} to ${maximum}`);
  };
}

/** Converts seconds as text to milliseconds. */
function milliseconds(text: string): number {
  const seconds = /^\d{1,5}(\.\d{1,3})?$/.test(text) ? Number(text) : Number.NaN;
  if (seconds >= 0.001 && seconds <= MAX_REFILL_SECONDS) return Math.round(seconds * 1000);
  throw new Error(`seconds from 0.001 to ${MAX_REFILL_SECONDS}, to the millisecond`);
}

/** Commander has `true` for a flag without a value. */
function isOn(text: string): boolean {
  if (text === 'true' || text === '1') return true;
  if (text === 'false' || text === '0') return false;
  throw new Error('true or false (or 1 or 0)');
}

/**
 * `redis://[[user]:password@]host[:port][/database]`, `rediss://` for TLS, or
 * `unix:/path[?db=N&username=U&password=P]`, which becomes the path with its parameters. ioredis
 * knows `valkey:` only as `redis:`. The error quotes nothing: a malformed URL may have the password
 * anywhere.
 */
export function redisUrl(text: string): string {
  const [, path, query] = /^unix:(?:\/\/)?(\/[^/?#][^?#]*)(?:\?([^?#]+))?$/i.exec(text) ?? [];
  if (path !== undefined && [...new URLSearchParams(query)].every(isSocketParameter)) {
    return query === undefined ? path : `${path}?${query}`;
  }
  const url = URL.canParse(text) ? new URL(text) : undefined;
  const isValid =
    url !== undefined &&
    /^(?:redis|valkey)s?:$/.test(url.protocol) &&
    url.hostname !== '' &&
    url.port !== '0' &&
    /^\/?\d{0,4}$/.test(url.pathname) &&
    !/[?#]/.test(text) &&
    isDecodable(url.username + url.password);
  // Not the text itself: ioredis would not use TLS for "REDISS://".
  if (isValid) return url.href.replace(/^valkey/, 'redis');
  throw new Error(
    'a URL such as redis://user:password@host:6379/0, rediss:// for TLS, or unix:/path/to/socket?db=0; ' +
      'in user name and password, "%", "?", "#" and "/" are percent-encoded',
  );
}

function isSocketParameter([name, value]: readonly [string, string]): boolean {
  return name === 'db' ? /^\d{1,4}$/.test(value) : /^(?:username|password)$/.test(name);
}

function isDecodable(text: string): boolean {
  try {
    decodeURIComponent(text);
    return true;
  } catch {
    return false;
  }
}
