/** The servers that are held against each other, each a process on one core, so that the load has the other. */
import { spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import * as z from 'zod';

import { ask } from '../../support/ask.js';
import { freePort } from '../../support/ports.js';
import { limitedTo } from '../../support/proxy.js';
import { serving } from '../contract/servers.js';
import { ENVIRONMENT } from './machine.js';

const SERVER_CORE = '0';
export const LOAD_CORE = '1';

export interface Server {
  readonly port: number;
  readonly pid: number;
  readonly stop: () => Promise<void>;
}

/** A compiled program of the project, as `proxy/main.js`. */
export const compiled = (path: string): string => fileURLToPath(new URL(`../../../${path}`, import.meta.url));

/** Starts a server on a free port, pinned to its core. */
export async function startServer(
  commandFor: (port: number) => readonly string[],
  environment: NodeJS.ProcessEnv = {},
): Promise<Server> {
  const port = await freePort();
  const env = { ...ENVIRONMENT, ...environment };
  const child = spawn('taskset', ['-c', SERVER_CORE, ...commandFor(port)], { env });
  const kill = (): void => void child.kill('SIGTERM');
  process.on('exit', kill);
  const { stop } = await serving(port, child);
  return { port, pid: child.pid ?? 0, stop: () => stop().finally(() => process.off('exit', kill)) };
}

export async function withServer<T>(
  start: () => Promise<Server>,
  use: (server: Server) => Promise<T>,
): Promise<T> {
  const server = await start();
  try {
    return await use(server);
  } finally {
    await server.stop();
  }
}

/** Nobody is refused; the limiter counts all the same. */
const ample = { tokens: 1_000_000, refill_seconds: 0.001 };
const AMPLE = limitedTo({ api: ample, download: ample });

const node = (script: string, ...args: string[]): string[] => [process.execPath, compiled(script), ...args];

/** The proxy as production runs it: every default, metrics on, and limits that refuse nobody. */
export const startOurs = (dist: string): Promise<Server> =>
  startServer((port) => node('proxy/main.js', `--dist=${dist}`, `--port=${port}`, '--admin-port=0'), AMPLE);

/** node:http and nothing else, with finished answers in memory. */
export const startRaw = (answers: string): Promise<Server> =>
  startServer((port) => node('test/system/bench/raw.js', answers, String(port)));

export const startExpress = (dist: string): Promise<Server> =>
  startServer((port) => node('test/system/bench/express.js', dist, String(port)), { NODE_ENV: 'production' });

/** Answers of the proxy to be given by others word for word: headers are a flat list, bodies in base64. */
export const takenAnswers = z.array(
  z.object({ path: z.string(), fields: z.array(z.string()), body: z.string() }),
);

export async function takeDown(
  port: number,
  paths: readonly string[],
): Promise<z.infer<typeof takenAnswers>> {
  const taken: z.infer<typeof takenAnswers> = [];
  for (const path of paths) {
    const { status, fields, body } = await ask(port, path);
    if (status !== 200) throw new Error(`${path} was answered ${status}`);
    taken.push({ path, fields: [...fields], body: body.toString('base64') });
  }
  return taken;
}

/** A process and those it started: nginx works in a child. */
function familyOf(pid: number): number[] {
  const children = readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').trim();
  return [pid, ...(children === '' ? [] : children.split(' ').map(Number))];
}

/** Resident memory of a server in MB: now, and at its highest so far. What its processes share counts for each. */
export function memoryOf(pid: number): { readonly now: number; readonly peak: number } {
  const statuses = familyOf(pid).map((member) => readFileSync(`/proc/${member}/status`, 'utf8'));
  const sum = (field: string): number =>
    statuses
      .map((status) => (Number(new RegExp(`^${field}:\\s+(\\d+)`, 'm').exec(status)?.[1]) * 1024) / 1e6)
      .reduce((a, b) => a + b);
  return { now: sum('VmRSS'), peak: sum('VmHWM') };
}
