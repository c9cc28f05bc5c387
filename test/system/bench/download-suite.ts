import { randomBytes } from 'node:crypto';
import { closeSync, openSync, writeSync } from 'node:fs';
import { join } from 'node:path';

import { figure, type Context, type Contender, type Prepared, type Suite } from './frame/suite.js';
import { wrk, writeTargets } from './load/wrk.js';
import { get } from './servers/answers.js';
import { startNginx, startOurs } from './servers/contenders.js';
import { cpuSecondsOf, memoryOf, type Server } from './servers/process.js';
import { treeOf } from './trees.js';

/** One large download to many clients at once. */

const CLIENTS = 50;
const SECONDS = 8;
const FILE = 'downloads/groups.csv';
const FILE_BYTES = 200_000_000;
const PIECE_BYTES = 1_000_000;
/** What the downloads may add to the memory of the process: some 2 MB for each client. */
const GROWTH_MAX_MB = 100;

export const downloadSuite: Suite = {
  name: 'download',
  description: `a file of ${FILE_BYTES / 1e6} MB streamed to ${CLIENTS} clients, one core for the server`,
  figures: [
    figure('download: against nginx', 'MB/s', 'proxy/rate', 'higher', 'nginx/rate'),
    figure('download: processor time of 1 GB against nginx', 's', 'proxy/cpu', 'lower', 'nginx/cpu'),
    figure('download: memory it adds, against its bound', 'MB', 'proxy/growth', 'lower', GROWTH_MAX_MB, 1),
  ],
  programs: ['wrk', 'nginx', 'taskset'],
  prepare,
};

async function prepare({ folder, say }: Context): Promise<Prepared> {
  const dist = await treeOf({ register: undefined, folder, say });
  writeLargeFile(join(dist, FILE));
  const path = `/${FILE}`;
  const targets = join(folder, 'download.txt');
  writeTargets(targets, [{ path }]);

  const contender = (name: string, start: () => Promise<Server>): Contender => ({
    name,
    run: async () => {
      const server = await start();
      const { port, pid } = server;
      try {
        // The first answer reads the file once for its entity tag.
        await get(port, path, { Range: 'bytes=0-0' });
        const before = memoryOf(pid).now;
        const cpuBefore = cpuSecondsOf(pid);
        const { bytes, seconds } = await wrk({ port, targets, seconds: SECONDS, connections: CLIENTS });
        return {
          rate: bytes / 1e6 / seconds,
          cpu: (cpuSecondsOf(pid) - cpuBefore) / (bytes / 1e9),
          growth: memoryOf(pid).peak - before,
        };
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
      `${SECONDS} s for each run; the clients read as fast as they can, and wrk has one core for all of them.`,
    ],
    close: async () => undefined,
  };
}

function writeLargeFile(file: string): void {
  const handle = openSync(file, 'w');
  const piece = randomBytes(PIECE_BYTES);
  for (let written = 0; written < FILE_BYTES; written += PIECE_BYTES) writeSync(handle, piece);
  closeSync(handle);
}
