/** What a command may use of its process, passed in by program.ts. */
import type { Effects } from '../pipeline/build.js';
import { EXIT } from '../base/errors.js';
import type { Progress } from '../base/progress.js';
import { whenFree } from '../base/lock.js';
import type { Common, WaitOption } from './options.js';
import { jsonLine, type RunCost } from './report.js';

export interface Terminal {
  /** Prints a result to standard output. */
  readonly say: (line: string) => void;
  /** Prints a message to standard error. */
  readonly warn: (line: string) => void;
  readonly progress: (quiet?: boolean) => Progress;
  /** Starts the threads that read a register. */
  readonly startThreads: Effects['startThreads'];
  readonly now: Effects['now'];
  readonly effects: (quiet?: boolean) => Effects;
  /** The cost of the run so far. */
  readonly cost: () => RunCost;
  /** Sets the exit code; the process ends once its output is written. */
  readonly exitWith: (code: number) => void;
}

/**
 * Prints what came of a command: with --json the facts, otherwise lines, and with --quiet nothing.
 * @param isWell otherwise the lines are printed also with --quiet, and the exit code is 1
 */
export function print(
  { say, cost, exitWith }: Pick<Terminal, 'say' | 'cost' | 'exitWith'>,
  { json, quiet }: Common,
  facts: object,
  lines: (cost: RunCost) => readonly string[],
  isWell = true,
): void {
  if (json === true) say(jsonLine(facts, cost()));
  else if (quiet !== true || !isWell) for (const line of lines(cost())) say(line);
  if (!isWell) exitWith(EXIT.invalid);
}

/** Does the work of a command on a tree; with --wait, once no other process is at work on it. */
export const onTree = <T>(
  { progress, warn }: Terminal,
  { wait, quiet }: Pick<Common, 'quiet'> & WaitOption,
  work: () => Promise<T>,
): Promise<T> =>
  wait === true ? whenFree(work, progress(true), quiet === true ? () => undefined : warn) : work();
