/** Hostile and honest clients at once, at a bounded rate: the process has to end as it began. */
import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
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
/** Longer than an idle connection is kept. */
const IDLE_MS = 80_000;
const HONEST = '/api/v1 /api/v1/group/8 /api/v1/largest /group/7/history.json /'.split(' ');

/** @param args minutes, seed @returns what went wrong */
export async function hostile(
  [minutes = '60', seed = '1']: readonly string[],
  say: (line: string) => void,
): Promise<readonly string[]> {
  const folder = mkdtempSync(join(tmpdir(), 'hostile-'));
  const tree = makeTree(folder);
  const proxy = await startProxy(tree.dist, ['--admin-port', '0']);
  const { child, port } = proxy;
  const faults: string[] = [];

  /** What the process holds when nobody asks. */
  const held = async () => {
    await pause(IDLE_MS);
    const metrics = await (await fetch(`${adminOf(proxy)}/metrics`)).text();
    const connections = Number(/^register_proxy_connections (\S+)/m.exec(metrics)?.[1]);
    const found = { descriptors: readdirSync(`/proc/${child.pid}/fd`).length, connections };
    say(JSON.stringify(found));
    return found;
  };
  const attack = async (requests: number, requestAt: Parameters<typeof volley>[3]): Promise<void> =>
    void faults.push(...(await volley(port, tree, requests, requestAt)).faults);
  const beHonest = async (index: number): Promise<void> => {
    await pause((index * ROUND_MS) / HONEST_A_ROUND);
    const path = HONEST[index % HONEST.length] ?? '/';
    const response = await proxy.get(path);
    await response.arrayBuffer();
    if (response.status !== 200) faults.push(`an honest client got ${response.status} at ${path}`);
  };
  /** A client that takes the beginning of a download and leaves. */
  const leave = async (): Promise<void> => {
    const socket = connect(port, '127.0.0.1').on('error', () => undefined);
    socket.write('GET /downloads/groups.csv HTTP/1.1\r\nHost: x\r\n\r\n');
    await pause(50);
    socket.resetAndDestroy();
  };
  const round = async (index: number): Promise<void> => {
    const first = index * HOSTILE_A_ROUND;
    await Promise.all([
      ...Array.from({ length: HONEST_A_ROUND }, (_, request) => beHonest(request)),
      ...Array.from({ length: LEAVING_A_ROUND }, leave),
      attack(HOSTILE_A_ROUND, (request) => hostileRequest(Number(seed), first + request)),
    ]);
  };

  await attack(KNOWN_ATTACKS.length, (index) => KNOWN_ATTACKS[index] ?? hostileRequest(0, 0));
  await round(0);
  const before = await held();
  const until = performance.now() + Number(minutes) * 60_000;
  for (let index = 1; performance.now() < until; index += 1) await round(index);
  const after = await held();
  if (after.descriptors > before.descriptors || after.connections > before.connections)
    faults.push(`it held ${JSON.stringify(before)} at first, and ${JSON.stringify(after)} in the end`);
  if (child.exitCode !== null) faults.push(`the process ended: ${proxy.output.stderr}`);
  await proxy.stop();
  rmSync(folder, { recursive: true, force: true });
  return faults;
}
