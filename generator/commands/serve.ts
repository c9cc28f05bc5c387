/** `serve`: the proxy, which is a program of its own (see cli.ts). */
import { programName, type Program } from './options.js';

/** Only listed here: cli.ts hands `serve` over to the proxy, which has the options. */
export function addServe(program: Program): void {
  program
    .command('serve')
    .description('Start the proxy, which serves the tree over HTTP.')
    .helpOption(false)
    .usage('[options]')
    .addHelpText('after', ({ command }) => `\n"${programName(command)} serve --help" lists its options.`);
}
