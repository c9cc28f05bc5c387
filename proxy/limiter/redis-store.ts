import type { ClientRateLimitInfo, Store } from 'express-rate-limit';
import { Redis, type Result } from 'ioredis';

import { errorCode, type Clock, type Log } from '../log.js';
import { TimeoutError, withTimeout } from '../timeout.js';
import { decide, emissionMs, type BucketName, type Decision, type Quota } from './gcra.js';
import { parseKey, rateLimitInfo, type MemoryStore } from './memory-store.js';

declare module 'ioredis' {
  interface RedisCommander<Context> {
    gcra(key: string, emissionMs: number, capacityMs: number): Result<unknown, Context>;
  }
}

/** The longest a request waits for Redis; then the local store decides. */
const BUDGET_MS = 50;
/** This many late replies in a row open the circuit. */
const MAX_LATE = 3;
/** Interval of the probes while the circuit is open. */
const PROBE_MS = 1_000;
const RECONNECT_MS = 500;
/** A connection with outstanding replies that is silent for this long is replaced. */
const SILENCE_MS = 5_000;

/**
 * decide() and refund() of gcra.ts, on the server's clock.
 *
 * KEYS[1]: a client's bucket, its TAT. It expires when full, so a missing key means full.
 * ARGV: the emission to add in milliseconds, negative for a refund; the refill time of all tokens.
 * Returns the server's time and the previous TAT, from which decide() makes the same decision.
 *
 * - The TAT is limited to that of an empty bucket, or setting the server's clock back would lock
 *   clients out for as long.
 * - %.0f: Lua would write 1.8e+12.
 * - Requires Redis 5 (earlier scripts can't write after calling TIME), or any Valkey.
 */
export const GCRA_SCRIPT = `
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
local capacity = tonumber(ARGV[2])
local tat = tonumber(redis.call('GET', KEYS[1]) or now) or now
tat = math.min(math.max(tat, now), now + capacity)
local after = tat + tonumber(ARGV[1])
if after <= now then
  redis.call('DEL', KEYS[1])
elseif after - now <= capacity then
  redis.call('SET', KEYS[1], string.format('%.0f', after), 'PX', string.format('%.0f', after - now))
end
return { now, tat }
`;

/** The quota is part of the key, since a TAT is meaningless under another one. */
export function redisKey(bucket: string, { burst, emissionIntervalMs }: Quota, client: string): string {
  return `register-api:${bucket}:${burst}x${emissionIntervalMs}:${client}`;
}

/** Also tests whether Redis is writable. Expires at once. */
const PROBE_QUOTA: Quota = { burst: 1_000_000, emissionIntervalMs: 1 };
const PROBE_KEY = redisKey('probe', PROBE_QUOTA, 'probe');

/**
 * Buckets that several proxies share in Redis or Valkey, with a circuit breaker. It opens on a lost
 * connection, an error, or MAX_LATE late replies in a row. While it is open, no request waits for
 * Redis; a background probe closes it again. Each transition is logged once.
 */
export class RedisBuckets {
  readonly #redis: Redis;
  readonly #name: string;
  readonly #log: Log;
  #circuit: 'new' | 'closed' | 'open' = 'new';
  #late = 0;
  #fallbacks = 0;
  #timer: NodeJS.Timeout | undefined;
  #probe: Promise<void> | undefined;
  /** Why the connection failed; later events are less specific. */
  #connectionError: string | undefined;

