/** The options of commands, each declared once. */
import { Command, InvalidArgumentError, Option } from 'commander';
import { DEFAULTS } from '../config/config.js';

/** Options that every command has. */
export interface Common {
  readonly json?: true;
  readonly quiet?: true | undefined;
}

/** The option of the commands that need a tree for themselves. */
export interface WaitOption {
  readonly wait?: true | undefined;
}

/** The options of the commands that work on a tree. */
export interface OnTree extends Common, WaitOption {
  readonly out: string;
  readonly state?: string;
}

/** Reads an option that may be given several times. */
export const collect = (value: string, values: readonly string[] = []): readonly string[] => [
  ...values,
  value,
];

/** Reads an option that is a whole number. @param most a safe integer */
export const wholeFrom =
  (least: number, most: number) =>
  (value: string): number => {
    if (!/^\d{1,16}$/.test(value) || Number(value) < least || Number(value) > most)
      throw new InvalidArgumentError(`expected a whole number from ${least} to ${most}`);
    return Number(value);
  };

const json = new Option('--json', 'print the result as one JSON object');
const quiet = new Option('--quiet', 'no progress, and no summary where all is well');
/** How the result is shown. */
export const OUTPUT = [json, quiet];

export const registerOption = new Option('--register <file>', 'the register, an SQLite file').default(
  DEFAULTS.register,
);
export const operatorOption = (what: string) =>
  new Option('--operator <file>', what).default(DEFAULTS.operator);
export const outOption = new Option('--out <dir>', 'the published tree').default(DEFAULTS.out);
export const stateOption = new Option(
  '--state <dir>',
  'what is kept of the tree, never to be served (default: .NAME-state next to it)',
);
export const waitOption = new Option(
  '--wait',
  'if another process is at work on the tree, wait for it instead of ending with 75',
);

/** The option of the commands that read every row of a register. */
export const timeLimitOption = new Option(
  '--no-time-limit',
  'go on even if a view of the register is known to take more than ten minutes to read',
);

/** What every command that renders has. */
export const RENDERING = [
  registerOption,
  outOption,
  stateOption,
  operatorOption('who runs the register, on which terms'),
  new Option('--base-url <url>', 'where the service is reached (default: base_url of the operator file)'),
  new Option('--skip-invalid', 'leave out records that break the contract, and say which'),
  timeLimitOption,
  ...OUTPUT,
];

/** The flags of a command that renders. */
export const renderingFlags = (command: Command): object => ({
  ...command.opts(),
  isExample: command.getOptionValueSource('operator') !== 'cli',
});

/** What starts this program, as whoever called it would type it: the name of the topmost command. */
export const programName = (command: Command): string =>
  command.parent === null ? command.name() : programName(command.parent);

/** A command whose options and examples are lists. */
export class Program extends Command {
  override createCommand(name?: string): Program {
    return new Program(name);
  }

  /** Adds options in this order. */
  with(...options: readonly Option[]): this {
    for (const option of options) this.addOption(option);
    return this;
  }

  /** Ends the help text. @param lines commands, without what starts this program */
  examples(...lines: readonly string[]): this {
    const title = lines.length > 1 ? 'Examples' : 'Example';
    return this.addHelpText('after', () =>
      ['', title, ...lines.map((line) => `  $ ${programName(this)} ${line}`)].join('\n'),
    );
  }
}
