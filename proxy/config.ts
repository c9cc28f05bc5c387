import { InvalidArgumentError, Option, type Command } from 'commander';
import { join } from 'node:path';

import { parseRanges, type AddressRange } from './clients.js';
import type { Quota } from './limiter/gcra.js';
import type { QuotaOverrides } from './snapshot/active.js';

/** What the operator can set, by flags and environment variables. */

/** An invalid combination, variable or URL. The message names it and what was expected. */
export class ConfigError extends Error {
  override name = 'ConfigError';
}

/** The settings, checked. Their names are those that commander makes of the options below. */
export interface Config {
  /** The published tree, as given. */
  readonly dist: string;
  /** 0 lets the system choose. */
  readonly port: number;
  readonly host: string;
  readonly apiTokens?: number;
  readonly apiRefillSeconds?: number;
  readonly downloadTokens?: number;
  readonly downloadRefillSeconds?: number;
  readonly pageTokens?: number;
  readonly pageRefillSeconds?: number;
  /** Proxies whose X-Forwarded-For is trusted. */
  readonly trustProxy?: readonly AddressRange[];
  /** The server through which several proxies share their buckets: a URL, or the path of a socket. */
  readonly redis?: string;
  readonly maxConnections: number;
  /** Per client, as the limiter identifies it; trusted proxies are exempt. */
  readonly maxConnectionsPerClient: number;
  /** Port for operations; undefined for none, 0 lets the system choose. */
  readonly adminPort?: number;
  readonly adminHost: string;
  /** The proxy is unready if the snapshot was built longer ago. In seconds. */
  readonly readyMaxAge?: number;
  readonly accessLog?: boolean;
  readonly accessLogFullAddresses?: boolean;
  readonly accessLogDetails?: boolean;
}

const PREFIX = 'PROXY_';

/**
 * An option and its variable.
 *
 * @param flags in commander's syntax
 * @param parse throws an InvalidArgumentError; commander adds the flag or the variable
 */
function option<T>(
  flags: string,
  description: string,
  parse: (text: string) => T,
  fallback?: T & (string | number),
): Option {
  const result = new Option(flags, description);
  result.env(PREFIX + result.name().toUpperCase().replaceAll('-', '_'));
  if (fallback !== undefined) result.default(fallback);
  return result.argParser(parse);
}

/** Even a million tokens of a day each are exact integers in milliseconds. */
const tokens = wholeNumber(1, 1_000_000);
const MAX_REFILL_SECONDS = 86_400;
const port = wholeNumber(0, 65_535);
const connections = wholeNumber(1, 1_000_000);
const UNTIL_ONE_IS_BACK = 'time until one of them is back';
const RANGES = 'CIDR ranges, loopback, linklocal, private, separated by commas';

/** All options of the command line, each with its variable. */
export const OPTIONS: readonly Option[] = [
  option('--out, --dist <folder>', 'the published tree', nonEmpty, 'dist'),
  option('--port <number>', 'port to listen on', port, 8080),
  option('--host <address>', 'address to listen on', nonEmpty, '127.0.0.1'),
  option('--api-tokens <number>', 'requests a client can make at once', tokens),
  option('--api-refill-seconds <seconds>', UNTIL_ONE_IS_BACK, seconds),
  option('--download-tokens <number>', 'the same for downloads', tokens),
  option('--download-refill-seconds <seconds>', UNTIL_ONE_IS_BACK, seconds),
  option('--page-tokens <number>', 'the same for pages and their assets', tokens),
  option('--page-refill-seconds <seconds>', UNTIL_ONE_IS_BACK, seconds),
  option('--trust-proxy <ranges>', `proxies whose X-Forwarded-For is believed: ${RANGES}`, ranges),
  option(
    '--redis <url>',
    'Redis or Valkey server in which several proxies share their limits: redis:, rediss: or unix:/path',
    redisUrl,
  ),
  option(
    '--max-connections <number>',
    'connections open at once; further ones are closed unanswered',
    connections,
    5_000,
  ),
  option(
    '--max-connections-per-client <number>',
    'the same for one client; trusted proxies are exempt',
    connections,
    256,
  ),
  option('--admin-port <number>', 'port for /healthz, /readyz and /metrics', port),
  option('--admin-host <address>', 'address of that port', nonEmpty, '127.0.0.1'),
  option(
    '--ready-max-age <seconds>',
    'not ready if the snapshot was built longer ago',
    wholeNumber(1, 9_999_999),
  ),
  option('--access-log [boolean]', 'a JSON line on stdout for each request', isOn),
  option('--access-log-full-addresses [boolean]', 'addresses not shortened', isOn),
  option(
    '--access-log-details [boolean]',
    'user agent, referer, request id and what the limiter said as well',
    isOn,
  ),
];

/** Options that have no effect without another one. */
const REQUIREMENTS: readonly (readonly [keyof Config, keyof Config])[] = [
  ['adminHost', 'adminPort'],
  ['readyMaxAge', 'adminPort'],
  ['accessLogFullAddresses', 'accessLog'],
  ['accessLogDetails', 'accessLog'],
];

/** An empty variable means none. With an unknown one, a default would silently stay in effect. */
function checkVariables(environment: Record<string, string | undefined>): void {
  for (const [name, value] of Object.entries(environment)) {
    if (!name.startsWith(PREFIX)) continue;
    if (value === '') delete environment[name];
    else if (!OPTIONS.some(({ envVar }) => envVar === name)) {
      throw new ConfigError(`${name}: no such setting; --help lists the variables`);
    }
  }
}

