/** Hostile and honest clients at once, at a bounded rate: the process has to end as it began. */
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';

import { adminOf, startProxy } from '../../support/proxy.js';
import { KNOWN_ATTACKS } from './known.js';
import { hostileRequest } from './requests.js';
import { makeTree } from './tree.js';
import { volley } from './session.js';

const ROUND_MS = 5_000;
const HOSTILE_A_ROUND = 200;
const HONEST_A_ROUND = 500;
const LEAVING_A_ROUND = 20;
const ROUNDS_A_SAMPLE = 60;
/** Longer than an idle connection is kept. */
const IDLE_MS = 80_000;
const HONEST = '/api/v1 /api/v1/group/8 /api/v1/largest /group/8/history.json / /api/v1/group/99'.split(' ');
/** Collects garbage when told to, so that what is measured is what is held. */
const COLLECTOR = ['--expose-gc', '--import', `data:text/javascript,process.on('SIGUSR2',()=>gc())`];

/** @param args minutes, seed @returns what went wrong */
export async function hostile(
  [minutes = '60', seed = '1']: readonly string[],
  say: (line: string) => void,
): Promise<readonly string[]> {
  const folder = mkdtempSync(join(tmpdir(), 'hostile-'));
  const tree = makeTree(folder);
  const proxy = await startProxy(tree.dist, ['--admin-port', '0'], { node: COLLECTOR });
  const { child, port } = proxy;
  const statuses = new Map<string, number>();
  const count = (kind: string, status: number, times = 1): void => {
    const key = `${kind} ${status || 'closed'}`;
    statuses.set(key, (statuses.get(key) ?? 0) + times);
  };
  const faults: string[] = [];

  const sample = async (when: string): Promise<void> => {
    child.kill('SIGUSR2');
    await pause(2_000);
    const metrics = await (await fetch(`${adminOf(proxy)}/metrics`)).text();
    const read = (name: string): number => Number(new RegExp(`^${name} (\\S+)`, 'm').exec(metrics)?.[1]);
    const mebibytes = (name: string): string => `${(read(name) / 1024 ** 2).toFixed(1)} MiB`;
    const peak = /VmHWM:\s+(\d+ kB)/.exec(readFileSync(`/proc/${child.pid}/status`, 'utf8'))?.[1];
    say(
      `${when}: heap ${mebibytes('nodejs_heap_size_used_bytes')}, ` +
        `external ${mebibytes('nodejs_external_memory_bytes')}, ` +
        `resident ${mebibytes('process_resident_memory_bytes')} (peak ${peak}), ` +
        `${readdirSync(`/proc/${child.pid}/fd`).length} descriptors, ` +
        `${read('register_proxy_connections')} connections`,
    );
  };
  /** A client that takes the beginning of a download and leaves. */
  const leave = async (): Promise<void> => {
    const socket = connect(port, '127.0.0.1').on('error', () => undefined);
    socket.write('GET /downloads/groups.csv HTTP/1.1\r\nHost: x\r\n\r\n');
    await pause(50);
    socket.resetAndDestroy();
  };
  const attack = async (requests: number, requestAt: Parameters<typeof volley>[3]): Promise<void> => {
    const outcome = await volley(port, tree, requests, requestAt);
    faults.push(...outcome.faults);
    for (const [kind, found] of outcome.statuses) for (const each of found) count(kind, ...each);
  };
  const round = async (index: number): Promise<void> => {
    const honest = Array.from({ length: HONEST_A_ROUND }, async (_, request) => {
      await pause((request * ROUND_MS) / HONEST_A_ROUND);
      const response = await proxy.get(HONEST[request % HONEST.length] ?? '/');
      await response.arrayBuffer();
      count('honest', response.status);
    });
    const leaving = Array.from({ length: LEAVING_A_ROUND }, leave);
    const first = index * HOSTILE_A_ROUND;
    const hostiles = attack(HOSTILE_A_ROUND, (request) => hostileRequest(Number(seed), first + request));
    await Promise.all([...honest, ...leaving, hostiles]);
  };

  await attack(KNOWN_ATTACKS.length, (index) => KNOWN_ATTACKS[index] ?? hostileRequest(0, 0));
  await round(0);
  await pause(IDLE_MS);
  await sample('after the first round');
  const until = performance.now() + Number(minutes) * 60_000;
  for (let index = 1; performance.now() < until; index += 1) {
    await round(index);
    if (index % ROUNDS_A_SAMPLE === 0) await sample(`after ${index} rounds`);
  }
  await pause(IDLE_MS);
  await sample('at the end');
  for (const [what, times] of [...statuses].toSorted(([a], [b]) => a.localeCompare(b)))
    say(`  ${what}: ${times}`);
  if (child.exitCode !== null) faults.push(`the process ended: ${proxy.output.stderr}`);
  await proxy.stop();
  rmSync(folder, { recursive: true, force: true });
  return faults;
}
