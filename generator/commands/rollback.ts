import { rollback } from '../build/rollback.js';
import { signingFor, wordsBy } from '../config/config.js';
import { withLog } from '../log/sign.js';
import { Tree } from '../tree/tree.js';
import { signingOptions } from './options.js';
import type { Signs, Program } from './options.js';
import { asOfText } from './report.js';
import { onTree, print } from './terminal.js';
import type { Terminal } from './terminal.js';

export function addRollback(program: Program, terminal: Terminal): void {
  program
    .command('rollback')
    .with(...signingOptions('for its "key", "witnesses" and "words"'))
    .description('Publish the previous snapshot again, as a new one.')
    .action(async (flags: Signs) => {
      const { out, state, operator, quiet } = flags;
      const tree = new Tree(out, state);
      const signed = signingFor(flags);
      const words = wordsBy(operator);
      const effects = terminal.effects(quiet);
      const result = await onTree(terminal, flags, () =>
        withLog(signed, effects, (around) => rollback(tree, effects, { log: signed.log, around, words })),
      );
      const { sequence, contentOf, asOf } = result;
      print(terminal, flags, result, () => [
        `Published snapshot ${sequence} in ${out}: the content of snapshot ${contentOf} (${asOfText(asOf)})`,
      ]);
    });
}
