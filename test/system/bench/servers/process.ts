import { spawn, type ChildProcess } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { connect, createServer } from 'node:net';
import { fileURLToPath } from 'node:url';
import { setTimeout as pause } from 'node:timers/promises';

import { PROGRAM_ENVIRONMENT } from '../frame/programs.js';

/** Servers under measurement: a process of their own on a core of its own, so that the load has the other. */

export const SERVER_CORE = 0;
export const LOAD_CORE = 1;

const PORTS = { first: 20_000, last: 20_999 };
/** From the start of a server until it answers; beyond, something is wrong with it. 30 s. */
const START_TIMEOUT_MS = 30_000;

export interface Server {
  readonly port: number;
  readonly pid: number;
  /** Ends it and waits for its end. */
  readonly stop: () => Promise<void>;
}

/** A command line that runs on one core. */
export function pinned(core: number, command: readonly string[]): [program: string, ...args: string[]] {
  return ['taskset', '-c', String(core), ...command];
}

/** A compiled program of the bench or of the project, as `proxy/main.js`. */
export function compiled(path: string): string {
  return fileURLToPath(new URL(`../../../../${path}`, import.meta.url));
}

/**
 * Starts a server and waits until it takes connections.
 *
 * @param command what to run; it is pinned to SERVER_CORE
 */
export async function startServer(command: readonly string[], port: number): Promise<Server> {
  const [program, ...args] = pinned(SERVER_CORE, command);
  const child = spawn(program, args, { stdio: ['ignore', 'ignore', 'pipe'], env: PROGRAM_ENVIRONMENT });
  let messages = '';
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    messages += text;
  });
  const kill = (): void => killFamily(child.pid);
  process.on('exit', kill);
  const untilMs = performance.now() + START_TIMEOUT_MS;
  while (!(await answers(port))) {
    if (child.exitCode !== null || performance.now() > untilMs) {
      kill();
      throw new Error(`${command.join(' ')} did not start: ${messages}`);
    }
    await pause(20);
  }
  return {
    port,
    pid: child.pid ?? 0,
    stop: async () => {
      process.off('exit', kill);
      await stop(child);
    },
  };
}

/** In one go, since nginx's worker outlives a master that is killed. */
function killFamily(pid: number | undefined): void {
  if (pid === undefined) return;
  try {
    for (const member of familyOf(pid)) process.kill(member, 'SIGKILL');
  } catch {
    // It has ended by itself.
  }
}

async function stop(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const ended = new Promise((settle) => child.once('close', settle));
  child.kill('SIGTERM');
  const impatience = setTimeout(() => child.kill('SIGKILL'), 5_000);
  await ended;
  clearTimeout(impatience);
}

async function answers(port: number): Promise<boolean> {
  return new Promise((settle) => {
    const socket = connect(port, '127.0.0.1');
    socket.once('connect', () => {
      socket.destroy();
      settle(true);
    });
    socket.once('error', () => settle(false));
  });
}

let nextPort = PORTS.first;

/** A port nobody listens on; another one with each call. */
export async function freePort(): Promise<number> {
  for (;;) {
    const port = nextPort;
    nextPort = port === PORTS.last ? PORTS.first : port + 1;
    const isFree = await new Promise<boolean>((settle) => {
      const server = createServer();
      server.once('error', () => settle(false));
      server.listen(port, '127.0.0.1', () => server.close(() => settle(true)));
    });
    if (isFree) return port;
  }
}

/** A process and those it started: nginx works in a child. */
function familyOf(pid: number): number[] {
  const children = readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').trim();
  return [pid, ...(children === '' ? [] : children.split(' ').map(Number))];
}

/** Resident memory of a server in MB: now, and at its highest so far. What its processes share counts for each. */
export function memoryOf(pid: number): { readonly now: number; readonly peak: number } {
  let [now, peak] = [0, 0];
  for (const member of familyOf(pid)) {
    const status = readFileSync(`/proc/${member}/status`, 'utf8');
    const megabytes = (field: string): number =>
      (Number(new RegExp(`^${field}:\\s+(\\d+)`, 'm').exec(status)?.[1]) * 1024) / 1e6;
    now += megabytes('VmRSS');
    peak += megabytes('VmHWM');
  }
  return { now, peak };
}

/** Clock ticks in which Linux counts processor time, on every architecture Node runs on. */
const TICKS_A_SECOND = 100;

/** Processor time a server has taken so far. */
export function cpuSecondsOf(pid: number): number {
  let ticks = 0;
  for (const member of familyOf(pid)) {
    const stat = readFileSync(`/proc/${member}/stat`, 'utf8');
    // Fields after the command's name, which may hold spaces: utime and stime are the 14th and 15th of all.
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    ticks += Number(fields[11]) + Number(fields[12]);
  }
  return ticks / TICKS_A_SECOND;
}
