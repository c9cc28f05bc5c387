import type { Command } from 'commander';
import { build } from '../build.js';
import { buildConfig } from '../config.js';
import { EXIT, Failure } from '../errors.js';
import { Tree } from '../publish/tree.js';
import { prepareRepair, verify } from '../publish/verify.js';
import { damageLines, findingLines } from '../report.js';
import { buildOptions } from './options.js';
import type { Common, Terminal } from './terminal.js';

interface Flags extends Common, Record<string, unknown> {
  readonly out: string;
  readonly repair?: true;
}

export function addVerify(
  program: Command,
  { say, warn, progress, effects, cost, exitWith }: Terminal,
): void {
  buildOptions(program.command('verify'))
    .description('Hold every file of the tree against its ledger and digest.')
    .option('--repair', 'complete an interrupted commit, and render anew from the register what is damaged')
    .action(async ({ json, quiet, repair, ...flags }: Flags) => {
      const silent = quiet === true;
      const tree = Tree.published(flags.out);
      // Everything is known to be in order before anything is touched.
      const config = repair === true ? buildConfig(flags) : undefined;
      const found =
        config === undefined
          ? await verify(tree, progress(silent))
          : await prepareRepair(tree, progress(silent));
      let left = found.total;
      if (config !== undefined) {
        const result = await build(config, effects(silent));
        for (const line of findingLines(result.report)) warn(line);
        if (!result.published) {
          throw Failure.invalid("the register breaks the contract, so the tree can't be repaired from it");
        }
        left = (await verify(tree, progress(silent))).total;
      }
      if (left > 0) exitWith(EXIT.invalid);
      if (json === true) {
        say(JSON.stringify({ ...found, repaired: config !== undefined && left === 0, ...cost() }));
        return;
      }
      if (silent && found.total === 0) return;
      for (const line of damageLines(flags.out, found, config !== undefined && left === 0)) say(line);
    });
}
