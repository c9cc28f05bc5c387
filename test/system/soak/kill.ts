/** Builds that are killed at random moments, and what must be true of the tree afterwards. */
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { start } from '../../support/cli.js';
import { inState } from '../../support/tree.js';

const POLL_MS = 1;

/** Where a build is, as the tree says. */
export type Phase = 'before the commit' | 'within the commit' | 'after the commit';

export interface Kill {
  readonly phase: Phase;
  /** Whether the process was still there to be killed. */
  readonly killed: boolean;
}

const sequenceOf = (out: string): string =>
  /"sequence":(\d+)/.exec(readFileSync(join(out, 'snapshot.json'), 'utf8'))?.[1] ?? 'none';

const journal = (out: string): string => inState(out, 'stage/COMMIT');

const startBuild = (register: string, out: string, more: readonly string[] = []) =>
  start(['build', '--register', register, '--out', out, '--quiet', '--accept-removals', ...more]);

/** Runs a build to its end. */
export async function buildWhole(register: string, out: string): Promise<void> {
  const { code, stderr } = await startBuild(register, out).done;
  if (code !== 0) throw new Error(`build of ${register} ended with ${code}: ${stderr}`);
}

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
  const { child, done } = startBuild(register, out, more);
  if (inCommit) {
    while (!existsSync(journal(out)) && child.exitCode === null) await sleep(POLL_MS);
  }
  await Promise.race([sleep(afterMs), done]);
  const killed = child.kill(signal);
  await done;
  if (existsSync(journal(out))) return { phase: 'within the commit', killed };
  return { phase: sequenceOf(out) === before ? 'before the commit' : 'after the commit', killed };
}
