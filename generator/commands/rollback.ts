import type { Command } from 'commander';
import { DEFAULTS, signingFor, wordsBy } from '../config/config.js';
import { withLog } from '../log/around-commit.js';
import { Tree } from '../tree/tree.js';
import { asOfText, jsonLine } from './report.js';
import { rollback } from '../build/rollback.js';
import { keyOption, witnessOption } from './options.js';
import type { Keys } from './options.js';
import { jsonOption, onTree, outOption, quietOption, stateOption, waitOption } from './terminal.js';
import type { Common, Terminal, Waiting } from './terminal.js';

interface Flags extends Common, Waiting, Keys {
  readonly out: string;
  readonly state?: string;
  readonly operator: string;
}

export function addRollback(program: Command, terminal: Terminal): void {
  const { say, effects, cost } = terminal;
  program
    .command('rollback')
    .description('Publish the previous snapshot again, as a new one.')
    .addOption(outOption())
    .addOption(stateOption())
    .addOption(waitOption())
    .addOption(jsonOption())
    .addOption(quietOption())
    .option('--operator <file>', 'for its "key", "witnesses" and "words"', DEFAULTS.operator)
    .addOption(keyOption())
    .addOption(witnessOption())
    .action(async ({ out, state, json, quiet, wait, ...keys }: Flags) => {
      const tree = new Tree(out, state);
      const signed = signingFor(keys);
      const words = wordsBy(keys.operator);
      const used = effects(quiet === true);
      const result = await onTree(terminal, { quiet, wait }, () =>
        withLog(signed, used, (around) => rollback(tree, used, { log: signed.log, around, words })),
      );
      const { sequence, contentOf, asOf } = result;
      if (json === true) say(jsonLine(result, cost()));
      else if (quiet !== true) {
        say(
          `Published snapshot ${sequence} in ${out}: the content of snapshot ${contentOf} (${asOfText(asOf)})`,
        );
      }
    });
}
