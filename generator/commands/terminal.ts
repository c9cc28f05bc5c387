/** What a command may use of the process it runs in, handed in by cli.ts. */
import { Option } from 'commander';
import type { Effects } from '../build.js';
import { DEFAULTS } from '../config.js';
import type { Progress } from '../progress.js';
import type { Cost } from '../report.js';

export interface Terminal {
  /** Results, on standard output. */
  readonly say: (line: string) => void;
  /** Messages, on standard error. */
  readonly warn: (line: string) => void;
  readonly progress: (quiet: boolean) => Progress;
  readonly effects: (quiet: boolean) => Effects;
  /** What the run has cost so far. */
  readonly cost: () => Cost;
  /** Lets the process end with this code when everything is said. */
  readonly exitWith: (code: number) => void;
}

/** Options that every command has. */
export interface Common {
  readonly json?: true;
  readonly quiet?: true;
}

export const jsonOption = () => new Option('--json', 'print the result as one JSON object');
export const quietOption = () => new Option('--quiet', 'no progress, and no summary where all is well');
export const registerOption = () =>
  new Option('--register <file>', 'the register, an SQLite file').default(DEFAULTS.register);
export const outOption = () => new Option('--out <dir>', 'the published tree').default(DEFAULTS.out);
export const stateOption = () =>
  new Option(
    '--state <dir>',
    'what is kept of the tree, never to be served (default: .NAME-state beside it)',
  );
