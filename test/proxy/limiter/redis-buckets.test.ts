import { Redis } from 'ioredis';
import { createServer, type Socket } from 'node:net';
import { setTimeout as pause } from 'node:timers/promises';
import { describe, expect, it, onTestFinished } from 'vitest';

import { RedisBuckets } from '../../../proxy/limiter/redis-buckets.js';
import { bucketKey } from '../../../proxy/limiter/redis-script.js';
import { parseRedisUrl } from '../../../proxy/limiter/redis-url.js';
import { freePort, hasRedis, startRedis, type TestRedis } from './redis-server.js';

const QUOTA = { tokens: 5, refillMs: 60_000 };

interface Tested {
  readonly buckets: RedisBuckets;
  readonly log: string[];
  /** Takes from this client's bucket: whether it was allowed, or undefined if Redis failed. */
  readonly take: (client: string) => Promise<boolean | undefined>;
}

async function started(url: string): Promise<Tested> {
  const log: string[] = [];
  const buckets = new RedisBuckets(parseRedisUrl(url), (line) => void log.push(line));
  onTestFinished(() => buckets.close());
  await buckets.start();
  const take: Tested['take'] = async (client) => {
    const verdicts = await buckets.take([{ key: bucketKey(client, 'api', QUOTA), quota: QUOTA }]);
    return verdicts?.[0]?.allowed;
  };
  return { buckets, log, take };
}

async function server(settings?: readonly string[]): Promise<TestRedis> {
  const redis = await startRedis(settings);
  onTestFinished(redis.remove);
  return redis;
}

async function timed<T>(action: Promise<T>): Promise<[result: T, ms: number]> {
  const startedMs = performance.now();
  return [await action, performance.now() - startedMs];
}

const down = (port: number, reason: string): string =>
  `Redis at 127.0.0.1:${port} can't be used (${reason}): until it can, this process limits by itself`;
const up = (port: number): string =>
  `Redis at 127.0.0.1:${port} keeps the limits, shared with every proxy that uses it`;
const upAgain = (port: number): string => `Redis at 127.0.0.1:${port} answers again: the limits are shared`;

describe('RedisBuckets without Redis', () => {
  it('says so once when nobody listens, and fails at once', async () => {
    const port = await freePort();
    const { buckets, log, take } = await started(`redis://127.0.0.1:${port}`);
    expect(buckets.isUp).toBe(false);
    for (let count = 0; count < 20; count += 1) {
      const [allowed, ms] = await timed(take('a'));
      expect(allowed).toBeUndefined();
      expect(ms).toBeLessThan(45);
    }
    await pause(1_200);
    expect(log).toEqual([down(port, 'ECONNREFUSED')]);
  });

  it('says so within a second or so when somebody listens and is silent', async () => {
    const { port } = await listener(() => undefined);
    const [{ buckets, log }, ms] = await timed(started(`redis://127.0.0.1:${port}`));
    expect(ms).toBeLessThan(2_500);
    expect(buckets.isUp).toBe(false);
    expect(log).toEqual([down(port, 'no connection')]);
  });

  it('survives a server that talks nonsense', async () => {
    for (const nonsense of [
      'HTTP/1.1 400 Bad Request\r\n\r\n',
      '+OK\r\n'.repeat(50),
      ':7\r\n'.repeat(50),
      '*-7\r\n',
      '\u0000',
    ]) {
      const { port } = await listener((socket) => socket.write(nonsense));
      const { buckets, log, take } = await started(`redis://127.0.0.1:${port}`);
      expect(buckets.isUp).toBe(false);
      expect(await take('a')).toBeUndefined();
      expect(log).toHaveLength(1);
    }
  });
});

async function listener(answer: (socket: Socket) => unknown): Promise<{ port: number }> {
  const sockets = new Set<Socket>();
  const server = createServer((socket) => {
    sockets.add(socket);
    socket.on('error', () => socket.destroy());
    socket.on('data', () => answer(socket));
  });
  await new Promise<void>((settle) => {
    server.listen(0, '127.0.0.1', settle);
  });
  onTestFinished(() => {
    for (const socket of sockets) socket.destroy();
    server.close();
  });
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('expected to listen on a port');
  return { port: address.port };
}

