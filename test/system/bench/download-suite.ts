/** One large download to many clients at once. */
import { randomBytes } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';

import { startNginx } from './nginx.js';
import { treeOf } from './registers.js';
import { cpuSecondsOf, get, memoryOf, startOurs, withServer, type Server } from './servers.js';
import { figure, type Context, type Contender, type Prepared, type Suite } from './suite.js';
import { wrk, writeTargets } from './wrk.js';

const CLIENTS = 50;
const SECONDS = 8;
const PATH = '/downloads/groups.csv';
const FILE_MB = 200;
/** What the downloads may add to the memory of the process: some 2 MB for each client. */
const GROWTH_MAX_MB = 100;

export const downloadSuite: Suite = {
  name: 'download',
  description: `a file of ${FILE_MB} MB streamed to ${CLIENTS} clients, one core for the server`,
  figures: [
    figure('download: against nginx', 'MB/s', 'proxy/rate', 'higher', 'nginx/rate'),
    figure('download: processor time of 1 GB against nginx', 's', 'proxy/cpu', 'lower', 'nginx/cpu'),
    figure('download: memory it adds, against its bound', 'MB', 'proxy/growth', 'lower', GROWTH_MAX_MB, 1),
  ],
  programs: ['wrk', 'nginx', 'taskset'],
  prepare,
};

async function prepare(context: Context): Promise<Prepared> {
  const { folder } = context;
  // Its own, since a file of it is replaced.
  const dist = await treeOf({ ...context, tree: undefined, register: undefined });
  writeFileSync(join(dist, PATH), Buffer.alloc(FILE_MB * 1e6, randomBytes(1_000_000)));
  const targets = join(folder, 'download.txt');
  writeTargets(targets, [{ path: PATH }]);

  const contender = (name: string, start: () => Promise<Server>): Contender => ({
    name,
    run: () =>
      withServer(start, async ({ port, pid }) => {
        await get(port, PATH, { Range: 'bytes=0-0' });
        const [before, cpuBefore] = [memoryOf(pid).now, cpuSecondsOf(pid)];
        const { bytes, seconds } = await wrk({ port, targets, seconds: SECONDS, connections: CLIENTS });
        return {
          rate: bytes / 1e6 / seconds,
          cpu: (cpuSecondsOf(pid) - cpuBefore) / (bytes / 1e9),
          growth: memoryOf(pid).peak - before,
        };
      }),
  });

  return {
    contenders: [
      contender('proxy', () => startOurs(dist)),
      contender('nginx', () => startNginx(dist, join(folder, 'nginx'))),
    ],
    notes: [
      `${SECONDS} s for each run; the clients read as fast as they can, and wrk has one core for all of them.`,
    ],
  };
}
