/** Hostile requests against the proxy as a process, which has to answer well and hold nothing in the end. */
import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';

import { adminOf, startProxy } from '../../support/proxy.js';
import { volley } from './session.js';
import { makeTree } from './tree.js';

/** For connections that their clients have left. 10 s. */
const PATIENCE_MS = 10_000;

/** @returns what went wrong, and how many requests came to which status */
export async function hostile(count: number, seed: number) {
  const folder = mkdtempSync(join(tmpdir(), 'hostile-'));
  const tree = makeTree(folder);
  const proxy = await startProxy(tree.dist, ['--admin-port', '0']);
  const { child, output, port } = proxy;
  const descriptors = (): number => readdirSync(`/proc/${child.pid}/fd`).length;
  const before = process.platform === 'linux' ? descriptors() : 0;
  const { faults, statuses } = await volley(port, tree, count, seed);
  const held = async (): Promise<string | undefined> =>
    /^register_proxy_connections (?!0$).+/m.exec(
      await (await fetch(`${adminOf(proxy)}/metrics`)).text(),
    )?.[0];
  const endMs = performance.now() + PATIENCE_MS;
  while ((await held()) !== undefined && performance.now() < endMs) await pause(200);
  const left = await held();
  if (left !== undefined) faults.push(`nobody is there, but ${left}`);
  // The connections of this function to the port for operations are kept.
  if (before > 0 && descriptors() > before + 5)
    faults.push(`it held ${before} descriptors at first, and ${descriptors()} in the end`);
  const code = await proxy.stop();
  if (code !== 0 || output.stderr.includes('defect'))
    faults.unshift(`the proxy ended with ${code} and said ${output.stderr}`);
  rmSync(folder, { recursive: true, force: true });
  return { faults, statuses };
}