/**
 * Reads the settings: flags override the environment, which overrides the defaults.
 *
 * @param command gets the options, and reports what is wrong with one of them
 * @param environment process.env, in which commander looks up the variables
 * @param defaultsFolder where default paths start
 * @throws ConfigError for an unknown variable, or an option without the one that it needs
 */
export function readConfig(
  command: Command,
  args: readonly string[],
  environment: Record<string, string | undefined>,
  defaultsFolder = '',
): Config {
  for (const option of OPTIONS) command.addOption(option);
  checkVariables(environment);
  const [argument] = command.parse(args, { from: 'user' }).args;
  if (argument !== undefined)
    command.error(`error: unexpected argument '${argument}'\n(Did you mean --out ${argument}?)`);
  const config = command.opts<Config>();
  const isDefault = (name: keyof Config): boolean => command.getOptionValueSource(name) === 'default';
  const isUsed = (name: keyof Config): boolean =>
    config[name] !== undefined && config[name] !== false && !isDefault(name);
  const flag = (name: keyof Config): string =>
    OPTIONS.find((each) => each.attributeName() === name)?.long ?? name;
  for (const [name, required] of REQUIREMENTS) {
    if (isUsed(name) && !isUsed(required))
      throw new ConfigError(`${flag(name)}: expected ${flag(required)} with it`);
  }
  return { ...config, dist: isDefault('dist') ? join(defaultsFolder, config.dist) : config.dist };
}

/** The limits set by hand. */
export function quotaOverrides(config: Config): QuotaOverrides {
  return {
    api: override(config.apiTokens, config.apiRefillSeconds),
    download: override(config.downloadTokens, config.downloadRefillSeconds),
    page: override(config.pageTokens, config.pageRefillSeconds),
  };
}

function override(burst: number | undefined, refillSeconds: number | undefined): Partial<Quota> {
  return {
    ...(burst !== undefined && { burst }),
    ...(refillSeconds !== undefined && { emissionIntervalMs: Math.round(refillSeconds * 1000) }),
  };
}

function ranges(text: string): AddressRange[] {
  try {
    return parseRanges(text);
  } catch (error) {
    throw new InvalidArgumentError(`Expected ${error instanceof Error ? error.message : String(error)}.`);
  }
}

function nonEmpty(text: string): string {
  if (text === '') throw new InvalidArgumentError('Expected a text that is not empty.');
  return text;
}

function wholeNumber(minimum: number, maximum: number): (text: string) => number {
  return (text) => {
    const number = /^\d{1,7}$/.test(text) ? Number(text) : Number.NaN;
    if (number >= minimum && number <= maximum) return number;
    throw new InvalidArgumentError(`Expected a whole number from ${minimum} to ${maximum}.`);
  };
}

/** To the millisecond: the limiter computes with integers. */
function seconds(text: string): number {
  const number = /^\d{1,5}(\.\d{1,3})?$/.test(text) ? Number(text) : Number.NaN;
  if (number >= 0.001 && number <= MAX_REFILL_SECONDS) return number;
  throw new InvalidArgumentError(`Expected seconds from 0.001 to ${MAX_REFILL_SECONDS}, to the millisecond.`);
}

/** Commander has `true` for a flag without a value. */
function isOn(text: string): boolean {
  if (text === 'true' || text === '1') return true;
  if (text === 'false' || text === '0') return false;
  throw new InvalidArgumentError('Expected true or false (or 1 or 0).');
}

const SOCKET_PARAMETER = String.raw`(?:db=\d{1,4}|(?:username|password)=[^&?#]*)`;
const SOCKET = new RegExp(
  String.raw`^unix:(?://)?(/[^/?#][^?#]*(?:\?${SOCKET_PARAMETER}(?:&${SOCKET_PARAMETER})*)?)$`,
);

/**
 * `redis://[[user]:password@]host[:port][/database]`, `rediss://` for TLS, or
 * `unix:/path[?db=N&username=U&password=P]`, which becomes the path with its parameters. ioredis
 * knows `valkey:` only as `redis:`.
 *
 * @throws ConfigError, which quotes nothing, as commander would: a malformed URL may have the
 *   password anywhere
 */
export function redisUrl(text: string): string {
  const [, socket] = SOCKET.exec(text) ?? [];
  if (socket !== undefined) return socket;
  try {
    const { href, protocol, username, password, hostname, port, pathname } = new URL(text);
    const isServer = /^(?:redis|valkey)s?:$/.test(protocol) && hostname !== '' && port !== '0';
    const isDatabase = /^\/?\d{0,4}$/.test(pathname) && !/[?#]/.test(text);
    // As ioredis will.
    decodeURIComponent(username + password);
    // Not the text itself: ioredis would not use TLS for "REDISS://".
    if (isServer && isDatabase) return href.replace(/^valkey/, 'redis');
  } catch {
    // It is no URL.
  }
  throw new ConfigError(
    '--redis or PROXY_REDIS: expected a URL such as redis://user:password@host:6379/0, rediss:// for TLS, ' +
      'or unix:/path/to/socket?db=0; in user name and password, "%", "?", "#" and "/" are percent-encoded',
  );
}
