/** The options of commands, each declared once. */
import { Command, InvalidArgumentError, Option } from 'commander';
import { DEFAULTS } from '../config/config.js';

/** Options that every command has. */
export interface Common {
  readonly json?: true;
  readonly quiet?: true | undefined;
}

/** Options of the commands that need a tree for themselves. */
export interface TreeFlags extends Common {
  readonly out: string;
  readonly state?: string;
  readonly wait?: true;
}

/** Reads an option that may be given several times. */
export const collect = (value: string, values: readonly string[] = []): readonly string[] => [
  ...values,
  value,
];

/** Reads an option that is a whole number from `least` to `most`, a safe integer. */
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

/** The options of every command that renders. */
export const RENDERING = [
  registerOption,
  outOption,
  stateOption,
  operatorOption('who runs the register, on which terms'),
  new Option('--base-url <url>', 'where the service is reached (default: base_url of the operator file)'),
  new Option('--skip-invalid', 'leave out records that break the contract, and say which'),
  ...OUTPUT,
];

/** The options that have a command publish what it would refuse. */
export const ACCEPTING = [
  new Option('--accept-removals', 'publish even if more would be lost than the removal guard lets pass'),
  new Option('--accept-republished', 'publish records again that the last snapshot withheld'),
  new Option('--accept-renumbered', 'publish even if ids would mean other records than published'),
];

/** The flags of a command that renders. */
export const renderingFlags = (command: Command): object => ({
  ...command.opts(),
  isExample: command.getOptionValueSource('operator') !== 'cli',
});

/** How this program is called: the name of the topmost command. */
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

  /** Ends the help text with examples. @param lines command lines, without the name of this program */
  examples(...lines: readonly string[]): this {
    const title = lines.length > 1 ? 'Examples' : 'Example';
    return this.addHelpText('after', () =>
      ['', title, ...lines.map((line) => `  $ ${programName(this)} ${line}`)].join('\n'),
    );
  }
}
