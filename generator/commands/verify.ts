/** `verify`: checks a tree against its digest, and repairs it from the register. */
import { build } from '../pipeline/build.js';
import { buildConfig, type BuildConfig } from '../config/config.js';
import { Failure } from '../base/errors.js';
import { amountOf, number } from '../base/progress.js';
import { Tree } from '../tree/tree.js';
import { repair, type Builder } from '../programs/verify/repair.js';
import { verify, type VerifyReport } from '../programs/verify/verify.js';
import { ACCEPTING, RENDERING, waitOption, type OnTree, type Program } from './options.js';
import { onTree, print, type Terminal } from './terminal.js';

interface Flags extends OnTree {
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
    .action(async (flags: Flags) => {
      const { out, state, quiet, deleteUntracked = false } = flags;
      if (deleteUntracked && flags.repair !== true)
        throw Failure.usage('--delete-untracked deletes files, expected it along with --repair');
      const tree = new Tree(out, state);
      tree.requirePublished();
      const config = flags.repair === true ? buildConfig(flags) : undefined;
      const { found, left, snapshot } = await onTree(terminal, flags, async () => {
        if (config !== undefined) {
          const builder = builderOf(config, terminal, quiet);
          return repair(tree, builder, () => terminal.progress(quiet), deleteUntracked);
        }
        const { report } = await verify(tree, terminal.progress(quiet));
        return { found: report, left: report.total, snapshot: report.sequence };
      });
      const repaired = config !== undefined && left === 0;
      // Damage is shown also with --quiet.
      const shown = found.total === 0 ? flags : { ...flags, quiet: undefined };
      const result = config && (repaired ? snapshot : null);
      const lines = () => damageLines(out, found, result, deleteUntracked);
      print(terminal, shown, { ...found, repaired, ...(repaired && { snapshot }) }, lines, left === 0);
    });
}

const builderOf = (config: BuildConfig, { effects, warn }: Terminal, quiet?: true): Builder => ({
  warn,
  build: async (damaged) => {
    const result = await build(config, effects(quiet), damaged);
    if (result.published) return result.sequence;
    throw Failure.invalid(
      `"${config.register}" breaks the contract in ${amountOf(result.report.total, 'places')}, so nothing was repaired (see check)`,
    );
  },
});

/**
 * The damage to a tree, and the files in it that no route leads to.
 * @param repairedAs the snapshot that repaired it; null if some is left, undefined without --repair
 * @param areDeleted whether those files are deleted by now
 */
function damageLines(
  out: string,
  { sequence, files, damage, total, copied, untracked }: VerifyReport,
  repairedAs: number | null | undefined,
  areDeleted: boolean,
): string[] {
  const verdict =
    total === 0
      ? `matches its lists (${amountOf(files, 'files')})`
      : `has ${amountOf(total, 'damaged files')}`;
  const isRepaired = typeof repairedAs === 'number';
  const unasked = damage.some(({ what }) => what === 'interrupted')
    ? '; a commit was interrupted: the next build completes it'
    : repairedAs === undefined
      ? ` (--repair renders ${total === 1 ? 'it' : 'them'} again)`
      : '';
  const outcome = isRepaired ? `; repaired, now snapshot ${repairedAs}` : unasked;
  return [
    ...damage.map(({ file, what }) =>
      what === 'copied'
        ? `copied without times: use rsync -a (${amountOf(copied, 'compressed files')}, such as ${file})`
        : `${what}: ${file}`,
    ),
    ...moreLines(total - damage.length - Math.max(copied - 1, 0)),
    ...untracked.files.map((file) => `${areDeleted ? 'deleted' : 'untracked'}: ${file}`),
    ...moreLines(untracked.total - untracked.files.length),
    `Snapshot ${sequence ?? 'none'} in ${out} ${verdict}${total > 0 ? outcome : ''}`,
    ...(untracked.total > 0 && !areDeleted
      ? [
          `No route leads to ${amountOf(untracked.total, 'untracked files')} (--repair --delete-untracked deletes them)`,
        ]
      : []),
  ];
}

const moreLines = (rest: number): string[] => (rest > 0 ? [`and ${number(rest)} more`] : []);
