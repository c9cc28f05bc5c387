import { z } from 'zod';

import type { Quotas } from './headers.js';
import { parseRanges, type AddressRange } from './limiter/addresses.js';
import type { Quota } from './limiter/gcra.js';
import { parseRedisUrl, type RedisAddress } from './limiter/redis-url.js';
import { SETTINGS } from './settings.js';

/** Every number the proxy goes by: constants of policy first, then what the operator can set. */

/**
 * Limits where neither a flag nor a snapshot says: 60 tokens, one back each second; 12 tokens, one back each
 * minute.
 */
export const DEFAULT_QUOTAS: Quotas = {
  api: { tokens: 60, refillMs: 1_000 },
  download: { tokens: 12, refillMs: 60_000 },
};
/** About 13 MB for each of the two limits, keys included (measured). Whoever is forgotten beyond that starts with a full bucket. */
export const MAX_CLIENTS = 100_000;

/** Redis answers within this time, or the local limits do: what a request waits at most for it. 50 ms. */
export const REDIS_BUDGET_MS = 50;
/** While Redis can't be used, how often it is tried, beside the requests. 1000 ms (= 1 second). */
export const REDIS_PROBE_MS = 1_000;
/** From a lost connection to the next attempt. 500 ms. */
export const REDIS_RECONNECT_MS = 500;
/** A connection that owes answers and is silent for so long is dropped for a new one. 5 s. */
export const REDIS_SILENCE_MS = 5_000;

/** A snapshot published is in service at most this much later. 1000 ms (= 1 second). */
export const SNAPSHOT_CHECK_MS = 1_000;
/** What 503 asks clients to wait while there is no snapshot. */
export const NO_SNAPSHOT_RETRY_SECONDS = 10;

/** File contents kept in memory, 64 MiB, what an entry costs beside its bytes included. */
export const CACHE_MAX_BYTES = 64 * 1024 * 1024;
/** A larger file is read from disk each time; only its ETag is kept. 1 MiB. */
export const CACHED_FILE_MAX_BYTES = 1024 * 1024;
/** A file of at most so many bytes may be read while everything else waits: 64 KiB are hashed in 50 us. */
export const READ_NOW_MAX_BYTES = 64 * 1024;

/** Request line and header fields together; Node answers 431 beyond. 16 KiB. */
export const MAX_HEADER_BYTES = 16 * 1024;
/** From the first byte of a request to the end of its headers. 10 s. Must not exceed REQUEST_TIMEOUT_MS. */
export const HEADERS_TIMEOUT_MS = 10_000;
/** The same to the end of its body, which nobody reads. 30 s. */
export const REQUEST_TIMEOUT_MS = 30_000;
/**
 * How often the two above are looked after; Node's own 30 s would let a slow client stay three times as long.
 * 5 s.
 */
export const TIMEOUT_CHECK_MS = 5_000;
/**
 * Longer than load balancers and CDNs keep an idle connection (60 s is common), so that they close it and no
 * request is lost. 75 s.
 */
export const KEEP_ALIVE_TIMEOUT_MS = 75_000;
/**
 * A connection on which nothing moves for so long is closed, such as one whose client takes nothing of a
 * download. While nothing is asked on it, KEEP_ALIVE_TIMEOUT_MS counts instead. 30 s.
 */
export const STALL_TIMEOUT_MS = 30_000;
/** Of a request's body, which nobody reads, so much is let pass before its connection is closed. 64 KiB. */
export const MAX_BODY_BYTES = 64 * 1024;
/**
 * After SIGTERM, what is in flight has this long to finish: as long as Kubernetes leaves of its 30 s before it
 * kills. 30 MB pass in it at 10 Mbit/s; of a larger download the client fetches the rest with Range. 25 s.
 */
export const STOP_TIMEOUT_MS = 25_000;

/** Lines that requests cause, such as one about a failing disk, come no more often. 1000 ms (= 1 second). */
export const FAILURE_LOG_MS = 1_000;
/** Access log held back while nobody takes it; beyond, lines are lost and not memory. 8 MiB. */
export const ACCESS_LOG_MAX_BYTES = 8 * 1024 * 1024;

/** Limits set by hand; what is not set follows the snapshot. */
export interface QuotaOverrides {
  readonly api: Partial<Quota>;
  readonly download: Partial<Quota>;
}

/** What the operator set, checked. */
export interface Config {
  /** The published tree, as given. */
  readonly dist: string;
  /** 0 lets the system choose. */
  readonly port: number;
  readonly host: string;
  readonly quotas: QuotaOverrides;
  /** Proxies whose X-Forwarded-For is believed. */
  readonly trustProxy: readonly AddressRange[];
  /** Where several proxies share their limits. */
  readonly redis: RedisAddress | undefined;
  readonly maxConnections: number;
  /** Of the port for operations; undefined for none, 0 lets the system choose. */
  readonly adminPort: number | undefined;
  /** A snapshot built longer ago makes the proxy unready. */
  readonly maxAgeMs: number | undefined;
  /** Whether there is an access log, and whether its addresses are cut short. */
  readonly accessLog: 'off' | 'short' | 'full';
}

/** A flag or variable that can't be used. The message names it, its value and what was expected. */
export class ConfigError extends Error {
  override name = 'ConfigError';
}

type SettingKey = (typeof SETTINGS)[number]['key'];

/** A million tokens of a day each still count exactly in milliseconds. */
const MAX_TOKENS = 1_000_000;
const MAX_REFILL_SECONDS = 86_400;

