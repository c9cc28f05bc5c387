import type { Store } from 'express-rate-limit';
import { Redis, type Result } from 'ioredis';
import { setTimeout as pause } from 'node:timers/promises';

import { errorCode, type Clock, type Log } from '../log.js';
import { parseKey, rateLimitInfo, type MemoryStore } from './buckets.js';
import { decide, emissionMs, type BucketName, type Decision, type Quota } from './gcra.js';

declare module 'ioredis' {
  interface RedisCommander<Context> {
    gcra(key: string, emissionMs: number, capacityMs: number): Result<unknown, Context>;
  }
}

/** The longest a request waits for Redis; then the local store decides. */
const BUDGET_MS = 50;
/** After an error or a late reply, no request asks Redis for this long. 1 s. */
const SKIP_MS = 1_000;
/** How long the start of the proxy waits for a connection. 1 s. */
const START_MS = 1_000;
const RECONNECT_MS = 500;
/** A connection with outstanding replies that is silent for this long is replaced. 5 s. */
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

/** What is asked at the start, which also tests whether Redis is writable. Expires at once. */
const START_QUOTA: Quota = { burst: 1_000_000, emissionIntervalMs: 1 };

/** Replies of a server that another connection may do without: a replica, or with a new password. */
const UNUSABLE = /^(?:READONLY|NOAUTH|NOPERM|WRONGPASS)/;

/**
 * Buckets that several proxies share in Redis or Valkey. After an error or a late reply, the local
 * stores decide for a second, and then one request asks again. Each change is logged once.
 */
export class RedisBuckets {
  readonly #name: string;
  readonly #log: Log;
  readonly #redis: Redis;
  /** Undefined before the first reply or error. */
  #isUp: boolean | undefined;
  #fallbacks = 0;
  #skipUntilMs = 0;
  #failedMs = 0;

