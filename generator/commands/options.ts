/** The options of the commands that render. */
import { Option } from 'commander';
import type { Command } from 'commander';
import { DEFAULTS } from '../config/config.js';
import { jsonOption, outOption, quietOption, registerOption, stateOption } from './terminal.js';

/** The options of the commands that sign. */
export interface Keys {
  readonly key?: readonly string[];
  readonly witness?: readonly string[];
}

export const KEY_VARIABLE = 'SNAPSHOT_KEY';

const collect = (value: string, values: readonly string[] = []): readonly string[] => [...values, value];

export const keyOption = () =>
  new Option(
    '--key <file>',
    'sign the snapshot with this key, and list it in the log of the tree; once for each key (default: "key" of the operator file)',
  )
    .env(KEY_VARIABLE)
    .argParser(collect);
export const witnessOption = () =>
  new Option(
    '--witness <url and key>',
    'ask a witness to cosign the log, such as "https://w.example w.example+1b2c…"; once for each',
  ).argParser(collect);

export const buildOptions = (command: Command): Command =>
  command
    .addOption(registerOption())
    .addOption(outOption())
    .addOption(stateOption())
    .option('--operator <file>', 'who runs the register, on which terms', DEFAULTS.operator)
    .option('--base-url <url>', 'where the service is reached (default: base_url of the operator file)')
    .addOption(keyOption())
    .option('--skip-invalid', 'leave out records that break the contract, and say which')
    .addOption(jsonOption())
    .addOption(quietOption());
