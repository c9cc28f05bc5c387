/**
 * The long hostile run: generated requests over raw sockets against the real process, and its memory before, at
 * its peak and after.
 *   node build/test/system/soak/main.js [REQUESTS] [SEED]
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';

import { ask, memoryOf, say, startProxy } from '../bench/proxy.js';
import { KNOWN_ATTACKS } from './known.js';
import { hostileRequest } from './requests.js';
import { makeTree } from './tree.js';
import { volley } from './volley.js';

const [count = '20000', seed = '1'] = process.argv.slice(2);
const folder = mkdtempSync(join(tmpdir(), 'hostile-'));
process.on('exit', () => rmSync(folder, { recursive: true, force: true }));
const tree = makeTree(folder);
// No limit is met, so that every request gets an answer of its own.
const unlimited = [
  '--api-tokens',
  '1000000',
  '--download-tokens',
  '1000000',
  '--api-refill-seconds',
  '0.001',
];
// Collects garbage when told to, so that what is measured is what is held.
const collector = ['--expose-gc', '--import', `data:text/javascript,process.on('SIGUSR2',()=>gc())`];
const proxy = await startProxy(['--dist', tree.dist, '--admin-port', '0', ...unlimited], collector);

async function measure(when: string): Promise<void> {
  proxy.child.kill('SIGUSR2');
  await pause(1_000);
  proxy.child.kill('SIGUSR2');
  await pause(1_000);
  const { now, peak } = memoryOf(proxy);
  const metrics = await fetch(`${/operations on (\S+):/.exec(proxy.stderr())?.[1]}/metrics`);
  const heap = Number(/^nodejs_heap_size_used_bytes (\d+)/m.exec(await metrics.text())?.[1]) / 1024 ** 2;
  say(`memory ${when}: heap ${heap.toFixed(1)} MiB, resident ${now} MiB (peak so far ${peak} MiB)`);
}

for (let warm = 0; warm < 2_000; warm += 1) await ask(proxy.port, '/api/v1/group/8');
await measure('before');
const startedMs = performance.now();
for (let round = 1; round <= 2; round += 1) {
  const half = Math.ceil(Number(count) / 2);
  const { statuses, faults } = await volley(proxy.port, tree, half, (index) =>
    hostileRequest(Number(seed), (round - 1) * half + index),
  );
  for (const [kind, found] of [...statuses].toSorted(([a], [b]) => a.localeCompare(b))) {
    const counts = [...found]
      .toSorted(([a], [b]) => a - b)
      .map(([status, times]) => `${status || 'closed'}: ${times}`);
    say(`  ${kind}: ${counts.join(', ')}`);
  }
  for (const fault of faults.slice(0, 20)) say(`FAULT ${fault}`);
  if (faults.length > 0) process.exitCode = 1;
  say(`round ${round}: ${half} requests, ${faults.length} faults`);
  await measure(`after round ${round}`);
}
const known = await volley(
  proxy.port,
  tree,
  KNOWN_ATTACKS.length,
  (index) => KNOWN_ATTACKS[index] ?? hostileRequest(0, 0),
);
for (const fault of known.faults) say(`FAULT ${fault}`);
say(`${KNOWN_ATTACKS.length} known attacks, ${known.faults.length} faults`);
say(
  `${Math.round((performance.now() - startedMs) / 1000)} s; the process lives: ${proxy.child.exitCode === null}`,
);
say(`it said: ${proxy.stderr().trim()}`);
proxy.child.kill('SIGTERM');
