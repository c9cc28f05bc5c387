import { spawn } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { z } from 'zod';

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

/** The latency in ms; `refused`: answers of 400 and above; `cpu`: the share of its core that wrk took. */
const result = z.object({
  requests: z.number(),
  seconds: z.number(),
  bytes: z.number(),
  p99: z.number(),
  refused: z.number(),
  failed: z.number(),
  cpu: z.number(),
});
export type Load = z.infer<typeof result>;

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
export async function wrk(options: LoadOptions): Promise<Load> {
  const { port, targets, seconds, connections, from = 0, signal } = options;
  const flags = ['-t1', `-c${connections}`, `-d${seconds}s`, '--timeout', '30s', '-s', SCRIPT];
  const command = ['wrk', ...flags, `http://127.0.0.1:${port}`, targets, String(from)];
  const [program, ...args] = pinned(LOAD_CORE, command);
  const child = spawn(program, args, { stdio: ['ignore', 'pipe', 'pipe'], signal });
  let output = '';
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding('utf8').on('data', (text: string) => {
      output += text;
    });
  }
  await new Promise((settle, reject) => child.on('error', reject).on('close', settle));
  const load = result.parse(JSON.parse(/^RESULT (.*)$/m.exec(output)?.[1] ?? 'null'));
  if (load.refused + load.failed > 0)
    throw new Error(`${load.refused} refused, ${load.failed} failed: ${output}`);
  return load;
}