describe.skipIf(!hasRedis('redis-buckets.test.ts'))('RedisBuckets with a real Redis', () => {
  it('takes tokens there, for every proxy that uses it', async () => {
    const { port, url } = await server();
    const [first, second] = await Promise.all([started(url), started(url)]);
    const clients = Array.from({ length: 20 }, (_, index) => (index % 2 === 0 ? first : second));
    const allowed = await Promise.all(clients.map(({ take }) => take('a')));
    expect(allowed.filter(Boolean)).toHaveLength(5);
    expect(first.log).toEqual([up(port)]);
  });

  it('notices a killed Redis at once, and its return', async () => {
    const redis = await server();
    const { buckets, log, take } = await started(redis.url);
    await redis.kill();
    await expect.poll(() => buckets.isUp, { timeout: 500 }).toBe(false);
    expect(await take('a')).toBeUndefined();
    await redis.restart();
    await expect.poll(() => buckets.isUp, { timeout: 2_000 }).toBe(true);
    expect(await take('a')).toBe(true);
    expect(log).toEqual([up(redis.port), down(redis.port, 'the connection was closed'), upAgain(redis.port)]);
  });

  it('waits 50 ms for a frozen Redis, once, and returns when it thaws', async () => {
    const redis = await server();
    const { buckets, log, take } = await started(redis.url);
    redis.signal('SIGSTOP');
    const [allowed, ms] = await timed(take('a'));
    expect(allowed).toBeUndefined();
    expect(ms).toBeGreaterThan(45);
    expect(ms).toBeLessThan(150);
    expect(buckets.isUp).toBe(false);
    await pause(1_500);
    redis.signal('SIGCONT');
    await expect.poll(() => buckets.isUp, { timeout: 2_000 }).toBe(true);
    expect(log).toEqual([up(redis.port), down(redis.port, 'no answer within 50 ms'), upAgain(redis.port)]);
  });

  it('drops a connection that stays silent, and finds a Redis that comes back on the same port', async () => {
    const redis = await server();
    const { buckets, take } = await started(redis.url);
    redis.signal('SIGSTOP');
    await take('a');
    // Longer than a silent connection is kept (5 s): the next handshake is silent as well.
    await pause(6_500);
    expect(buckets.isUp).toBe(false);
    redis.signal('SIGCONT');
    await expect.poll(() => buckets.isUp, { timeout: 2_500 }).toBe(true);
  });

  it('does without a Redis that became a replica, is out of memory or forgot the script', async () => {
    const redis = await server();
    const admin = new Redis(redis.url);
    onTestFinished(() => admin.disconnect());
    const { buckets, log, take } = await started(redis.url);
    await admin.script('FLUSH');
    expect(await take('a')).toBe(true);

    await admin.replicaof('127.0.0.1', '1');
    expect(await take('b')).toBeUndefined();
    expect(buckets.isUp).toBe(false);
    await pause(1_200);
    expect(buckets.isUp).toBe(false);
    await admin.replicaof('NO', 'ONE');
    await expect.poll(() => buckets.isUp, { timeout: 2_500 }).toBe(true);

    await admin.config('SET', 'maxmemory', '1');
    expect(await take('c')).toBeUndefined();
    await admin.config('SET', 'maxmemory', '0');
    await expect.poll(() => buckets.isUp, { timeout: 2_500 }).toBe(true);
    expect(log).toHaveLength(5);
    expect(log[1]).toMatch(/can't be used \(READONLY /);
    expect(log[3]).toMatch(/can't be used \(OOM /);
  });

  it('logs in, and never says the password', async () => {
    const redis = await server(['--requirepass', 'pa55word']);
    const wrong = await started(`redis://:wr0ng@127.0.0.1:${redis.port}`);
    expect(wrong.buckets.isUp).toBe(false);
    expect(wrong.log).toEqual([expect.stringContaining("can't be used (WRONGPASS ")]);
    const none = await started(redis.url);
    expect(none.log).toEqual([expect.stringContaining("can't be used (NOAUTH ")]);
    const right = await started(`redis://:pa55word@127.0.0.1:${redis.port}/3`);
    expect(await right.take('a')).toBe(true);
    expect([...wrong.log, ...none.log, ...right.log].join()).not.toMatch(/wr0ng|pa55word/);
  });

  it('closes its connection, and says nothing about it', async () => {
    const redis = await server();
    const admin = new Redis(redis.url);
    onTestFinished(() => admin.disconnect());
    const { buckets, log } = await started(redis.url);
    const named = async (): Promise<number> =>
      String(await admin.client('LIST')).split('name=register-api').length - 1;
    expect(await named()).toBe(1);
    buckets.close();
    await expect.poll(named, { timeout: 1_000 }).toBe(0);
    await pause(1_200);
    expect(await named()).toBe(0);
    expect(log).toEqual([up(redis.port)]);
  });
});
