import { spawn } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

import { LOAD_CORE, pinned } from '../servers/process.js';

/** wrk, the load generator: as many requests as a server takes, on a number of connections. */

const SCRIPT = fileURLToPath(new URL('../../../../../test/system/bench/load/requests.lua', import.meta.url));

/** A request to be sent over and over. */
export interface Target {
  readonly path: string;
  /** If-None-Match. */
  readonly tag?: string;
  /** X-Forwarded-For. */
  readonly client?: string;
}

export interface LoadOptions {
  readonly port: number;
  /** A file that writeTargets wrote. */
  readonly targets: string;
  readonly seconds: number;
  readonly connections: number;
  /** Which target to begin with. */
  readonly from?: number;
  /** Ends it before its time, and the promise is rejected. */
  readonly signal?: AbortSignal;
}

/** Latencies in ms. */
export interface Load {
  readonly requests: number;
  readonly seconds: number;
  readonly bytes: number;
  readonly p50: number;
  readonly p99: number;
  readonly slowest: number;
  /** Answers of 400 and above. */
  readonly refused: number;
  readonly failed: number;
  /** Share of its core that wrk took. */
  readonly cpu: number;
}

export function writeTargets(file: string, targets: readonly Target[]): void {
  writeFileSync(
    file,
    targets.map(({ path, tag = '', client = '' }) => `${path}\t${tag}\t${client}\n`).join(''),
  );
}

/**
 * Has it run and waits for its end.
 *
 * @throws Error if an answer was refused or failed: another thing would be measured than the one meant
 */
export async function wrk({
  port,
  targets,
  seconds,
  connections,
  from = 0,
  signal,
}: LoadOptions): Promise<Load> {
  const flags = ['-t1', `-c${connections}`, `-d${seconds}s`, '--timeout', '30s', '-s', SCRIPT];
  const [program, ...args] = pinned(LOAD_CORE, [
    'wrk',
    ...flags,
    `http://127.0.0.1:${port}`,
    targets,
    String(from),
  ]);
  const child = spawn(program, args, { stdio: ['ignore', 'pipe', 'pipe'], signal });
  let output = '';
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding('utf8').on('data', (text: string) => {
      output += text;
    });
  }
  await new Promise((settle, reject) => child.on('error', reject).on('close', settle));
  const load = readLoad(output);
  if (load.refused + load.failed > 0)
    throw new Error(`${load.refused} refused, ${load.failed} failed: ${output}`);
  return load;
}

function readLoad(output: string): Load {
  const parsed: unknown = JSON.parse(/^RESULT (.*)$/m.exec(output)?.[1] ?? 'null');
  if (typeof parsed !== 'object' || parsed === null) throw new Error(`wrk gave no result: ${output}`);
  const value = (name: string): number => Number(Reflect.get(parsed, name));
  return {
    requests: value('requests'),
    seconds: value('seconds'),
    bytes: value('bytes'),
    p50: value('p50'),
    p99: value('p99'),
    slowest: value('slowest'),
    refused: value('refused'),
    failed: value('failed'),
    cpu: value('cpu'),
  };
}
