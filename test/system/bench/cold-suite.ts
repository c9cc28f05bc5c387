/** URLs at random over a whole tree: hardly one is asked for twice, so the files are what is measured. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';

import { Dice } from '../../../data/sample/dice.js';
import { startNginx } from './nginx.js';
import { recordPaths, treeOf } from './registers.js';
import { memoryOf, startOurs, withServer, type Server } from './servers.js';
import { figure, type Context, type Contender, type Prepared, type Suite } from './suite.js';
import { wrk, writeTargets } from './wrk.js';

const CONNECTIONS = 64;
/** So long V8 takes to compile what it will run; wrk counts a slow beginning many times over in p99. */
const WARM_UP_SECONDS = 3;
const SECONDS = 6;
/** More than a run asks for, at 20,000 requests a second and some. */
const URLS_A_RUN = 200_000;
/** What the process may take: its cache of 64 MiB, Node itself, and what is in flight. */
const MEMORY_MAX_MB = 300;

export const coldSuite: Suite = {
  name: 'cold',
  description: 'URLs at random over a whole tree (--tree; 1.7 million files for the figures we publish)',
  figures: [
    figure('cold: against nginx', 'req/s', 'proxy/rps', 'higher', 'nginx/rps'),
    figure('cold: p99 against nginx', 'ms', 'proxy/p99', 'lower', 'nginx/p99'),
    figure('cold: highest resident memory, against its bound', 'MB', 'proxy/peak', 'lower', MEMORY_MAX_MB, 1),
  ],
  programs: ['wrk', 'nginx', 'taskset'],
  prepare,
};

async function prepare(context: Context): Promise<Prepared> {
  const { folder, say } = context;
  const dist = await treeOf(context);
  say('listing the tree');
  const paths = recordPaths(dist).flatMap((path) => [path, ...historyOf(path)]);
  const targets = join(folder, 'cold.txt');
  let runs = 0;

  const contender = (name: string, start: () => Promise<Server>): Contender => ({
    name,
    run: () => {
      // Others for each run, and all of them in the page cache: else whoever comes second would be the faster one.
      runs += 1;
      const chosen = choose(paths, new Dice(runs, 'cold', 0));
      for (const path of chosen) readFileSync(join(dist, path.replace(/^\/api\/.*/, '$&.json')));
      writeTargets(
        targets,
        chosen.map((path) => ({ path })),
      );
      return withServer(start, async ({ port, pid }) => {
        const load = { port, targets, connections: CONNECTIONS };
        await wrk({ ...load, seconds: WARM_UP_SECONDS, from: URLS_A_RUN / 2 });
        const { requests, seconds, p99 } = await wrk({ ...load, seconds: SECONDS });
        return { rps: requests / seconds, p99, peak: memoryOf(pid).peak };
      });
    },
  });

  return {
    contenders: [
      contender('proxy', () => startOurs(dist)),
      contender('nginx', () => startNginx(dist, join(folder, 'nginx'))),
    ],
    notes: [
      `${paths.length.toLocaleString('en-US')} records and histories; ${SECONDS} s for each run on ${CONNECTIONS} connections, after ${WARM_UP_SECONDS} s with other URLs.`,
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
