import { existsSync, readFileSync } from 'node:fs';
import { Agent, request } from 'node:http';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';

import { figure, type Context, type Prepared, type Suite } from './frame/suite.js';
import { hotPaths } from './hot-paths.js';
import { wrk, writeTargets } from './load/wrk.js';
import { startOurs } from './servers/contenders.js';
import { changedCopy, generate, registerOf } from './trees.js';
import { inState } from '../../support/tree.js';

/** A new snapshot published while the proxy is under full load: what the clients notice. */

/** Of the fictional register, if none is given. */
const RECORDS = 20_000;
const LOAD_CONNECTIONS = 60;
/** Beside the load, clients whose every answer is timed. */
const PROBES = 4;
const BEFORE_MS = 4_000;
/** The proxy looks for a new snapshot each second, and then at each file once more. */
const AFTER_COMMIT_MS = 2_000;
/** Longer than anything here takes; the load is ended with the server. */
const LOAD_SECONDS = 60;
const POLL_MS = 2;

const P99 = (phase: string) => ['ms', `proxy/p99${phase}`, 'lower', 'proxy/p99before'] as const;

export const publishSuite: Suite = {
  name: 'publish',
  description: 'publishing under full load (--register, --register-next)',
  figures: [
    figure('p99 while the commit is made and taken into service, against before', ...P99('commit')),
    figure(
      'p99 while the snapshot is rendered, on the cores of server and load, against before',
      ...P99('rendering'),
    ),
    figure('how long the commit took', 'ms', 'proxy/commit', 'lower'),
    figure('answers that failed', '', 'proxy/failed', 'lower'),
  ],
  programs: ['wrk', 'taskset'],
  prepare,
};

type Phase = 'before' | 'rendering' | 'commit';

async function prepare({ folder, register, registerNext, say }: Context): Promise<Prepared> {
  const a = await registerOf({ register, folder, records: RECORDS, say });
  const b = registerNext ?? changedCopy(a, join(folder, 'next.sqlite'));
  const dist = join(folder, 'dist');
  say(`building the tree of ${a}`);
  await generate(['build', '--register', a, '--out', dist]);
  const targets = join(folder, 'hot.txt');
  const paths = hotPaths(dist);
  writeTargets(
    targets,
    paths.map((path) => ({ path })),
  );

  let runs = 0;
  const run = async () => {
    runs += 1;
    const next = runs % 2 === 0 ? a : b;
    const server = await startOurs(dist);
    const { port } = server;
    try {
      await wrk({ port, targets, seconds: 2, connections: LOAD_CONNECTIONS });
      const loading = new AbortController();
      const load = wrk({
        port,
        targets,
        seconds: LOAD_SECONDS,
        connections: LOAD_CONNECTIONS,
        signal: loading.signal,
      }).catch(() => undefined);
      const probe = startProbe(port, paths);
      await pause(BEFORE_MS);
      probe.enter('rendering');
      const building = generate(['build', '--register', next, '--out', dist, '--accept-removals']);
      const commitMs = await commitOf(dist, building, () => probe.enter('commit'));
      await building;
      await pause(AFTER_COMMIT_MS);
      const { times, failed } = await probe.stop();
      loading.abort();
      await load;
      return {
        p99before: percentile(times.before, 0.99),
        p99rendering: percentile(times.rendering, 0.99),
        p99commit: percentile(times.commit, 0.99),
        commit: commitMs,
        failed,
      };
    } finally {
      await server.stop();
    }
  };

  return {
    contenders: [{ name: 'proxy', run }],
    notes: [
      `From one register to the other and back, run by run: ${a}, ${b}; ${LOAD_CONNECTIONS} connections of load on ${paths.length} URLs, ${PROBES} timed ones beside them. The generator shares the two cores with both.`,
      `The commit's phase lasts from its first rename to ${AFTER_COMMIT_MS / 1000} s after its end, so the proxy has taken the new snapshot into service.`,
    ],
    close: async () => undefined,
  };
}

/** Waits for the commit, says when it begins, and gives how long it took. */
async function commitOf(dist: string, building: Promise<void>, begins: () => void): Promise<number> {
  const journal = inState(dist, 'stage/COMMIT');
  const sequence = (): string =>
    /"sequence":(\d+)/.exec(readFileSync(join(dist, 'snapshot.json'), 'utf8'))?.[1] ?? '';
  const first = sequence();
  const build = { isRunning: true };
  void building.finally(() => {
    build.isRunning = false;
  });
  while (build.isRunning && !existsSync(journal) && sequence() === first) await pause(POLL_MS);
  begins();
  const startedMs = performance.now();
  while (build.isRunning && sequence() === first) await pause(POLL_MS);
  return performance.now() - startedMs;
}

interface Probe {
  readonly enter: (phase: Phase) => void;
  readonly stop: () => Promise<{ times: Readonly<Record<Phase, number[]>>; failed: number }>;
}

/** Clients that ask one after the other, and note how long each answer took in the phase it came in. */
function startProbe(port: number, paths: readonly string[]): Probe {
  const agent = new Agent({ keepAlive: true, maxSockets: PROBES });
  const times: Record<Phase, number[]> = { before: [], rendering: [], commit: [] };
  let phase: Phase = 'before';
  let failed = 0;
  const probe = { isRunning: true };
  const ask = async (path: string): Promise<boolean> =>
    new Promise((settle) => {
      request({ agent, port, host: '127.0.0.1', path }, (response) => {
        response.resume().on('end', () => settle(response.statusCode === 200 || response.statusCode === 404));
      })
        .on('error', () => settle(false))
        .end();
    });
  const client = async (first: number): Promise<void> => {
    for (let asked = first; probe.isRunning; asked += PROBES) {
      const startedMs = performance.now();
      const isAnswered = await ask(paths[asked % paths.length] ?? '/');
      times[phase].push(performance.now() - startedMs);
      if (!isAnswered) failed += 1;
    }
  };
  const clients = Array.from({ length: PROBES }, (_, index) => client(index));
  return {
    enter: (next) => {
      phase = next;
    },
    stop: async () => {
      probe.isRunning = false;
      await Promise.all(clients);
      agent.destroy();
      return { times, failed };
    },
  };
}

function percentile(times: readonly number[], share: number): number {
  const sorted = times.toSorted((a, b) => a - b);
  return sorted[Math.floor(share * (sorted.length - 1))] ?? Number.NaN;
}
