/** `verify`: checks a tree against its digest, and repairs it from the register. */
import { build } from '../pipeline/build.js';
import { buildConfig, type BuildConfig } from '../config/config.js';
import { Failure } from '../base/errors.js';
import { amountOf, number, type Progress } from '../base/progress.js';
import { Tree } from '../tree/tree.js';
import { repair, type Builder } from '../programs/verify/repair.js';
import { verify } from '../programs/verify/verify.js';
import type { VerifyReport } from '../programs/verify/damage.js';
import { check } from '../register/check.js';
import { isPublishable } from '../register/findings.js';
import { inThreads, requireTime, stepsIn } from '../pipeline/workers/threads.js';
import { RENDERING, waitOption, type OnTree, type Program } from './options.js';
import { onTree, print, type Terminal } from './terminal.js';

interface Flags extends OnTree {
  readonly repair?: true;
  readonly deleteUntracked?: boolean;
}

export function addVerify(program: Program, terminal: Terminal): void {
  program
    .command('verify')
    .with(...RENDERING)
    .description('Check every file of the tree against its state and digest.')
    .option('--accept-removals', 'repair even if more would be lost than the removal guard lets pass')
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
        const found = await verify(tree, terminal.progress(quiet));
        return { found, left: found.total + found.closed.total, snapshot: found.sequence };
      });
      const repaired = config !== undefined && left === 0;
      // Damage is shown also with --quiet.
      const shown = found.total + found.closed.total === 0 ? flags : { ...flags, quiet: undefined };
      const result = config && (repaired ? snapshot : null);
      const lines = () => damageLines(out, found, result, deleteUntracked);
      print(terminal, shown, { ...found, repaired, ...(repaired && { snapshot }) }, lines, left === 0);
    });
}

const builderOf = (config: BuildConfig, terminal: Terminal, quiet?: true): Builder => ({
  requireSound: () => requireSound(config, terminal.progress(quiet), terminal),
  build: async () => {
    const effects = terminal.effects(quiet);
    const result = await build(config, effects);
    return result.published ? result.sequence : null;
  },
});

/** @throws Failure invalid: a tree can't be repaired from a register that breaks the contract */
async function requireSound(
  { register: file, notMeasured, skipInvalid, timeLimit }: BuildConfig,
  progress: Progress,
  terminal: Terminal,
): Promise<void> {
  const report = await inThreads({ file, notMeasured }, terminal, async (register, pool) => {
    if (timeLimit) await requireTime(register, pool, progress);
    return check(register, progress, skipInvalid, stepsIn(pool));
  });
  if (!isPublishable(report, skipInvalid)) {
    throw Failure.invalid(
      `"${file}" breaks the contract in ${amountOf(report.total, 'places')}, so nothing was repaired (see check)`,
    );
  }
}

/**
 * The damage to a tree, and the files in it that no route leads to.
 * @param repairedAs the snapshot that repaired it; null if some is left, undefined without --repair
 * @param areDeleted whether those files are deleted by now
 */
function damageLines(
  out: string,
  { sequence, files, damage, total, untracked, closed }: VerifyReport,
  repairedAs: number | null | undefined,
  areDeleted: boolean,
): string[] {
  const verdict = total === 0 ? 'matches its state and digest' : `has ${amountOf(total, 'damaged files')}`;
  const isRepaired = typeof repairedAs === 'number';
  const unasked = damage.some(({ what }) => what === 'interrupted')
    ? '; a commit was interrupted: the next build completes it'
    : repairedAs === undefined
      ? ' (--repair renders them again)'
      : '';
  const outcome = isRepaired ? `; repaired, now snapshot ${repairedAs}` : unasked;
  return [
    ...damage.map(({ file, what }) => `${what}: ${file}`),
    ...moreLines(total - damage.length),
    ...untracked.files.map((file) => `${areDeleted ? 'deleted' : 'untracked'}: ${file}`),
    ...moreLines(untracked.total - untracked.files.length),
    `Snapshot ${sequence ?? 'none'} in ${out} ${verdict} (${amountOf(files, 'files')})${total > 0 ? outcome : ''}`,
    ...(closed.total === 0
      ? []
      : [
          `${amountOf(closed.total, 'files and folders')} ` +
            (repairedAs === undefined
              ? `can’t be read by others, such as ${closed.example}: expected the modes 644 and 755 (--repair sets them)`
              : `could not be read by others, such as ${closed.example}: set to the modes 644 and 755`),
        ]),
    ...(untracked.total > 0 && !areDeleted
      ? [
          `No route leads to ${amountOf(untracked.total, 'untracked files')} (--repair --delete-untracked deletes them)`,
        ]
      : []),
  ];
}

const moreLines = (rest: number): string[] => (rest > 0 ? [`and ${number(rest)} more`] : []);
