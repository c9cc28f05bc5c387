/** The contract suite against each way to serve a tree, with the differences that docs/edge-servers.md lists. */
import { cpSync, readdirSync, utimesSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { contractCases, sender } from '../../../system/contract/cases.js';
import { DIFFERENCES, SERVERS, type ServerName } from '../../../system/contract/differences.js';
import { startNginx, startVarnish, type EdgeServer } from '../../../system/contract/servers.js';
import { sampleTree } from '../../../system/contract/sample-tree.js';
import { temporary } from '../../../support/folder.js';
import { has } from '../../../support/programs.js';
import { startProxy } from '../../../support/proxy.js';

const path = temporary();
const out = path('dist');
const bases = new Map<ServerName, string>();
const stops: (() => Promise<unknown>)[] = [];
const isPossible: Readonly<Record<ServerName, boolean>> = {
  nginx: has('the contract of nginx', 'nginx'),
  'varnish before proxy': has('the contract of Varnish', 'varnish'),
};

beforeAll(async () => {
  cpSync(await sampleTree(), out, { recursive: true });
  // Dates a minute later must lie in the past: others are ignored.
  const anHourAgo = new Date(Date.now() - 3_600_000);
  for (const file of readdirSync(out, { recursive: true, encoding: 'utf8' }))
    utimesSync(join(out, file), anHourAgo, anHourAgo);
  const proxy = await startProxy(out, ['--trust-proxy=loopback'], { limits: {} });
  stops.push(proxy.stop);
  const start = async (name: ServerName, server: () => Promise<EdgeServer>): Promise<void> => {
    if (!isPossible[name]) return;
    const { base, stop } = await server();
    stops.unshift(stop);
    bases.set(name, base);
  };
  await start('nginx', () => startNginx(out, path('nginx')));
  await start('varnish before proxy', () => startVarnish(path('varnish'), proxy.port));
});

afterAll(async () => {
  for (const stop of stops) await stop();
});

it.each(SERVERS.filter((server) => isPossible[server]))('the contract is kept by %s', async (server) => {
  const send = sender(bases.get(server) ?? '');
  const known = DIFFERENCES.filter(({ servers }) => servers.includes(server));
  const shown = new Set<string>();
  const unknown: string[] = [];
  for (const { name, run } of contractCases(out)) {
    for (const line of await run(send)) {
      const difference = known.find(({ where, what }) => where.test(name) && what.test(line));
      if (difference === undefined) unknown.push(`${name}: ${line}`);
      else shown.add(difference.why);
    }
  }
  expect(unknown).toEqual([]);
  expect(shown).toEqual(new Set(known.map(({ why }) => why)));
});
