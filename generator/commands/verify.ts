import type { Command } from 'commander';
import { build } from '../build/build.js';
import { buildConfig } from '../config/config.js';
import type { BuildConfig } from '../config/config.js';
import { EXIT, Failure } from '../errors.js';
import { withLog } from '../log/around-commit.js';
import { number } from '../progress.js';
import type { Progress } from '../progress.js';
import { Tree } from '../tree/tree.js';
import { repair } from '../verify/repair.js';
import type { Builder } from '../verify/repair.js';
import { verify } from '../verify/verify.js';
import type { VerifyReport } from '../verify/verify.js';
import { check } from '../register/check.js';
import { isPublishable } from '../register/findings.js';
import { inThreads, stepsIn } from '../build/workers/threads.js';
import { rendering, waitOption, witnessOption } from './options.js';
import type { OnTree } from './options.js';
import { counted } from './report.js';
import { onTree, print } from './terminal.js';
import type { Terminal } from './terminal.js';

interface Flags extends OnTree, Record<string, unknown> {
  readonly repair?: true;
  readonly deleteUntracked?: boolean;
}

export function addVerify(program: Command, terminal: Terminal): void {
  const { progress, exitWith } = terminal;
  rendering(program.command('verify'))
    .description('Check every file of the tree against its index and digest.')
    .option('--accept-removals', 'repair even if more would be lost than the removal guard lets pass')
    .option(
      '--repair',
      'complete an interrupted commit, render what is damaged again, delete files that would be served',
    )
    .option('--delete-untracked', 'with --repair: also delete the files that no route leads to')
    .addOption(witnessOption)
    .addOption(waitOption)
    .action(async ({ json, quiet, wait, repair: repairs, deleteUntracked = false, ...flags }: Flags) => {
      if (deleteUntracked && repairs !== true) {
        throw Failure.usage('--delete-untracked deletes files, expected it along with --repair');
      }
      const tree = new Tree(flags.out, flags.state);
      tree.requirePublished();
      const repairing = repairs === true ? buildConfig(flags) : undefined;
      const { found, left, snapshot } = await onTree(terminal, { quiet, wait }, async () => {
        if (repairing !== undefined) {
          const builder = builderOf(repairing, terminal, quiet);
          return repair(tree, builder, () => progress(quiet), deleteUntracked);
        }
        const found = await verify(tree, progress(quiet));
        return { found, left: found.total, snapshot: found.sequence };
      });
      const repairedAs = repairing !== undefined && left === 0 ? { snapshot } : undefined;
      if (left > 0) exitWith(EXIT.invalid);
      // Damage is shown also with --quiet.
      const shown = { ...(json && { json }), ...(found.total === 0 && { quiet }) };
      print(terminal, shown, { ...found, repaired: repairedAs !== undefined, ...repairedAs }, () =>
        damageLines(flags.out, found, repairedAs?.snapshot ?? null, deleteUntracked),
      );
    });
}

const builderOf = (config: BuildConfig, terminal: Terminal, quiet?: true): Builder => ({
  log: config.log,
  signing: config.signing,
  requireSound: () => requireSound(config, terminal.progress(quiet), terminal.startPool),
  build: async () => {
    const effects = terminal.effects(quiet);
    const result = await withLog(config, effects, (log) => build(config, effects, log));
    return result.published ? result.sequence : null;
  },
});

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

/** Files with entries of a log. */
const ENTRIES = /^log\/\w+\/tile\/entries\//;

/**
 * The damage to a tree, and the files in it that no route leads to.
 * @param repairedAs the snapshot that repaired it
 * @param areDeleted whether those files are deleted by now
 */
function damageLines(
  out: string,
  { sequence, files, damage, total, untracked }: VerifyReport,
  repairedAs: number | null,
  areDeleted: boolean,
): string[] {
  const verdict = total === 0 ? 'matches its index and digest' : `has ${counted(total, 'damaged file')}`;
  const repaired = repairedAs !== null && total > 0 ? `; repaired, now snapshot ${repairedAs}` : '';
  return [
    ...damage.map(({ file, what }) => `${what}: ${file}`),
    ...moreLines(total - damage.length),
    ...untracked.files.map((file) => `${areDeleted ? 'deleted' : 'untracked'}: ${file}`),
    ...moreLines(untracked.total - untracked.files.length),
    `Snapshot ${sequence ?? 'none'} in ${out} ${verdict} (${number(files)} files)${repaired}`,
    ...(repairedAs === null && damage.some(({ file }) => ENTRIES.test(file))
      ? ['Entries of the log can’t be made again: restore them from a copy (see docs/signed-log.md)']
      : []),
    ...(untracked.total > 0 && !areDeleted
      ? [
          `No route leads to ${counted(untracked.total, 'untracked file')} (--repair --delete-untracked deletes them)`,
        ]
      : []),
  ];
}

const moreLines = (rest: number): string[] => (rest > 0 ? [`and ${number(rest)} more`] : []);