  /** @param url a URL or the path of a socket, validated for `--redis` */
  constructor(url: string, log: Log) {
    // Without user name and password.
    this.#name = `Redis at ${url.startsWith('/') ? url.replace(/\?.*/, '') : new URL(url).host}`;
    this.#log = log;
    this.#redis = new Redis(url, {
      lazyConnect: true,
      // By the time of a retry, the local store has decided.
      enableOfflineQueue: false,
      maxRetriesPerRequest: 0,
      autoResendUnfulfilledCommands: false,
      // The probe tests more than INFO, and needs no permission for it.
      enableReadyCheck: false,
      connectTimeout: SILENCE_MS,
      socketTimeout: SILENCE_MS,
      retryStrategy: () => RECONNECT_MS,
      connectionName: 'register-api',
      disableClientInfo: true,
      scripts: { gcra: { lua: GCRA_SCRIPT, numberOfKeys: 1 } },
    });
    this.#redis.on('error', (error) => {
      this.#connectionError = reasonOf(error);
    });
    this.#redis.on('close', () => this.#open('the connection was closed'));
    this.#redis.on('ready', () => {
      this.#connectionError = undefined;
      void this.#probeOnce();
    });
  }

  /** Whether requests are sent to Redis at present. */
  get isUp(): boolean {
    return this.#circuit === 'closed';
  }

  /** Requests decided by the local store instead, since the start. */
  get fallbacks(): number {
    return this.#fallbacks;
  }

  /** Connects. Settles when Redis is known to be up or not, in about a second; never rejects. */
  async start(): Promise<void> {
    this.#timer = setInterval(() => {
      if (!this.isUp) void this.#probeOnce();
    }, PROBE_MS);
    this.#timer.unref();
    try {
      await withTimeout(PROBE_MS, this.#redis.connect());
      await this.#probeOnce();
    } catch (error) {
      this.#open(reasonOf(error));
    }
  }

  /** express-rate-limit's store of a limit. */
  store(options: Omit<RedisStoreOptions, 'redis'>): RedisStore {
    return new RedisStore({ ...options, redis: this });
  }

  /** Closes the connection for good. */
  close(): void {
    clearInterval(this.#timer);
    this.#circuit = 'open';
    this.#redis.disconnect();
  }

  /**
   * Takes tokens of a client. With a late reply, the tokens are taken twice: in Redis, and in the
   * local store that decides instead.
   *
   * @returns undefined if the local store must decide; counted as a fallback
   */
  async take(key: string, quota: Quota, cost: number): Promise<Decision | undefined> {
    const decision = this.isUp ? await this.#tryRun(key, quota, emissionMs(quota, cost), cost) : undefined;
    if (decision === undefined) this.#fallbacks += 1;
    return decision;
  }

  /** Refunds tokens. @returns whether Redis did */
  async refund(key: string, quota: Quota, cost: number): Promise<boolean> {
    return this.isUp && (await this.#tryRun(key, quota, -emissionMs(quota, cost), cost)) !== undefined;
  }

  async #tryRun(key: string, quota: Quota, emission: number, cost: number): Promise<Decision | undefined> {
    try {
      const decision = await this.#run(key, quota, emission, cost);
      this.#late = 0;
      return decision;
    } catch (error) {
      // A single late reply may be a pause of the server, which is no reason to stop sharing.
      if (error instanceof TimeoutError) this.#late += 1;
      if (!(error instanceof TimeoutError) || this.#late >= MAX_LATE) this.#open(reasonOf(error));
      return undefined;
    }
  }

  async #run(key: string, quota: Quota, emission: number, cost: number): Promise<Decision> {
    if (this.#redis.status !== 'ready') throw new Error('no connection');
    const capacityMs = quota.burst * quota.emissionIntervalMs;
    const reply = await withTimeout(BUDGET_MS, this.#redis.gcra(key, emission, capacityMs));
    const { nowMs, tat } = parseReply(reply);
    return decide(tat, nowMs, quota, cost);
  }

  #probeOnce(): Promise<void> {
    this.#probe ??= this.#runProbe().finally(() => {
      this.#probe = undefined;
    });
    return this.#probe;
  }

  async #runProbe(): Promise<void> {
    try {
      await this.#run(PROBE_KEY, PROBE_QUOTA, 1, 1);
      this.#close();
    } catch (error) {
      this.#open(reasonOf(error));
      // The server replied, but is unusable, for example a replica or with a new password. A new
      // connection may reach a better one. A silent connection is left to SILENCE_MS.
      if (!(error instanceof TimeoutError) && this.#redis.status === 'ready') this.#redis.disconnect(true);
    }
  }

  #close(): void {
    if (this.isUp) return;
    this.#log(
      this.#circuit === 'new'
        ? `${this.#name} keeps the limits, shared with every proxy that uses it`
        : `${this.#name} is up again: the limits are shared`,
    );
    this.#circuit = 'closed';
    this.#late = 0;
  }

  #open(reason: string): void {
    if (this.#circuit === 'open') return;
    this.#circuit = 'open';
    this.#log(
      `${this.#name} can't be used (${this.#connectionError ?? reason}): until it can, this process limits by itself`,
    );
  }
}

/** @throws Error if the reply is not the script's */
export function parseReply(reply: unknown): { readonly nowMs: number; readonly tat: number } {
  const [nowMs, tat, ...rest] = Array.isArray(reply) && reply.every(isTime) ? reply : [];
  if (nowMs === undefined || tat === undefined || rest.length > 0) throw new Error('an invalid reply');
  return { nowMs, tat };
}

function isTime(value: unknown): value is number {
  return Number.isSafeInteger(value);
}

/** Longer than any error code of Redis with its explanation. */
const REASON_MAX_LENGTH = 120;

/** The error code, if any; otherwise one line of the message. */
function reasonOf(error: unknown): string {
  const message = error instanceof Error ? error.message : String(error);
  return errorCode(error) ?? message.replaceAll(/\s+/g, ' ').slice(0, REASON_MAX_LENGTH);
}

export interface RedisStoreOptions {
  readonly bucket: BucketName;
  readonly redis: RedisBuckets;
  /** Decides if Redis does not. Its quota is also this store's quota. */
  readonly local: MemoryStore;
  readonly clock: Clock;
}

/**
 * express-rate-limit's store over GCRA buckets in Redis. It never fails, and waits at most
 * BUDGET_MS. At worst, a client has one bucket in Redis and one in each process.
 */
export class RedisStore implements Store {
  readonly #options: RedisStoreOptions;

  constructor(options: RedisStoreOptions) {
    this.#options = options;
  }

  /** As in MemoryStore. */
  async increment(key: string): Promise<ClientRateLimitInfo> {
    const { bucket, redis, local, clock } = this.#options;
    const { client, cost } = parseKey(key);
    const decision = await redis.take(redisKey(bucket, local.quota, client), local.quota, cost);
    return decision === undefined ? local.increment(key) : rateLimitInfo(decision, local.quota, clock());
  }

  /**
   * Refunds what increment() took with the same key. If Redis failed or recovered in between, the
   * refund goes to the wrong bucket.
   */
  async decrement(key: string): Promise<void> {
    const { bucket, redis, local } = this.#options;
    const { client, cost } = parseKey(key);
    const isDone = await redis.refund(redisKey(bucket, local.quota, client), local.quota, cost);
    if (!isDone) local.decrement(key);
  }

  /** Never called; part of express-rate-limit's interface. */
  resetKey(): never {
    throw new Error('not supported: use DEL');
  }
}
