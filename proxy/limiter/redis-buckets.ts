import { Redis, type Result } from 'ioredis';

import { REDIS_BUDGET_MS, REDIS_PROBE_MS, REDIS_RECONNECT_MS, REDIS_SILENCE_MS } from '../config.js';
import { errorCode } from '../files.js';
import { LateError, within } from './budget.js';
import type { Verdict } from './gcra.js';
import { bucketKey, readVerdicts, scriptArguments, TAKE_SCRIPT, type SharedBucket } from './redis-script.js';
import type { RedisAddress } from './redis-url.js';

declare module 'ioredis' {
  interface RedisCommander<Context> {
    takeTokens(numberOfKeys: number, ...keysAndArguments: (string | number)[]): Result<unknown, Context>;
  }
}

/** Always allows, so it also shows whether Redis can be written to; expires at once. */
const PROBE_QUOTA = { tokens: 1_000_000, refillMs: 1 };
const PROBE: readonly SharedBucket[] = [
  { key: bucketKey('probe', 'probe', PROBE_QUOTA), quota: PROBE_QUOTA },
];

/**
 * Buckets that several proxies share, in Redis or Valkey, while that answers in time. The first call it fails
 * opens the circuit: then nobody is asked to wait for it any more, and a probe in the background finds out
 * when it is back. Each change either way is logged, once.
 */
export class RedisBuckets {
  readonly #redis: Redis;
  readonly #name: string;
  readonly #log: (line: string) => void;
  readonly #probing: NodeJS.Timeout;
  /** Undefined until the first probe has been answered or has failed. */
  #isUp: boolean | undefined;
  #isProbing = false;
  /** Why the connection failed, if it did; the next failure is put down to it. */
  #connectionError: string | undefined;
  readonly #decided: Promise<void>;
  #decide: () => void = () => undefined;

  /** Connects in the background. */
  constructor({ isEncrypted, database, ...address }: RedisAddress, log: (line: string) => void) {
    const host = address.host.includes(':') ? `[${address.host}]` : address.host;
    this.#name = `Redis at ${host}:${address.port}`;
    this.#log = log;
    this.#decided = new Promise((settle) => {
      this.#decide = settle;
    });
    this.#redis = new Redis({
      host: address.host,
      port: address.port,
      db: database,
      ...(address.username !== undefined && { username: address.username }),
      ...(address.password !== undefined && { password: address.password }),
      ...(isEncrypted && { tls: {} }),
      // Nothing waits for a connection, and nothing is sent a second time, when its request has long been
      // answered.
      enableOfflineQueue: false,
      maxRetriesPerRequest: 0,
      autoResendUnfulfilledCommands: false,
      // The probe shows more than the INFO that ioredis would ask, and needs no right to it.
      enableReadyCheck: false,
      connectTimeout: REDIS_SILENCE_MS,
      socketTimeout: REDIS_SILENCE_MS,
      retryStrategy: () => REDIS_RECONNECT_MS,
      connectionName: 'register-api',
      disableClientInfo: true,
      scripts: { takeTokens: { lua: TAKE_SCRIPT } },
    });
    this.#redis.on('error', (error) => {
      this.#connectionError = reasonOf(error);
    });
    this.#redis.on('close', () => this.#fail('the connection was closed'));
    this.#redis.on('ready', () => {
      this.#connectionError = undefined;
      void this.#probe();
    });
    this.#probing = setInterval(() => {
      if (this.#isUp !== true) void this.#probe();
    }, REDIS_PROBE_MS);
    this.#probing.unref();
  }

  /** Whether Redis is asked at all at present. */
  get isUp(): boolean {
    return this.#isUp === true;
  }

  /** Settles when it is known whether Redis is up, which takes no longer than a probe's interval; never rejects. */
  async start(): Promise<void> {
    await this.#decided;
  }

  /**
   * Takes one token from each of a client's buckets, or none from any.
   *
   * @returns the verdict of each, or undefined, within the budget, if Redis is down
   */
  async take(buckets: readonly SharedBucket[]): Promise<Verdict[] | undefined> {
    try {
      return await this.#ask(buckets);
    } catch (error) {
      this.#fail(reasonOf(error));
      return undefined;
    }
  }

  /** Closes the connection for good. */
  close(): void {
    clearInterval(this.#probing);
    this.#isUp = false;
    this.#redis.disconnect();
  }

  async #ask(buckets: readonly SharedBucket[]): Promise<Verdict[]> {
    if (this.#redis.status !== 'ready') throw new Error('no connection');
    const keys = buckets.map(({ key }) => key);
    const answer = this.#redis.takeTokens(keys.length, ...keys, ...scriptArguments(buckets));
    return readVerdicts(await within(REDIS_BUDGET_MS, answer), buckets);
  }

  async #probe(): Promise<void> {
    if (this.#isProbing) return;
    this.#isProbing = true;
    try {
      await this.#ask(PROBE);
      this.#succeed();
    } catch (error) {
      this.#fail(reasonOf(error));
      // It did answer, but can't be used: it became a replica, or wants another password. A new connection
      // may lead to a better server. A silent one is left to socketTimeout.
      if (!(error instanceof LateError) && this.#redis.status === 'ready') this.#redis.disconnect(true);
    } finally {
      this.#isProbing = false;
    }
  }

  #succeed(): void {
    if (this.#isUp === true) return;
    this.#log(
      this.#isUp === undefined
        ? `${this.#name} keeps the limits, shared with every proxy that uses it`
        : `${this.#name} answers again: the limits are shared`,
    );
    this.#isUp = true;
    this.#decide();
  }

  #fail(reason: string): void {
    if (this.#isUp === false) return;
    this.#isUp = false;
    this.#log(
      `${this.#name} can't be used (${this.#connectionError ?? reason}): until it can, this process limits by itself`,
    );
    this.#decide();
  }
}

/** Longer than any code of Redis with its explanation. */
const REASON_MAX_LENGTH = 120;

/** A code where there is one; of what Redis says, one line. */
function reasonOf(error: unknown): string {
  const message = error instanceof Error ? error.message : String(error);
  return errorCode(error) ?? message.replaceAll(/\s+/g, ' ').slice(0, REASON_MAX_LENGTH);
}
