/**
 * Hostile and honest clients at once, for a long time, at a bounded rate: memory, descriptors and connections have to
 * end where they began.
 *   node build/test/system/soak/soak.js [MINUTES] [SEED]
 */
import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';

import { ask, memoryOf, say, startProxy } from '../bench/proxy.js';
import { hostileRequest } from './requests.js';
import { makeTree } from './tree.js';
import { volley } from './volley.js';

const [minutes = '60', seed = '1'] = process.argv.slice(2);
const ROUND_MS = 5_000;
const HOSTILE_A_ROUND = 200;
const HONEST_A_ROUND = 500;
const LEAVING_A_ROUND = 20;
const ROUNDS_A_SAMPLE = 60;
const HONEST = [
  '/api/v1',
  '/api/v1/group/8',
  '/api/v1/largest',
  '/group/8/history.json',
  '/',
  '/api/v1/group/99',
];

const folder = mkdtempSync(join(tmpdir(), 'soak-'));
process.on('exit', () => rmSync(folder, { recursive: true, force: true }));
const tree = makeTree(folder);
const collector = ['--expose-gc', '--import', `data:text/javascript,process.on('SIGUSR2',()=>gc())`];
const unlimited = ['--api-tokens', '1000000', '--download-tokens', '1000000', '--page-tokens', '1000000'];
const proxy = await startProxy(['--dist', tree.dist, '--admin-port', '0', ...unlimited], collector);
const admin = /operations on (\S+):/.exec(proxy.stderr())?.[1] ?? '';

async function sample(when: string): Promise<void> {
  proxy.child.kill('SIGUSR2');
  await pause(2_000);
  const metrics = await (await fetch(`${admin}/metrics`)).text();
  const read = (name: string): number => Number(new RegExp(`^${name} (\\S+)`, 'm').exec(metrics)?.[1]);
  const heap = read('nodejs_heap_size_used_bytes') / 1024 ** 2;
  const external = read('nodejs_external_memory_bytes') / 1024 ** 2;
  const descriptors = readdirSync(`/proc/${proxy.child.pid}/fd`).length;
  say(
    `${when}: heap ${heap.toFixed(1)} MiB, external ${external.toFixed(1)} MiB, resident ${memoryOf(proxy).now} MiB, ` +
      `${descriptors} descriptors, ${read('register_proxy_connections')} connections`,
  );
}

/** A client that takes the beginning of a download and leaves. */
async function leave(): Promise<void> {
  const socket = connect(proxy.port, '127.0.0.1');
  socket.on('error', () => undefined);
  socket.write('GET /downloads/groups.csv HTTP/1.1\r\nHost: x\r\n\r\n');
  await pause(50);
  socket.resetAndDestroy();
}

const faults: string[] = [];
const statuses = new Map<number, number>();

async function round(index: number): Promise<void> {
  const hostile = volley(proxy.port, tree, HOSTILE_A_ROUND, (request) =>
    hostileRequest(Number(seed), index * HOSTILE_A_ROUND + request),
  );
  const honest = Array.from({ length: HONEST_A_ROUND }, async (_, request) => {
    await pause((request * ROUND_MS) / HONEST_A_ROUND);
    const { status } = await ask(proxy.port, HONEST[request % HONEST.length] ?? '/');
    statuses.set(status, (statuses.get(status) ?? 0) + 1);
  });
  await Promise.all([...honest, ...Array.from({ length: LEAVING_A_ROUND }, leave)]);
  faults.push(...(await hostile).faults);
}

await round(-1);
await pause(80_000);
await sample('after the first round');
const until = performance.now() + Number(minutes) * 60_000;
for (let index = 0; performance.now() < until; index += 1) {
  await round(index);
  if ((index + 1) % ROUNDS_A_SAMPLE === 0) await sample(`after ${index + 1} rounds`);
}
// Longer than an idle connection is kept.
await pause(80_000);
await sample('at the end');
for (const fault of faults.slice(0, 20)) say(`FAULT ${fault}`);
say(
  `${faults.length} faults; honest: ${[...statuses].map(([status, count]) => `${status}: ${count}`).join(', ')}`,
);
process.exitCode = faults.length > 0 ? 1 : 0;
proxy.child.kill('SIGTERM');
process.exit();