  /** @param url of the server, or the path of its socket; see redisUrl() */
  constructor(url: string, log: Log) {
    this.#name = `Redis at ${url.startsWith('/') ? url.replace(/\?.*/, '') : new URL(url).host}`;
    this.#log = log;
    this.#redis = new Redis(url, {
      lazyConnect: true,
      // By the time of a retry, the local store has decided.
      enableOfflineQueue: false,
      maxRetriesPerRequest: 0,
      autoResendUnfulfilledCommands: false,
      // What is asked at the start tests more than INFO, and needs no permission for it.
      enableReadyCheck: false,
      connectTimeout: SILENCE_MS,
      socketTimeout: SILENCE_MS,
      retryStrategy: () => RECONNECT_MS,
      reconnectOnError: ({ message }) => UNUSABLE.test(message),
      connectionName: 'register-api',
      disableClientInfo: true,
      scripts: { gcra: { lua: GCRA_SCRIPT, numberOfKeys: 1 } },
    });
    // The first says most of why a connection fails.
    this.#redis.on('error', (error) => this.#skip(reason(error)));
    this.#redis.on('close', () => this.#skip('the connection was closed'));
  }

  /** Whether the last reply was one, and in time. */
  get isUp(): boolean {
    return this.#isUp === true;
  }

  /** Requests decided by the local store instead, since the start. */
  get fallbacks(): number {
    return this.#fallbacks;
  }

  /** Connects. Settles when Redis is known to be up or not, in about a second; never rejects. */
  async start(): Promise<void> {
    const connecting = this.#redis.connect().then(
      () => true,
      () => false,
    );
    const isConnected = await Promise.race([connecting, pause(START_MS, false, { ref: false })]);
    if (isConnected) await this.#ask(redisKey('start', START_QUOTA, 'start'), START_QUOTA, 1);
    else this.#skip('no connection');
  }

  /**
   * express-rate-limit's store of a bucket. It never fails, and waits at most BUDGET_MS. At worst, a
   * client has one bucket in Redis and one in each process.
   *
   * @param local decides if Redis does not. Its quota is also this store's quota
   */
  store(bucket: BucketName, local: MemoryStore, clock: Clock): Store {
    const keyOf = (client: string): string => redisKey(bucket, local.quota, client);
    return {
      increment: async (key) => {
        const { client, cost } = parseKey(key);
        const decision = await this.take(keyOf(client), local.quota, cost);
        return decision === undefined ? local.increment(key) : rateLimitInfo(decision, local.quota, clock());
      },
      // If Redis failed or recovered since increment(), the refund goes to the wrong bucket.
      decrement: async (key) => {
        const { client, cost } = parseKey(key);
        if (!(await this.refund(keyOf(client), local.quota, cost))) local.decrement(key);
      },
      // Never called; part of express-rate-limit's interface.
      resetKey: (key) => local.resetKey(key),
    };
  }

  /** Closes the connection for good. */
  close(): void {
    this.#redis.removeAllListeners('close');
    this.#redis.disconnect();
  }

  /**
   * Takes tokens of a client. With a late reply, the tokens are taken twice: in Redis, and in the
   * local store that decides instead.
   *
   * @returns undefined if the local store must decide; counted as a fallback
   */
  async take(key: string, quota: Quota, cost: number): Promise<Decision | undefined> {
    const reply = await this.#ask(key, quota, emissionMs(quota, cost));
    if (reply === undefined) this.#fallbacks += 1;
    return reply && decide(reply.tat, reply.nowMs, quota, cost);
  }

  /** Refunds tokens. @returns whether Redis did */
  async refund(key: string, quota: Quota, cost: number): Promise<boolean> {
    return (await this.#ask(key, quota, -emissionMs(quota, cost))) !== undefined;
  }

  /** The reply of the script; undefined while Redis is skipped, and if it fails or is late. */
  async #ask(key: string, quota: Quota, emission: number): Promise<Reply | undefined> {
    const askedMs = performance.now();
    if (askedMs < this.#skipUntilMs) return undefined;
    // Of the requests that come after a failure, one asks again; the others don't wait for it.
    if (!this.isUp) this.#skipUntilMs = askedMs + SKIP_MS;
    try {
      const reply = parseReply(await this.#run(key, emission, quota.burst * quota.emissionIntervalMs));
      // A reply to what was asked before the failure of another request says nothing of later.
      if (this.#isUp !== false || askedMs > this.#failedMs) this.#use();
      return reply;
    } catch (error) {
      this.#skip(reason(error));
      return undefined;
    }
  }

  /**
   * Not by ioredis' commandTimeout: after a pause of this process, a reply may be there already, and
   * timers come first. So one more turn of the event loop is waited for.
   */
  #run(key: string, emission: number, capacity: number): Promise<unknown> {
    return new Promise((resolve, reject) => {
      const late = new Error(`Redis did not answer within ${BUDGET_MS} ms`);
      const timer = setTimeout(() => setImmediate(() => reject(late)), BUDGET_MS);
      const asked = this.#redis.gcra(key, emission, capacity).then(resolve, reject);
      void asked.finally(() => clearTimeout(timer));
    });
  }

  #use(): void {
    this.#skipUntilMs = 0;
    if (this.isUp) return;
    this.#log(
      this.#isUp === undefined
        ? `${this.#name} keeps the limits, shared with every proxy that uses it`
        : `${this.#name} is up again: the limits are shared`,
    );
    this.#isUp = true;
  }

  #skip(why: string): void {
    this.#failedMs = performance.now();
    this.#skipUntilMs = this.#failedMs + SKIP_MS;
    if (this.#isUp === false) return;
    this.#isUp = false;
    this.#log(`${this.#name} can't be used (${why}): until it can, this process limits by itself`);
  }
}

interface Reply {
  readonly nowMs: number;
  readonly tat: number;
}

/** @throws Error if the reply is not the script's */
export function parseReply(reply: unknown): Reply {
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
function reason(error: unknown): string {
  const message = error instanceof Error ? error.message : String(error);
  return errorCode(error) ?? message.replaceAll(/\s+/g, ' ').slice(0, REASON_MAX_LENGTH);
}
