/** Builds that are killed at random moments, and what must be true of the tree afterwards. */
import { spawn } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { hashes, inState, lasting, readTree } from '../../support/tree.js';

/** Both the tests and the long run start in the project's folder. */
const CLI = resolve('build/generator/cli.js');
const POLL_MS = 1;

/** Where a build is, as the tree tells it. */
export type Phase = 'before the commit' | 'within the commit' | 'after the commit';

export interface Kill {
  readonly phase: Phase;
  /** Whether the process was still there to be killed. */
  readonly killed: boolean;
}

const sequenceOf = (out: string): string =>
  /"sequence":(\d+)/.exec(readFileSync(join(out, 'snapshot.json'), 'utf8'))?.[1] ?? 'none';

const journal = (out: string): string => inState(out, 'stage/COMMIT');

/** Runs a build to its end. */
export async function buildWhole(register: string, out: string): Promise<void> {
  const child = start(register, out);
  const code = await ended(child);
  if (code !== 0) throw new Error(`build of ${register} ended with ${code}: ${child.messages.join('')}`);
}

function start(register: string, out: string, more: readonly string[] = []) {
  const child = spawn(
    process.execPath,
    [CLI, 'build', '--register', register, '--out', out, '--quiet', '--accept-removals', ...more],
    {
      stdio: ['ignore', 'ignore', 'pipe'],
    },
  );
  const messages: string[] = [];
  child.stderr.setEncoding('utf8').on('data', (text: string) => messages.push(text));
  return Object.assign(child, { messages });
}

const ended = (child: ReturnType<typeof start>): Promise<number | null> =>
  new Promise((resolve) => child.on('close', resolve));

/**
 * Starts a build and sends it a signal.
 * @param afterMs milliseconds after the start or, if `inCommit`, after the commit was seen to begin
 * @param more further options of the build
 */
export async function killBuild(
  register: string,
  out: string,
  afterMs: number,
  inCommit: boolean,
  more: readonly string[] = [],
  signal: NodeJS.Signals = 'SIGKILL',
): Promise<Kill> {
  const before = sequenceOf(out);
  const child = start(register, out, more);
  const done = ended(child);
  if (inCommit) {
    while (!existsSync(journal(out)) && child.exitCode === null) await sleep(POLL_MS);
  }
  await Promise.race([sleep(afterMs), done]);
  const killed = child.kill(signal);
  await done;
  if (existsSync(journal(out))) return { phase: 'within the commit', killed };
  return { phase: sequenceOf(out) === before ? 'before the commit' : 'after the commit', killed };
}

/** The published files but those that tell of the build itself. */
export const published = (out: string): Map<string, string> =>
  new Map(Object.entries(hashes(lasting(readTree(out)))));
