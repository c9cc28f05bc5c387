import { InvalidArgumentError, Option, type Command } from 'commander';

import { createRangeMatcher, type RangeMatcher } from './limiter/clients.js';

/** What the operator can set, by flags and environment variables. */

/** An invalid option, variable or combination. The message names it and what was expected. */
export class SettingsError extends Error {
  override name = 'SettingsError';
}

/** The settings, checked. Their names are those that commander makes of the options below. */
export interface Settings {
  readonly dist: string;
  /** 0 lets the system choose, as for `adminPort`. */
  readonly port: number;
  readonly host: string;
  readonly trustProxy?: RangeMatcher;
  /** A URL, or the path of a socket. */
  readonly redis?: string;
  readonly maxConnections: number;
  readonly maxConnectionsPerClient: number;
  readonly adminPort?: number;
  readonly adminHost: string;
  /** In seconds. */
  readonly readyMaxAge?: number;
  readonly accessLog?: boolean;
}

const PREFIX = 'PROXY_';

const port = wholeNumber(0, 65_535);
const connections = wholeNumber(1, 1_000_000);

/** Flags in commander's syntax, what they are for, how a value is read, and the default. */
const TABLE: readonly (readonly [string, string, (text: string) => unknown, (string | number)?])[] = [
  ['--out, --dist <folder>', 'the published tree', nonEmpty, 'dist'],
  ['--port <number>', 'port to listen on', port, 8080],
  ['--host <address>', 'address to listen on', nonEmpty, '127.0.0.1'],
  [
    '--trust-proxy <ranges>',
    'proxies whose X-Forwarded-For is believed: CIDR ranges, loopback, linklocal, private, separated by commas',
    ranges,
  ],
  [
    '--redis <url>',
    'Redis or Valkey server in which several proxies share their limits: redis:, rediss: or unix:/path',
    redisUrl,
  ],
  [
    '--max-connections <number>',
    'connections open at once; further ones are closed unanswered',
    connections,
    5_000,
  ],
  [
    '--max-connections-per-client <number>',
    'the same for one client; trusted proxies are exempt',
    connections,
    256,
  ],
  ['--admin-port <number>', 'port for /healthz, /readyz and /metrics', port],
  ['--admin-host <address>', 'address of that port', nonEmpty, '127.0.0.1'],
  ['--ready-max-age <seconds>', 'not ready if the snapshot was built longer ago', wholeNumber(1, 9_999_999)],
  ['--access-log [boolean]', 'a JSON line on stdout for each request', isOn],
];

/** All options of the command line, each with its variable. */
export const OPTIONS: readonly Option[] = TABLE.map(([flags, description, parse, fallback]) => {
  const option = new Option(flags, description).argParser(parse);
  option.env(PREFIX + option.name().toUpperCase().replaceAll('-', '_'));
  return fallback === undefined ? option : option.default(fallback);
});

/** Options that have no effect without --admin-port. */
const NEED_ADMIN_PORT = [
  ['adminHost', '--admin-host'],
  ['readyMaxAge', '--ready-max-age'],
] as const;

/**
 * Reads the settings: flags override the environment, which overrides the defaults. An empty
 * variable means none.
 *
 * @param environment process.env, in which commander looks up the variables
 * @throws SettingsError for an unknown variable, with which a default would silently stay in effect,
 *   or an option without the one that it needs
 */
export function readSettings(
  command: Command,
  args: readonly string[],
  environment: Record<string, string | undefined>,
): Settings {
  for (const option of OPTIONS) command.addOption(option);
  for (const [name, value] of Object.entries(environment)) {
    if (!name.startsWith(PREFIX)) continue;
    if (value === '') delete environment[name];
    else if (!OPTIONS.some(({ envVar }) => envVar === name))
      throw new SettingsError(`${name}: no such setting; --help lists the variables`);
  }
  const [argument] = command.parse(args, { from: 'user' }).args;
  if (argument !== undefined)
    command.error(`error: unexpected argument '${argument}'\n(Did you mean --out ${argument}?)`);
  const settings = command.opts<Settings>();
  if (settings.adminPort !== undefined) return settings;
  for (const [name, flag] of NEED_ADMIN_PORT)
    if (!['default', undefined].includes(command.getOptionValueSource(name)))
      throw new SettingsError(`${flag}: expected --admin-port with it`);
  return settings;
}

function ranges(text: string): RangeMatcher {
  try {
    return createRangeMatcher(text);
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

/** Commander has `true` for a flag without a value. */
function isOn(text: string): boolean {
  if (text === 'true' || text === '1') return true;
  if (text === 'false' || text === '0') return false;
  throw new InvalidArgumentError('Expected true or false (or 1 or 0).');
}

/**
 * `redis://[[user]:password@]host[:port][/database]`, `rediss://` for TLS, or
 * `unix:/path[?db=N&username=U&password=P]`, which becomes the path with its parameters. ioredis
 * knows `valkey:` only as `redis:`.
 *
 * @throws SettingsError, which quotes nothing, as commander would: a malformed URL may have the
 *   password anywhere
 */
export function redisUrl(text: string): string {
  const parameter = String.raw`(?:db=\d{1,4}|(?:username|password)=[^&?#]*)`;
  const isSocket = new RegExp(
    String.raw`^unix:(?://)?(/[^/?#][^?#]*(?:\?${parameter}(?:&${parameter})*)?)$`,
  ).exec(text);
  if (isSocket?.[1] !== undefined) return isSocket[1];
  try {
    const { href, protocol, username, password, hostname, port, pathname } = new URL(text);
    const isServer = /^(?:redis|valkey)s?:$/.test(protocol) && hostname !== '' && port !== '0';
    const isDatabase = /^\/?\d{0,4}$/.test(pathname) && !/[?#]/.test(text);
    // ioredis will decode both, and must not throw.
    decodeURIComponent(username + password);
    // The normalized URL, since ioredis would not use TLS for "REDISS://".
    if (isServer && isDatabase) return href.replace(/^valkey/, 'redis');
  } catch {
    // Not a URL.
  }
  throw new SettingsError(
    '--redis or PROXY_REDIS: expected a URL such as redis://user:password@host:6379/0, rediss:// for TLS, ' +
      'or unix:/path/to/socket?db=0; in user name and password, "%", "?", "#" and "/" are percent-encoded',
  );
}
