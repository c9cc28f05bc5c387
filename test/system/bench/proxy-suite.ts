/** The proxy against the floor, against what people use, and against nginx: hot URLs, and cold ones. */
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

import { Dice } from '../../../data/sample/dice.js';
import { startNginx } from './nginx.js';
import { recordPaths, treeOf } from './registers.js';
import { memoryOf, startExpress, startOurs, startRaw, takeDown, withServer, type Server } from './servers.js';
import { figure, type Context, type Contender, type Prepared, type Suite } from './suite.js';
import { wrk, writeTargets } from './wrk.js';

const contender = (
  name: string,
  start: () => Promise<Server>,
  measure: (server: Server) => ReturnType<Contender['run']>,
): Contender => ({ name, run: () => withServer(start, measure) });

const CONNECTIONS = 64;
const HOT_WARM_UP_SECONDS = 2;
const HOT_SECONDS = 3;
/** A generator that takes more of its core has measured itself. */
const LOAD_CPU_MAX = 0.95;

export const proxySuite: Suite = {
  name: 'proxy',
  description: '1,000 hot URLs on 64 connections, one core for the server',
  figures: [
    figure('against node:http from memory', 'req/s', 'proxy/rps', 'higher', 'raw/rps', 0.55),
    figure('p99 against node:http', 'ms', 'proxy/p99', 'lower', 'raw/p99', 3),
    figure('against Express, its static and rate-limit', 'req/s', 'proxy/rps', 'higher', 'express/rps', 5),
    figure('against nginx with limit_req', 'req/s', 'proxy/rps', 'higher', 'nginx/rps'),
    figure('resident memory after all that', 'MB', 'proxy/rss', 'lower', 'raw/rss'),
  ],
  prepare: prepareHot,
};

async function prepareHot(context: Context): Promise<Prepared> {
  const { folder, say } = context;
  const dist = await treeOf(context);
  const paths = recordPaths(dist, 250);
  const answers = await withServer(
    () => startOurs(dist),
    ({ port }) => takeDown(port, paths),
  );
  const answersFile = join(folder, 'answers.json');
  writeFileSync(answersFile, JSON.stringify(answers));
  const targets = join(folder, 'hot.txt');
  writeTargets(targets, paths);
  const hotContender = (name: string, start: () => Promise<Server>): Contender =>
    contender(name, start, async ({ port, pid }) => {
      const load = { port, targets, connections: CONNECTIONS };
      await wrk({ ...load, seconds: HOT_WARM_UP_SECONDS });
      const { requests, seconds, p99, cpu } = await wrk({ ...load, seconds: HOT_SECONDS });
      if (cpu > LOAD_CPU_MAX) say(`wrk took ${cpu} of its core: it measured itself`);
      return { rps: requests / seconds, p99, rss: memoryOf(pid).now };
    });

  const bytes = answers.map(({ body }) => Buffer.from(body, 'base64').length);
  return {
    contenders: [
      hotContender('proxy', () => startOurs(dist)),
      hotContender('raw', () => startRaw(answersFile)),
      hotContender('express', () => startExpress(dist)),
      hotContender('nginx', () => startNginx(dist, join(folder, 'nginx'), answers[0]?.fields)),
    ],
    notes: [
      `${paths.length} records of ${Math.min(...bytes)} to ${Math.max(...bytes)} bytes; ${HOT_SECONDS} s for each run after ${HOT_WARM_UP_SECONDS} s of warming up; the server is restarted for each run.`,
      `Server and wrk have a core each. The proxy runs with its defaults: limiter, CORS, caching and security headers, metrics; no access log.`,
    ],
  };
}

/** So long V8 takes to compile what it will run; wrk counts a slow beginning many times over in p99. */
const COLD_WARM_UP_SECONDS = 3;
const COLD_SECONDS = 6;
/** More than a run asks for, at 20,000 requests a second and some. */
const URLS_A_RUN = 200_000;
/** What the process may take: its cache of 64 MiB, Node itself, and what is in flight. */
const MEMORY_MAX_MB = 300;

export const coldSuite: Suite = {
  name: 'cold',
  description: 'URLs at random over a whole tree (--tree)',
  figures: [
    figure('cold: against nginx', 'req/s', 'proxy/rps', 'higher', 'nginx/rps'),
    figure('cold: p99 against nginx', 'ms', 'proxy/p99', 'lower', 'nginx/p99'),
    figure('cold: highest resident memory, against its bound', 'MB', 'proxy/peak', 'lower', MEMORY_MAX_MB, 1),
  ],
  prepare: prepareCold,
};

/** Hardly a URL is asked for twice, so the files are what is measured. */
async function prepareCold(context: Context): Promise<Prepared> {
  const { folder, say } = context;
  const dist = await treeOf(context);
  say('listing the tree');
  const paths = recordPaths(dist).flatMap((path) => [path, ...historyOf(path)]);
  const targets = join(folder, 'cold.txt');
  let runs = 0;
  /** Others for each run, and all of them in the page cache: else whoever comes second would be the faster one. */
  const prepared = (start: () => Promise<Server>) => (): Promise<Server> => {
    runs += 1;
    const chosen = choose(paths, new Dice(runs, 'cold', 0));
    for (const path of chosen) readFileSync(join(dist, path.replace(/^\/api\/.*/, '$&.json')));
    writeTargets(targets, chosen);
    return start();
  };
  const measure = async ({ port, pid }: Server) => {
    const load = { port, targets, connections: CONNECTIONS };
    await wrk({ ...load, seconds: COLD_WARM_UP_SECONDS, from: URLS_A_RUN / 2 });
    const { requests, seconds, p99 } = await wrk({ ...load, seconds: COLD_SECONDS });
    return { rps: requests / seconds, p99, peak: memoryOf(pid).peak };
  };
  const starts = { proxy: () => startOurs(dist), nginx: () => startNginx(dist, join(folder, 'nginx')) };
  return {
    contenders: Object.entries(starts).map(([name, start]) => contender(name, prepared(start), measure)),
    notes: [
      `${paths.length.toLocaleString('en-US')} records and histories; ${COLD_SECONDS} s for each run on ${CONNECTIONS} connections, after ${COLD_WARM_UP_SECONDS} s with other URLs.`,
      'The files are in the page cache of the system, and unknown to the server: without that, both wait for the disk alone.',
    ],
  };
}

function historyOf(path: string): string[] {
  const [, kind, id] = /^\/api\/v1\/(group|user)\/(\d+)$/.exec(path) ?? [];
  if (kind === undefined) return [];
  return [`/${kind}/${id}/${kind === 'group' ? 'history' : 'usernames'}.json`];
}

/** Some of them at random, none twice (the beginning of a Fisher-Yates shuffle). */
function choose(paths: string[], dice: Dice): string[] {
  const count = Math.min(URLS_A_RUN, paths.length);
  for (let index = 0; index < count; index += 1) {
    const other = index + dice.below(paths.length - index);
    [paths[index], paths[other]] = [paths[other] ?? '', paths[index] ?? ''];
  }
  return paths.slice(0, count);
}
