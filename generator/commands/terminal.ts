/** What a command may use of its process, passed in by program.ts. */
import type { Effects } from '../pipeline/build.js';
import type { Progress } from '../base/progress.js';
import { whenFree } from '../base/lock.js';
import type { Common, TreeFlags } from './options.js';
import { jsonLine, type RunCost } from './report.js';

export interface Terminal extends Omit<Effects, 'progress'> {
  /** Prints a result to standard output; `warn` prints to standard error. */
  readonly say: (line: string) => void;
  readonly progress: (quiet?: boolean) => Progress;
  /** The cost of the run so far. */
  readonly cost: () => RunCost;
  /** Sets the exit code; the process ends once its output is written. */
  readonly exitWith: (code: number) => void;
}

/** What a build is given. */
export const effectsOf = (terminal: Terminal, quiet?: boolean): Effects => ({
  ...terminal,
  progress: terminal.progress(quiet),
});

/** Prints the result of a command: with --json the facts, with --quiet nothing, otherwise lines. */
export function print(
  { say, cost }: Terminal,
  { json, quiet }: Common,
  facts: object,
  lines: (cost: RunCost) => readonly string[],
): void {
  if (json === true) say(jsonLine(facts, cost()));
  else if (quiet !== true) for (const line of lines(cost())) say(line);
}

/** The flags with which a result is printed that --quiet must not hide. */
export const withoutQuiet = <Flags extends Common>(flags: Flags): Flags => ({ ...flags, quiet: undefined });

/** Does the work of a command on a tree; with --wait, once no other process is at work on it. */
export const onTree = <T>(
  { progress, warn }: Terminal,
  { wait, quiet }: TreeFlags,
  work: () => Promise<T>,
): Promise<T> =>
  wait === true ? whenFree(work, progress(true), quiet === true ? () => undefined : warn) : work();
