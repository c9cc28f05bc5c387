/** The options of the commands that render. */
import type { Command } from 'commander';
import { DEFAULTS } from '../config.js';
import { jsonOption, outOption, quietOption, registerOption, stateOption } from './terminal.js';

export const buildOptions = (command: Command): Command =>
  command
    .addOption(registerOption())
    .addOption(outOption())
    .addOption(stateOption())
    .option('--operator <file>', 'who runs the register, on which terms', DEFAULTS.operator)
    .option('--base-url <url>', 'where the service is reached (default: base_url of the operator file)')
    .option('--skip-invalid', 'leave out records that break the contract, and say which')
    .addOption(jsonOption())
    .addOption(quietOption());
