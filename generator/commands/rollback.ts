import type { Command } from 'commander';
import { Tree } from '../publish/tree.js';
import { rollback } from '../rollback.js';
import { jsonOption, outOption, quietOption, stateOption } from './terminal.js';
import type { Common, Terminal } from './terminal.js';

export function addRollback(program: Command, { say, effects, cost }: Terminal): void {
  program
    .command('rollback')
    .description('Publish the previous snapshot again, as a new one.')
    .addOption(outOption())
    .addOption(stateOption())
    .addOption(jsonOption())
    .addOption(quietOption())
    .action(async ({ out, state, json, quiet }: Common & { out: string; state?: string }) => {
      const { sequence, contentOf, asOf } = await rollback(new Tree(out, state), effects(quiet === true));
      if (json === true) say(JSON.stringify({ sequence, contentOf, asOf, ...cost() }));
      else if (quiet !== true) {
        say(
          `Published snapshot ${sequence} in ${out}: the content of snapshot ${contentOf} (as of ${asOf ?? 'never'})`,
        );
      }
    });
}