const text = z.string().min(1, 'a text that is not empty');
const port = wholeNumber(0, 65_535);
const tokens = wholeNumber(1, MAX_TOKENS);
/** A flag is given or not, which commander says by true; a variable says it in words. */
const isOn = z
  .union([z.literal(true), z.enum(['true', '1', 'false', '0'])], { error: 'true or false (or 1 or 0)' })
  .transform((value) => value === true || value === 'true' || value === '1')
  .default(false);
const refillMs = z
  .string()
  .refine(
    (seconds) =>
      /^\d{1,5}(\.\d{1,3})?$/.test(seconds) && isWithin(Number(seconds), 0.001, MAX_REFILL_SECONDS),
    {
      error: `seconds from 0.001 to ${MAX_REFILL_SECONDS}, to the millisecond`,
    },
  )
  .transform((seconds) => Math.round(Number(seconds) * 1000));

function wholeNumber(minimum: number, maximum: number): z.ZodType<number, string> {
  return z
    .string()
    .refine((number) => /^\d{1,7}$/.test(number) && isWithin(Number(number), minimum, maximum), {
      error: `a whole number from ${minimum} to ${maximum}`,
    })
    .transform(Number);
}

/** What a parser makes of a text; what it throws says what was expected. */
function parsed<T>(parse: (text: string) => T): z.ZodType<T, string> {
  return z.string().transform((text, context) => {
    try {
      return parse(text);
    } catch (error) {
      context.addIssue({ code: 'custom', message: error instanceof Error ? error.message : String(error) });
      return z.NEVER;
    }
  });
}

function isWithin(number: number, minimum: number, maximum: number): boolean {
  return minimum <= number && number <= maximum;
}

const schema = z.object({
  dist: text,
  port,
  host: text,
  apiTokens: tokens.optional(),
  apiRefillSeconds: refillMs.optional(),
  downloadTokens: tokens.optional(),
  downloadRefillSeconds: refillMs.optional(),
  trustProxy: parsed(parseRanges).optional(),
  redis: parsed(parseRedisUrl).optional(),
  maxConnections: wholeNumber(1, 1_000_000),
  adminPort: port.optional(),
  maxAge: wholeNumber(1, 9_999_999).optional(),
  accessLog: isOn,
  accessLogFullAddresses: isOn,
});

/**
 * Flags first, then the environment (where empty means unset), then the defaults.
 *
 * @param flags commander's options
 * @param environment a plain copy of process.env (that itself is an exotic object)
 * @returns the settings, frozen
 * @throws ConfigError for the first value that can't be used
 */
export function resolveConfig(flags: unknown, environment: unknown): Config {
  const fromFlags = z.record(z.string(), z.unknown()).parse(flags);
  const fromEnvironment = z.record(z.string(), z.unknown()).parse(environment);
  const given = new Map<SettingKey, Given>();
  for (const setting of SETTINGS) {
    const { key, flag, environment: variable } = setting;
    const isSecret = 'isSecret' in setting;
    const set = fromEnvironment[variable];
    if (fromFlags[key] !== undefined) {
      given.set(key, { value: fromFlags[key], source: flag.replace(/ .*/, ''), isSecret });
    } else if (set !== undefined && set !== '') {
      given.set(key, { value: set, source: variable, isSecret });
    } else if ('fallback' in setting) {
      given.set(key, { value: setting.fallback, source: key, isSecret });
    }
  }
  const result = schema.safeParse(Object.fromEntries([...given].map(([key, { value }]) => [key, value])));
  if (!result.success) throw describe(result.error, given);
  const { dist, port, host, trustProxy, redis, maxConnections, adminPort, maxAge, ...rest } = result.data;
  const { accessLog, accessLogFullAddresses, ...limits } = rest;
  if (accessLogFullAddresses && !accessLog) throw missing('--access-log-full-addresses', '--access-log');
  if (maxAge !== undefined && adminPort === undefined) throw missing('--max-age', '--admin-port');
  return Object.freeze({
    dist,
    port,
    host,
    quotas: Object.freeze({
      api: override(limits.apiTokens, limits.apiRefillSeconds),
      download: override(limits.downloadTokens, limits.downloadRefillSeconds),
    }),
    trustProxy: Object.freeze(trustProxy ?? []),
    redis,
    maxConnections,
    adminPort,
    maxAgeMs: maxAge === undefined ? undefined : maxAge * 1000,
    accessLog: accessLog ? (accessLogFullAddresses ? 'full' : 'short') : 'off',
  });
}

/** A value, where it comes from, and whether it may be printed. */
interface Given {
  readonly value: unknown;
  readonly source: string;
  readonly isSecret: boolean;
}

function describe(error: z.ZodError, given: ReadonlyMap<string, Given>): ConfigError {
  const [issue] = error.issues;
  const setting = given.get(String(issue?.path[0]));
  const value = setting?.isSecret === true ? '' : ` "${String(setting?.value)}"`;
  return new ConfigError(`${setting?.source}${value}: expected ${issue?.message}`);
}

function missing(flag: string, other: string): ConfigError {
  return new ConfigError(`${flag}: expected ${other} beside it`);
}

function override(tokens: number | undefined, refillMs: number | undefined): Partial<Quota> {
  return Object.freeze({
    ...(tokens !== undefined && { tokens }),
    ...(refillMs !== undefined && { refillMs }),
  });
}
