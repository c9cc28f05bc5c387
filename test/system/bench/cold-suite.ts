import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

import { Dice } from '../../../data/sample/dice.js';
import { figure, type Context, type Contender, type Prepared, type Suite } from './frame/suite.js';
import { wrk, writeTargets } from './load/wrk.js';
import { startNginx, startOurs } from './servers/contenders.js';
import { memoryOf, type Server } from './servers/process.js';
import { treeOf } from './trees.js';

/** URLs at random over a whole tree: hardly one is asked for twice, so the files are what is measured. */

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

async function prepare({ folder, tree, register, say }: Context): Promise<Prepared> {
  const dist = tree ?? (await treeOf({ register, folder, say }));
  say('listing the tree');
  const paths = pathsOf(dist);
  const targets = join(folder, 'cold.txt');
  let runs = 0;

  const contender = (name: string, start: () => Promise<Server>): Contender => ({
    name,
    run: async () => {
      // Others for each run, and all of them in the page cache: else whoever comes second would be the faster one.
      runs += 1;
      const chosen = choose(paths, new Dice(runs, 'cold', 0));
      for (const path of chosen) readFileSync(join(dist, fileOf(path)));
      writeTargets(
        targets,
        chosen.map((path) => ({ path })),
      );
      const server = await start();
      try {
        const load = { port: server.port, targets, connections: CONNECTIONS };
        await wrk({ ...load, seconds: WARM_UP_SECONDS, from: URLS_A_RUN / 2 });
        const { requests, seconds, p99 } = await wrk({ ...load, seconds: SECONDS });
        return { rps: requests / seconds, p99, peak: memoryOf(server.pid).peak };
      } finally {
        await server.stop();
      }
    },
  });

  return {
    contenders: [
      contender('proxy', () => startOurs(dist)),
      contender('nginx', () => startNginx({ dist, folder: join(folder, 'nginx'), headers: [] })),
    ],
    notes: [
      `${paths.length.toLocaleString('en-US')} records and histories; ${SECONDS} s for each run on ${CONNECTIONS} connections, after ${WARM_UP_SECONDS} s with other URLs.`,
      'The files are in the page cache of the system, and unknown to the server: without that, both wait for the disk alone.',
    ],
    close: async () => undefined,
  };
}

/** Paths of all records and histories. */
function pathsOf(dist: string): string[] {
  const paths: string[] = [];
  for (const kind of ['group', 'user', 'game', 'item']) {
    for (const file of readdirSync(join(dist, 'api/v1', kind))) {
      if (!file.endsWith('.json')) continue;
      const id = file.slice(0, -'.json'.length);
      paths.push(`/api/v1/${kind}/${id}`);
      if (kind === 'group') paths.push(`/group/${id}/history.json`);
      if (kind === 'user') paths.push(`/user/${id}/usernames.json`);
    }
  }
  return paths;
}

function fileOf(path: string): string {
  return path.startsWith('/api/') ? `${path}.json` : path;
}

/** Some of them at random, none twice (the beginning of a Fisher-Yates shuffle). */
function choose(paths: string[], dice: Dice): string[] {
  const count = Math.min(URLS_A_RUN, paths.length);
  for (let index = 0; index < count; index += 1) {
    const other = index + dice.below(paths.length - index);
    const [here = '', there = ''] = [paths[index], paths[other]];
    paths[index] = there;
    paths[other] = here;
  }
  return paths.slice(0, count);
}
