/** 1,000 hot URLs on 64 connections: the proxy against the floor, against what people use, and against nginx. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';

import { startEdge, startNginx } from './nginx.js';
import { recordPaths, treeOf } from './registers.js';
import { memoryOf, startExpress, startOurs, startRaw, takeDown, withServer, type Server } from './servers.js';
import { figure, type Context, type Contender, type Figure, type Prepared, type Suite } from './suite.js';
import { wrk, writeTargets } from './wrk.js';

const CONNECTIONS = 64;
/** Whose addresses a trusted proxy forwards. */
const CLIENTS = 1_000_000;
const WARM_UP_SECONDS = 2;
const SECONDS = 3;
/** A generator that takes more of its core has measured itself. */
const LOAD_CPU_MAX = 0.95;

/** Of answers 200 and 304, the names of the values: requests a second, and the slowest in a hundred. */
const STATUSES = [
  ['200', 'rps', 'p99'],
  ['304', 'rps304', 'p99of304'],
] as const;

const REQ = 'req/s';
const TRUSTED = 'trusted/rps';

export const proxySuite: Suite = {
  name: 'proxy',
  description: '1,000 hot URLs on 64 connections, one core for the server',
  figures: [
    ...STATUSES.flatMap(([status, rps, p99]) => {
      const against = (what: string, peer: string, target?: number): Figure =>
        figure(`${status}: against ${what}`, REQ, `proxy/${rps}`, 'higher', `${peer}/${rps}`, target);
      return [
        against('node:http from memory', 'raw', 0.55),
        against('the same with answers written together', 'together'),
        figure(`${status}: p99 against node:http`, 'ms', `proxy/${p99}`, 'lower', `raw/${p99}`, 3),
        against('Express, express.static, express-rate-limit', 'express', 5),
        against('nginx with limit_req', 'nginx'),
        against('nginx with the generated configuration', 'edge'),
      ];
    }),
    figure(
      '200: behind a trusted proxy, a million clients, against direct',
      ...([REQ, TRUSTED, 'higher', 'proxy/rps', 0.9] as const),
    ),
    figure('the same requests: against node:http from memory', REQ, TRUSTED, 'higher', 'rawForwarded/rps'),
    figure('resident memory after all that', 'MB', 'proxy/rss', 'lower', 'raw/rss'),
  ],
  programs: ['wrk', 'nginx', 'taskset'],
  prepare,
};

async function prepare(context: Context): Promise<Prepared> {
  const { folder, say } = context;
  const dist = await treeOf(context);
  const paths = recordPaths(dist, 250);
  const answers = await withServer(
    () => startOurs(dist),
    ({ port }) => takeDown(port, paths),
  );
  const answersFile = join(folder, 'answers.json');
  writeFileSync(answersFile, JSON.stringify(answers));
  const [hot, forwarded] = [join(folder, 'hot.txt'), join(folder, 'forwarded.txt')];
  writeTargets(
    hot,
    paths.map((path) => ({ path })),
  );
  writeTargets(
    forwarded,
    Array.from({ length: CLIENTS }, (_, index) => ({
      path: paths[index % paths.length] ?? '/',
      client: clientAddress(index),
    })),
  );

  /** @param hasOwnTags its entity tags are not those of the proxy */
  const contender = (name: string, start: () => Promise<Server>, hasOwnTags = false): Contender => ({
    name,
    run: () =>
      withServer(start, async ({ port, pid }) => {
        const unmodified = join(folder, `${name}-304.txt`);
        const tagged = hasOwnTags ? await takeDown(port, paths) : answers;
        writeTargets(
          unmodified,
          tagged.map(({ path, tag }) => ({ path, tag })),
        );
        const load = async (targets: string, seconds: number) => {
          const measured = await wrk({ port, targets, seconds, connections: CONNECTIONS });
          if (measured.cpu > LOAD_CPU_MAX) say(`wrk took ${measured.cpu} of its core: it measured itself`);
          return measured;
        };
        await load(hot, WARM_UP_SECONDS);
        const ok = await load(hot, SECONDS);
        const notModified = await load(unmodified, SECONDS);
        return {
          rps: ok.requests / ok.seconds,
          p99: ok.p99,
          rps304: notModified.requests / notModified.seconds,
          p99of304: notModified.p99,
          rss: memoryOf(pid).now,
          wrk: Math.max(ok.cpu, notModified.cpu),
        };
      }),
  });
  const forwarding = (name: string, start: () => Promise<Server>): Contender => ({
    name,
    run: () =>
      withServer(start, async ({ port }) => {
        const load = { port, targets: forwarded, connections: CONNECTIONS };
        await wrk({ ...load, seconds: WARM_UP_SECONDS });
        const { requests, seconds } = await wrk({ ...load, seconds: SECONDS, from: CLIENTS / 2 });
        return { rps: requests / seconds };
      }),
  });

  const bytes = answers.map(({ body }) => Buffer.from(body, 'base64').length);
  return {
    contenders: [
      contender('proxy', () => startOurs(dist)),
      forwarding('trusted', () => startOurs(dist, '--trust-proxy=loopback')),
      contender('raw', () => startRaw(answersFile)),
      forwarding('rawForwarded', () => startRaw(answersFile)),
      contender('together', () => startRaw(answersFile, 'together')),
      contender('express', () => startExpress(dist), true),
      contender('edge', () => startEdge(dist, join(folder, 'edge')), true),
      contender('nginx', () => startNginx(dist, join(folder, 'nginx'), answers[0]?.ok), true),
    ],
    notes: [
      `${paths.length} records of ${Math.min(...bytes)} to ${Math.max(...bytes)} bytes; ${SECONDS} s for each run after ${WARM_UP_SECONDS} s of warming up; the server is restarted for each run.`,
      `Server and wrk have a core each. The proxy runs with its defaults: limiter, CORS, caching and security headers, metrics; no access log.`,
    ],
  };
}

/** Half of them IPv4, half /56 networks of IPv6, none twice; followed by one more hop that is trusted. */
function clientAddress(index: number): string {
  const client =
    index % 2 === 0
      ? `${11 + (index >>> 24)}.${(index >>> 16) & 255}.${(index >>> 8) & 255}.${index & 255}`
      : `2001:db8:${(index >>> 8).toString(16)}:${((index & 255) << 8).toString(16)}::1`;
  return `${client}, 127.0.0.9`;
}
