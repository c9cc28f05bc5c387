import { Redis, type Result } from 'ioredis';
import { setTimeout as pause } from 'node:timers/promises';

import { errorCode, type Log } from '../log.js';
import type { SharedBuckets } from './buckets.js';
import { decide, emissionMs, type BucketName, type Decision, type Quota } from './gcra.js';

declare module 'ioredis' {
  interface RedisCommander<Context> {
    gcra(key: string, emissionMs: number, capacityMs: number): Result<unknown, Context>;
  }
}

/** The longest a request waits for Redis; then the local store decides. */
const BUDGET_MS = 50;
/** After an error or a late reply, no request asks Redis for this long; the start waits for it. 1 s. */
const SKIP_MS = 1_000;
const RECONNECT_MS = 500;
/** A connection with outstanding replies that is silent for this long is replaced. 5 s. */
const SILENCE_MS = 5_000;

/**
 * decide() and refund() of gcra.ts, on the server's clock. KEYS[1] is a client's TAT, which expires when
 * its bucket is full. ARGV: the emission to add in ms, negative for a refund; the refill time of all
 * tokens. The TAT is bounded, since the server's clock may be set back. %.0f: Lua would write 1.8e+12.
 * Needs Redis 5 (no earlier one writes after TIME), or any Valkey.
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

/** The first question, at the start, tests whether Redis is writable. Its key expires at once. */
const START_QUOTA: Quota = { burst: 1_000_000, emissionIntervalMs: 1 };

/** Errors that a new connection may not have: of a replica, or after a change of password. */
const UNUSABLE = /^(?:READONLY|NOAUTH|NOPERM|WRONGPASS)/;

/**
 * Buckets that several proxies share in Redis or Valkey. After an error or a late reply, the local
 * buckets decide for a second, and then one request asks again. Each change is logged once. At worst, a
 * client has one bucket here and one in each process.
 */
export class RedisBuckets implements SharedBuckets {
  /** Requests decided by the local store instead, since the start. */
  fallbacks = 0;
  readonly #name: string;
  readonly #log: Log;
  readonly #redis: Redis;
  #isUp: boolean | undefined;
  #skipUntilMs = 0;
  #failedMs = 0;

  /** @param url of the server, or the path of its socket; see redisUrl() */
  constructor(url: string, log: Log) {
    this.#name = `Redis at ${url.startsWith('/') ? url.replace(/\?.*/, '') : new URL(url).host}`;
    this.#log = log;
    this.#redis = new Redis(url, {
      lazyConnect: true,
      enableOfflineQueue: false,
      maxRetriesPerRequest: 0,
      autoResendUnfulfilledCommands: false,
      // The first question tests more than INFO, and needs no permission for INFO.
      enableReadyCheck: false,
      connectTimeout: SILENCE_MS,
      socketTimeout: SILENCE_MS,
      retryStrategy: () => RECONNECT_MS,
      reconnectOnError: ({ message }) => UNUSABLE.test(message),
      disableClientInfo: true,
      scripts: { gcra: { lua: GCRA_SCRIPT, numberOfKeys: 1 } },
    });
    this.#redis.on('error', (error) => this.#skip(error));
    this.#redis.on('close', () => this.#skip('the connection was closed'));
  }

  /** Whether the last question was answered in time. */
  get isUp(): boolean {
    return this.#isUp === true;
  }

  /** Connects. Settles when Redis is known to be up or not, in about a second; never rejects. */
  async start(): Promise<void> {
    const connecting = this.#redis.connect().catch((error: unknown) => this.#skip(error));
    await Promise.race([connecting, pause(SKIP_MS, undefined, { ref: false })]);
    if (this.#redis.status !== 'ready') return this.#skip('no connection');
    await this.#ask(redisKey('start', START_QUOTA, 'start'), START_QUOTA, 1);
  }

  /** Closes the connection for good. */
  close(): void {
    this.#redis.removeAllListeners('close');
    this.#redis.disconnect();
  }

  /** If the reply is late, tokens are taken in Redis and locally. A negative cost is a refund. */
  async take(bucket: BucketName, quota: Quota, client: string, cost: number): Promise<Decision | undefined> {
    const reply = await this.#ask(redisKey(bucket, quota, client), quota, emissionMs(quota, cost));
    if (reply === undefined) this.fallbacks += 1;
    return reply && decide(reply.tat, reply.nowMs, quota, cost);
  }

  /** The reply of the script; undefined while Redis is skipped, and if it fails or is late. */
  async #ask(
    key: string,
    quota: Quota,
    emission: number,
  ): Promise<ReturnType<typeof parseReply> | undefined> {
    const askedMs = performance.now();
    if (askedMs < this.#skipUntilMs) return undefined;
    // After a failure, one request asks again; those that come meanwhile don't wait.
    if (!this.isUp) this.#skipUntilMs = askedMs + SKIP_MS;
    let timer: NodeJS.Timeout | undefined;
    // Not by ioredis' commandTimeout: after a pause of this process, timers come before a reply that has
    // arrived already. So this waits for one more turn of the event loop.
    const late = new Promise<string>((settle) => {
      timer = setTimeout(() => setImmediate(settle, `no answer within ${BUDGET_MS} ms`), BUDGET_MS);
    });
    try {
      const asked = this.#redis.gcra(key, emission, quota.burst * quota.emissionIntervalMs);
      const reply = parseReply(await Promise.race([asked, late]));
      // A reply to a question that was asked before another request failed says nothing of the time since.
      if (askedMs > this.#failedMs) this.#use();
      return reply;
    } catch (error) {
      this.#skip(error);
      return undefined;
    } finally {
      clearTimeout(timer);
    }
  }

  #use(): void {
    this.#skipUntilMs = 0;
    if (this.isUp) return;
    const again = 'is up again: the limits are shared';
    const news = this.#isUp === undefined ? 'keeps the limits, shared with every proxy that uses it' : again;
    this.#isUp = true;
    this.#log(`${this.#name} ${news}`);
  }

  /** @param why an error, or a reason in words */
  #skip(why: unknown): void {
    this.#failedMs = performance.now();
    this.#skipUntilMs = this.#failedMs + SKIP_MS;
    if (this.#isUp === false) return;
    this.#isUp = false;
    const text = errorCode(why) ?? (why instanceof Error ? why.message : String(why));
    const reason = text.replaceAll(/\s+/g, ' ').slice(0, 120);
    this.#log(`${this.#name} can't be used (${reason}): until it can, this process limits by itself`);
  }
}

/** @param reply two integers, or a text that says why there are none @throws Error for anything but integers */
export function parseReply(reply: unknown): { readonly nowMs: number; readonly tat: number } {
  const numbers: unknown[] = Array.isArray(reply) ? reply : [];
  const [nowMs, tat] = numbers.map((value) => (Number.isSafeInteger(value) ? Number(value) : undefined));
  if (nowMs !== undefined && tat !== undefined && numbers.length === 2) return { nowMs, tat };
  throw new Error(typeof reply === 'string' ? reply : 'an invalid reply');
}
