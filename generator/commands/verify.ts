/** `verify`: checks a tree against its digest, and repairs it from the register. */
import type { Command } from 'commander';
import { build } from '../pipeline/build.js';
import { buildConfig, type BuildConfig } from '../config/config.js';
import { EXIT, Failure } from '../base/errors.js';
import { amountOf, number } from '../base/progress.js';
import { Tree } from '../tree/tree.js';
import { repair, type Builder } from '../programs/verify/repair.js';
import { verify, type VerifyReport } from '../programs/verify/verify.js';
import { ACCEPTING, RENDERING, renderingFlags, waitOption, type TreeFlags, type Program } from './options.js';
import { effectsOf, onTree, print, withoutQuiet, type Terminal } from './terminal.js';

interface Flags extends TreeFlags {
  readonly repair?: true;
  readonly deleteUntracked?: boolean;
}

export function addVerify(program: Program, terminal: Terminal): void {
  program
    .command('verify')
    .with(...RENDERING)
    .description('Check every file of the tree against the lists of what is published.')
    .with(...ACCEPTING)
    .option(
      '--repair',
      'complete an interrupted commit, render what is damaged again, delete files that would be served',
    )
    .option('--delete-untracked', 'with --repair: also delete the files that no route leads to')
    .with(waitOption)
    .action(async (flags: Flags, command: Command) => {
      const { out, state, quiet, deleteUntracked = false } = flags;
      if (deleteUntracked && flags.repair !== true)
        throw Failure.usage('--delete-untracked deletes files, expected it along with --repair');
      const tree = new Tree(out, state);
      tree.requirePublished();
      const config = flags.repair === true ? buildConfig(renderingFlags(command)) : undefined;
      const { found, left, snapshot } = await onTree(terminal, flags, async () => {
        if (config !== undefined) {
          const builder = builderOf(config, terminal, quiet);
          return repair(tree, builder, terminal.progress(quiet), deleteUntracked);
        }
        const { report } = await verify(tree, terminal.progress(quiet));
        return { found: report, left: report.total, snapshot: report.sequence };
      });
      const isRepaired = config !== undefined && left === 0;
      const facts = { ...found, repaired: isRepaired, ...(isRepaired && { snapshot }) };
      const shown = found.total === 0 && left === 0 ? flags : withoutQuiet(flags);
      print(terminal, shown, facts, () => resultLines(found, flags, isRepaired ? snapshot : null));
      if (left > 0) terminal.exitWith(EXIT.invalid);
    });
}

const builderOf = (config: BuildConfig, terminal: Terminal, quiet?: true): Builder => ({
  warn: terminal.warn,
  build: async (damaged) => {
    const result = await build(config, effectsOf(terminal, quiet), damaged);
    if (result.published) return result.sequence;
    throw Failure.invalid(
      `"${config.register}" breaks the contract in ${amountOf(result.report.total, 'places')}, so nothing was repaired (see check)`,
    );
  },
});

/**
 * The damage to a tree, and the files in it that no route leads to.
 * @param repairedAs the snapshot that repaired the damage; null if some is left
 */
function resultLines(
  { sequence, files, damage, total, copied, untracked }: VerifyReport,
  { out, repair: isRepair, deleteUntracked: areDeleted }: Flags,
  repairedAs: number | null,
): string[] {
  const remedy = (): string => {
    if (repairedAs !== null) return `; repaired, now snapshot ${repairedAs}`;
    if (damage.some(({ what }) => what === 'interrupted'))
      return '; a commit was interrupted: the next build completes it';
    return isRepair === true ? '' : ` (--repair renders ${total === 1 ? 'it' : 'them'} again)`;
  };
  const verdict =
    total === 0
      ? `matches its lists (${amountOf(files, 'files')})`
      : `has ${amountOf(total, 'damaged files')}${remedy()}`;
  return [
    ...damage.map(({ file, what }) =>
      what === 'copied'
        ? `copied without times: use rsync -a (${amountOf(copied, 'compressed files')}, such as ${file})`
        : `${what}: ${file}`,
    ),
    ...moreLines(total - damage.length - Math.max(copied - 1, 0)),
    ...untracked.files.map((file) => `${areDeleted === true ? 'deleted' : 'untracked'}: ${file}`),
    ...moreLines(untracked.total - untracked.files.length),
    `Snapshot ${sequence ?? 'none'} in ${out} ${verdict}`,
    ...(untracked.total > 0 && areDeleted !== true
      ? [
          `No route leads to ${amountOf(untracked.total, 'untracked files')} (--repair --delete-untracked deletes them)`,
        ]
      : []),
  ];
}

const moreLines = (rest: number): string[] => (rest > 0 ? [`and ${number(rest)} more`] : []);
