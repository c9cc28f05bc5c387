import type { Command } from 'commander';
import { DEFAULTS, signingFor } from '../config/config.js';
import { Failure } from '../errors.js';
import { sign } from '../log/sign.js';
import { counted, jsonLine } from './report.js';
import { Tree } from '../tree/tree.js';
import { keyOption, witnessOption } from './options.js';
import type { Keys } from './options.js';
import { jsonOption, onTree, outOption, quietOption, stateOption, waitOption } from './terminal.js';
import type { Common, Terminal, Waiting } from './terminal.js';

interface Flags extends Common, Waiting, Keys {
  readonly out: string;
  readonly state?: string;
  readonly operator: string;
}

export function addSign(program: Command, terminal: Terminal): void {
  const { say, warn, progress, cost } = terminal;
  program
    .command('sign')
    .description('Sign the last snapshot of a tree that declares a log, if that was not done yet.')
    .addOption(outOption())
    .addOption(stateOption())
    .addOption(waitOption())
    .addOption(jsonOption())
    .addOption(quietOption())
    .option('--operator <file>', 'for its "key" and "witnesses"', DEFAULTS.operator)
    .addOption(keyOption())
    .addOption(witnessOption())
    .action(async ({ out, state, json, quiet, wait, ...keys }: Flags) => {
      const { signing } = signingFor(keys);
      if (signing === undefined)
        throw Failure.usage('nothing signs without a key, expected one (--key, SNAPSHOT_KEY or "key")');
      const result = await onTree(terminal, { quiet, wait }, () =>
        sign(new Tree(out, state), signing, warn, progress(quiet === true)),
      );
      const { origin, sequence, size, isNew } = result;
      if (json === true) return say(jsonLine({ origin, sequence, size, signed: isNew }, cost()));
      if (quiet === true) return undefined;
      const what = isNew
        ? `Signed snapshot ${sequence} of ${out}`
        : `Snapshot ${sequence} of ${out} is signed`;
      say(`${what}: the log ${origin} has ${counted(size, 'snapshot')}`);
    })
    .addHelpText(
      'after',
      `
Example
  $ npm run snapshot -- build
  $ npm run snapshot -- sign --key /media/key/log.key`,
    );
}
