/** wrk, the load generator: as many requests as a server takes, on a number of connections. */
import { execFile } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import * as z from 'zod';

import { LOAD_CORE } from './servers.js';

const SCRIPT = fileURLToPath(new URL('../../../../test/system/bench/requests.lua', import.meta.url));

interface LoadOptions {
  readonly port: number;
  readonly targets: string;
  readonly seconds: number;
  readonly connections: number;
  readonly from?: number;
}

/** The latency in ms; `refused`: answers of 400 and above; `cpu`: the share of its core that wrk took. */
const result = z.object({
  requests: z.number(),
  seconds: z.number(),
  p99: z.number(),
  refused: z.literal(0),
  failed: z.literal(0),
  cpu: z.number(),
});

export const writeTargets = (file: string, paths: readonly string[]): void =>
  writeFileSync(file, paths.map((path) => `${path}\n`).join(''));

/** @throws ZodError if an answer was refused or failed: another thing would be measured than the one meant */
export async function wrk({ port, targets, seconds, connections, from = 0 }: LoadOptions) {
  const flags = ['-t1', `-c${connections}`, `-d${seconds}s`, '--timeout', '30s', '-s', SCRIPT];
  const command = ['wrk', ...flags, `http://127.0.0.1:${port}`, targets, String(from)];
  const { stdout } = await promisify(execFile)('taskset', ['-c', LOAD_CORE, ...command]);
  return result.parse(JSON.parse(/^RESULT (.*)$/m.exec(stdout)?.[1] ?? 'null'));
}
