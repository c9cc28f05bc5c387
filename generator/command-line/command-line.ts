/** What the command lines of both programs have in common. */
import { Command } from 'commander';

export const commandLine = (name: string, version: string): Command =>
  new Command(name)
    .version(version)
    .exitOverride()
    .showHelpAfterError('Run with --help for usage.')
    // `refuseArguments` says more than commander does.
    .allowExcessArguments();

/**
 * Neither program takes arguments besides its options.
 * @param option the option that an argument may be meant for
 * @throws CommanderError if there is an argument
 */
export function refuseArguments(command: Command, option: (argument: string) => string): void {
  const [argument] = command.args;
  if (argument === undefined) return;
  command.error(`error: unexpected argument '${argument}'\n(Did you mean ${option(argument)} ${argument}?)`);
}
