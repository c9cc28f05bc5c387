import type { Command } from 'commander';
import { build } from '../build.js';
import { buildConfig } from '../config.js';
import type { BuildConfig } from '../config.js';
import { EXIT, Failure } from '../errors.js';
import type { Progress } from '../progress.js';
import { readChangeIndex } from '../tree/changes.js';
import { completeCommit } from '../publish/recover.js';
import { requireKey } from '../log/signed-log.js';
import { Tree } from '../tree/tree.js';
import { prepareRepair, verify } from '../verify/verify.js';
import { check } from '../register/check.js';
import { isPublishable } from '../register/findings.js';
import { damageLines, jsonLine } from '../report.js';
import { inThreads, stepsIn } from '../workers/threads.js';
import { buildOptions, witnessOption } from './options.js';
import { onTree, waitOption } from './terminal.js';
import type { Common, Terminal, Waiting } from './terminal.js';

interface Flags extends Common, Waiting, Record<string, unknown> {
  readonly out: string;
  readonly state?: string;
  readonly repair?: true;
  readonly deleteUntracked?: boolean;
}

export function addVerify(program: Command, terminal: Terminal): void {
  const { say, progress, startPool, effects, cost, exitWith } = terminal;
  buildOptions(program.command('verify'))
    .description('Check every file of the tree against its index and digest.')
    .option('--accept-removals', 'repair even if more would be lost than the removal guard lets pass')
    .option(
      '--repair',
      'complete an interrupted commit, render what is damaged again, delete files that would be served',
    )
    .option('--delete-untracked', 'with --repair: also delete the files that no route leads to')
    .addOption(witnessOption())
    .addOption(waitOption())
    .action(async ({ json, quiet, wait, repair, deleteUntracked = false, ...flags }: Flags) => {
      if (deleteUntracked && repair !== true) {
        throw Failure.usage('--delete-untracked deletes files, expected it along with --repair');
      }
      const silent = quiet === true;
      const tree = new Tree(flags.out, flags.state);
      tree.requirePublished();
      const repairing = repair === true ? buildConfig(flags) : undefined;
      const { found, left, snapshot } = await onTree(terminal, { quiet, wait }, async () => {
        if (repairing !== undefined) {
          await completeCommit(tree, progress(silent));
          // Checks the other preconditions of a repair before anything is changed.
          await requireSound(repairing, progress(silent), startPool);
          const treeId = readChangeIndex(tree)?.tree;
          if (treeId !== undefined && repairing.signing === undefined)
            requireKey(tree, treeId, repairing.log !== undefined);
        }
        const found = await (repairing === undefined ? verify : prepareRepair)(tree, progress(silent));
        if (repairing === undefined) return { found, left: found.total, snapshot: found.sequence };
        const result = await build(repairing, effects(silent));
        const { total, untracked } = await verify(tree, progress(silent), deleteUntracked);
        return {
          // Without snapshot.json, untracked files are known only now.
          found: { ...found, untracked },
          left: total,
          snapshot: result.published ? result.sequence : found.sequence,
        };
      });
      const isRepaired = repairing !== undefined && left === 0;
      if (left > 0) exitWith(EXIT.invalid);
      if (json === true) {
        say(jsonLine({ ...found, repaired: isRepaired, ...(isRepaired && { snapshot }) }, cost()));
        return;
      }
      if (silent && found.total === 0) return;
      for (const line of damageLines(flags.out, found, isRepaired ? snapshot : null, deleteUntracked))
        say(line);
    });
}

/** @throws Failure invalid: a tree can't be repaired from a register that breaks the contract */
async function requireSound(
  { register: file, notMeasured, skipInvalid }: BuildConfig,
  progress: Progress,
  startPool: Terminal['startPool'],
): Promise<void> {
  const report = await inThreads({ file, notMeasured }, startPool, (register, pool) =>
    check(register, progress, skipInvalid, 'all', stepsIn(pool)),
  );
  if (!isPublishable(report, skipInvalid)) {
    throw Failure.invalid(
      `"${file}" breaks the contract in ${report.total} places, so nothing was repaired (see check)`,
    );
  }
}
