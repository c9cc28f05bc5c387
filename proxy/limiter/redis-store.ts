import type { ClientRateLimitInfo, Store } from 'express-rate-limit';
import { Redis, type Result } from 'ioredis';

import { errorCode, type Clock, type Log } from '../log.js';
import { TimeoutError, withTimeout } from '../timeout.js';
import { decide, emissionMs, type Decision, type Quota } from './gcra.js';
import { parseKey, rateLimitInfo, type MemoryStore } from './memory-store.js';
import type { BucketName } from './middleware.js';

declare module 'ioredis' {
  interface RedisCommander<Context> {
    gcra(key: string, emissionMs: number, capacityMs: number): Result<unknown, Context>;
  }
}

/** A request waits no longer than this for Redis; then the local store answers. */
const BUDGET_MS = 50;
/** This many late replies in a row open the circuit. */
const MAX_LATE = 3;
/** While the circuit is open, Redis is probed this often. */
const PROBE_MS = 1_000;
const RECONNECT_MS = 500;
/** A connection that owes replies and is silent for this long is replaced. */
const SILENCE_MS = 5_000;

/**
 * decide() and refund() of gcra.ts on the server's clock.
 *
 * KEYS[1]: a client's bucket, its TAT. It expires when it is full, which is what a missing key means.
 * ARGV: the emission to add, in milliseconds, negative for a refund; the refill time of all tokens.
 * Returns the server's time and the TAT before, of which decide() then makes the same decision.
 *
 * - A TAT is cut to that of an empty bucket. Otherwise a server clock that goes back would lock
 *   clients out for as long as it went back.
 * - %.0f: Lua would write 1.8e+12.
 * - Redis 5 or later (earlier ones let no script write that has asked for the time), any Valkey.
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

/** The quota is part of the key, since a TAT means nothing under another one. */
export function redisKey(bucket: string, { burst, emissionIntervalMs }: Quota, client: string): string {
  return `register-api:${bucket}:${burst}x${emissionIntervalMs}:${client}`;
}

/** Also shows whether Redis can be written to. Expires at once. */
const PROBE_QUOTA: Quota = { burst: 1_000_000, emissionIntervalMs: 1 };
const PROBE_KEY = redisKey('probe', PROBE_QUOTA, 'probe');

/**
 * Buckets that several proxies share in Redis or Valkey, behind a circuit breaker. It opens on a
 * lost connection, an error, or MAX_LATE late replies in a row. While it is open no request waits
 * for Redis; a probe in the background closes it again. Every change is logged once.
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
  /** Why the connection failed. The events that follow say less. */
  #connectionError: string | undefined;

  /** @param url as `--redis` has checked it */
  constructor(url: string, log: Log) {
    this.#name = `Redis at ${new URL(url).host}`;
    this.#log = log;
    this.#redis = new Redis(url, {
      lazyConnect: true,
      // By the time of a retry, the local store has answered.
      enableOfflineQueue: false,
      maxRetriesPerRequest: 0,
      autoResendUnfulfilledCommands: false,
      // The probe shows more than INFO, and needs no permission for it.
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

  /** Requests that the local store answered instead, since the start. */
  get fallbacks(): number {
    return this.#fallbacks;
  }

  /** Connects. Settles when it is known whether Redis is up, after about a second at most; never rejects. */
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

  /** Closes the connection for good. */
  close(): void {
    clearInterval(this.#timer);
    this.#circuit = 'open';
    this.#redis.disconnect();
  }

  /**
   * Takes tokens of a client. A late reply has taken them as well, so this client pays twice: in
   * Redis, and in the local store that answers instead.
   *
   * @returns undefined if the local store is to answer; a fallback is counted
   */
  async take(key: string, quota: Quota, cost: number): Promise<Decision | undefined> {
    const decision = this.isUp ? await this.#tryRun(key, quota, emissionMs(quota, cost), cost) : undefined;
    if (decision === undefined) this.#fallbacks += 1;
    return decision;
  }

  /** Gives tokens back. @returns whether Redis did it */
  async refund(key: string, quota: Quota, cost: number): Promise<boolean> {
    return this.isUp && (await this.#tryRun(key, quota, -emissionMs(quota, cost), cost)) !== undefined;
  }

  async #tryRun(key: string, quota: Quota, emission: number, cost: number): Promise<Decision | undefined> {
    try {
      const decision = await this.#run(key, quota, emission, cost);
      this.#late = 0;
      return decision;
    } catch (error) {
      // A single late reply can be a pause of the server, which is no reason to stop sharing.
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
      // The server replied, but is of no use: it is a replica now, or wants another password. A new
      // connection may lead to a better one. A silent connection is left to SILENCE_MS.
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

/** @throws Error if the script can't have returned this */
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

/** The code if there is one, otherwise one line of the message. */
function reasonOf(error: unknown): string {
  const message = error instanceof Error ? error.message : String(error);
  return errorCode(error) ?? message.replaceAll(/\s+/g, ' ').slice(0, REASON_MAX_LENGTH);
}

export interface RedisStoreOptions {
  readonly bucket: BucketName;
  readonly redis: RedisBuckets;
  /** Answers when Redis does not. Its quota is this store's quota, too. */
  readonly local: MemoryStore;
  readonly clock: Clock;
}

/**
 * express-rate-limit's store over GCRA buckets in Redis. It never fails, and never waits longer than
 * BUDGET_MS. So at worst, a client has one bucket in Redis and one in each process.
 */
export class RedisStore implements Store {
  /** express-rate-limit: the keys are shared with other processes. */
  readonly localKeys = false;
  readonly #options: RedisStoreOptions;

  constructor(options: RedisStoreOptions) {
    this.#options = options;
  }

  /** As MemoryStore does. */
  async increment(key: string): Promise<ClientRateLimitInfo> {
    const { bucket, redis, local, clock } = this.#options;
    const { client, cost } = parseKey(key);
    const decision = await redis.take(redisKey(bucket, local.quota, client), local.quota, cost);
    return decision === undefined ? local.increment(key) : rateLimitInfo(decision, local.quota, clock());
  }

  /**
   * Gives back what increment() took by the same key. If Redis failed or came back in between, this
   * is the wrong bucket, and the client has one cost too many or too few.
   */
  async decrement(key: string): Promise<void> {
    const { bucket, redis, local } = this.#options;
    const { client, cost } = parseKey(key);
    const isDone = await redis.refund(redisKey(bucket, local.quota, client), local.quota, cost);
    if (!isDone) local.decrement(key);
  }

  /** Nothing calls this; it is part of express-rate-limit's interface. */
  resetKey(): never {
    throw new Error('not supported: use DEL');
  }
}
