import { z } from 'zod';

import type { Quotas } from './headers.js';
import type { Quota } from './limiter/gcra.js';

/** Every number the proxy goes by: constants of policy first, then what the operator can set. */

/**
 * Limits where neither a flag nor a snapshot says: 60 tokens, one back each second; 12 tokens, one back each
 * minute.
 */
export const DEFAULT_QUOTAS: Quotas = {
  api: { tokens: 60, refillMs: 1_000 },
  download: { tokens: 12, refillMs: 60_000 },
};
/** About 12 MB, keys included (measured). Whoever is forgotten beyond that starts with a full bucket. */
export const MAX_CLIENTS = 100_000;

/** A snapshot published is in service at most this much later. 1000 ms (= 1 second). */
export const SNAPSHOT_CHECK_MS = 1_000;
/** What 503 asks clients to wait while there is no snapshot. */
export const NO_SNAPSHOT_RETRY_SECONDS = 10;

/** File contents kept in memory, 64 MiB, what an entry costs beside its bytes included. */
export const CACHE_MAX_BYTES = 64 * 1024 * 1024;
/** A larger file is read from disk each time; only its ETag is kept. 1 MiB. */
export const CACHED_FILE_MAX_BYTES = 1024 * 1024;

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
/** After SIGTERM, what is in flight has this long to finish. 10 s. */
export const STOP_TIMEOUT_MS = 10_000;

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
}

/** A flag or variable that can't be used. The message names it, its value and what was expected. */
export class ConfigError extends Error {
  override name = 'ConfigError';
}

/** Something the operator can set. */
export interface Setting {
  /** As commander reads it. */
  readonly flag: string;
  /** Key among commander's options. */
  readonly key: string;
  readonly environment: string;
  readonly description: string;
  readonly fallback?: string;
}

/** Every setting once: the command line, the environment and --help follow this list. */
export const SETTINGS = [
  {
    flag: '--dist <folder>',
    key: 'dist',
    environment: 'PROXY_DIST',
    description: 'the published tree',
    fallback: 'dist',
  },
  {
    flag: '--port <number>',
    key: 'port',
    environment: 'PROXY_PORT',
    description: 'port to listen on',
    fallback: '8080',
  },
  {
    flag: '--host <address>',
    key: 'host',
    environment: 'PROXY_HOST',
    description: 'address to listen on',
    fallback: '127.0.0.1',
  },
  {
    flag: '--api-tokens <number>',
    key: 'apiTokens',
    environment: 'PROXY_API_TOKENS',
    description: 'requests a client may make at once',
  },
  {
    flag: '--api-refill-seconds <seconds>',
    key: 'apiRefillSeconds',
    environment: 'PROXY_API_REFILL_SECONDS',
    description: 'after how long one of them is back',
  },
  {
    flag: '--download-tokens <number>',
    key: 'downloadTokens',
    environment: 'PROXY_DOWNLOAD_TOKENS',
    description: 'downloads a client may make at once',
  },
  {
    flag: '--download-refill-seconds <seconds>',
    key: 'downloadRefillSeconds',
    environment: 'PROXY_DOWNLOAD_REFILL_SECONDS',
    description: 'after how long one of them is back',
  },
] as const satisfies readonly Setting[];

type SettingKey = (typeof SETTINGS)[number]['key'];

/** A million tokens of a day each still count exactly in milliseconds. */
const MAX_TOKENS = 1_000_000;
const MAX_REFILL_SECONDS = 86_400;

const text = z.string().min(1, 'a text that is not empty');
const port = wholeNumber(0, 65_535);
const tokens = wholeNumber(1, MAX_TOKENS);
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
  const given = new Map<SettingKey, { value: unknown; source: string }>();
  for (const setting of SETTINGS) {
    const { key, flag, environment: variable } = setting;
    const set = fromEnvironment[variable];
    if (fromFlags[key] !== undefined) {
      given.set(key, { value: fromFlags[key], source: flag.replace(/ .*/, '') });
    } else if (set !== undefined && set !== '') {
      given.set(key, { value: set, source: variable });
    } else if ('fallback' in setting) {
      given.set(key, { value: setting.fallback, source: key });
    }
  }
  const parsed = schema.safeParse(Object.fromEntries([...given].map(([key, { value }]) => [key, value])));
  if (!parsed.success) throw describe(parsed.error, given);
  const { dist, port, host, ...limits } = parsed.data;
  return Object.freeze({
    dist,
    port,
    host,
    quotas: Object.freeze({
      api: override(limits.apiTokens, limits.apiRefillSeconds),
      download: override(limits.downloadTokens, limits.downloadRefillSeconds),
    }),
  });
}

function describe(
  error: z.ZodError,
  given: ReadonlyMap<string, { value: unknown; source: string }>,
): ConfigError {
  const [issue] = error.issues;
  const setting = given.get(String(issue?.path[0]));
  return new ConfigError(`${setting?.source} "${String(setting?.value)}": expected ${issue?.message}`);
}

function override(tokens: number | undefined, refillMs: number | undefined): Partial<Quota> {
  return Object.freeze({
    ...(tokens !== undefined && { tokens }),
    ...(refillMs !== undefined && { refillMs }),
  });
}
