/** What a command may use of its process, passed in by cli.ts. */
import { Option } from 'commander';
import type { Effects } from '../build/build.js';
import { DEFAULTS } from '../config/config.js';
import type { Progress } from '../progress.js';
import { whenFree } from '../lock.js';
import type { Cost } from './report.js';

export interface Terminal {
  /** Prints a result to standard output. */
  readonly say: (line: string) => void;
  /** Prints a message to standard error. */
  readonly warn: (line: string) => void;
  readonly progress: (quiet: boolean) => Progress;
  /** Starts the threads that read a register. */
  readonly startPool: Effects['startPool'];
  readonly effects: (quiet: boolean) => Effects;
  /** The cost of the run so far. */
  readonly cost: () => Cost;
  /** Sets the exit code; the process ends once its output is written. */
  readonly exitWith: (code: number) => void;
}

/** Options that every command has. */
export interface Common {
  readonly json?: true;
  readonly quiet?: true | undefined;
}

/** The option of the commands that need a tree for themselves. */
export interface Waiting {
  readonly wait?: true | undefined;
}

export const jsonOption = () => new Option('--json', 'print the result as one JSON object');
export const quietOption = () => new Option('--quiet', 'no progress, and no summary where all is well');
export const registerOption = () =>
  new Option('--register <file>', 'the register, an SQLite file').default(DEFAULTS.register);
export const outOption = (what = 'the published tree') =>
  new Option('--out <dir>', what).default(DEFAULTS.out);
export const stateOption = () =>
  new Option(
    '--state <dir>',
    'what is kept of the tree, never to be served (default: .NAME-state beside it)',
  );
export const waitOption = () =>
  new Option('--wait', 'if another process is at work on the tree, wait for it instead of ending with 75');

/** Does the work of a command on a tree; with --wait, once no other process is at work on it. */
export const onTree = <T>(
  { progress, warn }: Terminal,
  { wait, quiet }: Pick<Common, 'quiet'> & Waiting,
  work: () => Promise<T>,
): Promise<T> =>
  wait === true ? whenFree(work, progress(true), quiet === true ? () => undefined : warn) : work();
