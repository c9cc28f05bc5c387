/**
 * Two proxies on one Redis, under load while that is killed, restarted, frozen and slowed down: statuses,
 * requests that passed, times of the answers, lines logged.
 *   node build/test/system/bench/redis-outage.js DIST REDIS_PORT
 * Starts (and ends) its own redis-server on that port.
 */
import { spawn, type ChildProcess } from 'node:child_process';
import { setTimeout as pause } from 'node:timers/promises';
import { Redis } from 'ioredis';
import { ask, percentile, say, startProxy, tally, type Answer } from './proxy.js';

const [dist, redisPort] = process.argv.slice(2);
if (dist === undefined || redisPort === undefined) throw new Error('usage: redis-outage.js DIST REDIS_PORT');
const CLIENTS = 16;
const PATH = '/api/v1';

async function startRedis(): Promise<ChildProcess> {
  // Redis 7 keeps DEBUG to itself unless told otherwise.
  const settings = ['--bind', '127.0.0.1', '--save', '', '--enable-debug-command', 'local'];
  const child = spawn('redis-server', ['--port', String(redisPort), ...settings], {
    stdio: 'ignore',
    cwd: '/tmp',
  });
  await pause(300);
  return child;
}
let redis = await startRedis();
process.on('exit', () => redis.kill('SIGKILL'));

// No token comes back meanwhile, so what passes is what the buckets held.
const flags = ['--dist', dist, '--redis', `redis://127.0.0.1:${redisPort}`, '--trust-proxy', 'loopback'];
const limits = ['--api-tokens', '60', '--api-refill-seconds', '3600'];
const proxies = await Promise.all([startProxy([...flags, ...limits]), startProxy([...flags, ...limits])]);

let turn = 0;
const as = async (client: string): Promise<Answer> =>
  ask(proxies[(turn += 1) % 2]?.port ?? 0, PATH, { 'X-Forwarded-For': client });

async function burst(client: string, count: number): Promise<string> {
  return tally(await Promise.all(Array.from({ length: count }, () => as(client))));
}

say(`400 at once, one client: ${await burst('198.51.100.1', 400)}`);

let next = 0;
/** A steady load while something is done to Redis. */
async function underLoad(name: string, action: () => Promise<void>): Promise<void> {
  const over = new AbortController();
  const answers: Answer[] = [];
  const one: Answer[] = [];
  next += 1;
  const flood = `203.0.113.${next}`;
  // One client floods, the others come once each.
  const load = Array.from({ length: CLIENTS }, async (_, index) => {
    for (let count = 0; !over.signal.aborted; count += 1) {
      const isFlood = index < CLIENTS / 2;
      const answer = await as(isFlood ? flood : `10.${next}.${index}.${count & 255}`);
      (isFlood ? one : answers).push(answer);
    }
  });
  await pause(500);
  await action();
  await pause(500);
  over.abort();
  await Promise.all(load);
  const all = [...one, ...answers];
  say(`${name}: ${tally(all)}; of the flood ${one.filter(({ status }) => status === 200).length} passed`);
  const slow = all.filter(({ ms }) => ms > 45).length;
  say(
    `  answers in ms: median ${percentile(all, 50)}, p99 ${percentile(all, 99)}, longest ${percentile(all, 100)}; ${slow} of ${all.length} over 45 ms`,
  );
}

/** How long until both proxies have said so many lines. */
async function logged(text: string, times: number): Promise<number> {
  const startedMs = performance.now();
  const count = (proxy: { stderr: () => string }): number => proxy.stderr().split(text).length - 1;
  while (!proxies.every((proxy) => count(proxy) >= times)) await pause(10);
  return Math.round(performance.now() - startedMs);
}

const AGAIN = 'is up again';
await underLoad('no outage', async () => pause(1_000));
await underLoad('SIGKILL, 1 s without, restart', async () => {
  redis.kill('SIGKILL');
  await pause(1_000);
  redis = await startRedis();
  say(`  shared again ${300 + (await logged(AGAIN, 1))} ms after the restart`);
});
await underLoad('SIGSTOP for 3 s', async () => {
  redis.kill('SIGSTOP');
  await pause(3_000);
  redis.kill('SIGCONT');
  say(`  shared again ${await logged(AGAIN, 2)} ms after SIGCONT`);
});
const admin = new Redis(Number(redisPort), '127.0.0.1');
await underLoad('DEBUG SLEEP 2', async () => {
  await admin.call('DEBUG', 'SLEEP', '2');
  say(`  shared again ${await logged(AGAIN, 3)} ms after its end`);
});
await underLoad('CLIENT PAUSE 2000', async () => {
  await admin.call('CLIENT', 'PAUSE', '2000');
  await pause(2_000);
  say(`  shared again ${await logged(AGAIN, 4)} ms after its end`);
});
admin.disconnect();
say(`400 at once, another client: ${await burst('198.51.100.2', 400)}`);
for (const proxy of proxies) say(`log of port ${proxy.port}:\n${proxy.stderr().replaceAll(/^/gm, '  ')}`);
for (const { child } of proxies) child.kill('SIGTERM');
redis.kill('SIGTERM');
