/** `build`: publishes what changed in the register. */
import { build, type Published } from '../pipeline/build.js';
import { touchedIn } from '../publish/stage.js';
import { buildConfig } from '../config/config.js';
import { EXIT } from '../base/errors.js';
import { amountOf, number } from '../base/progress.js';
import { placeOf } from '../register/findings.js';
import { DOWNLOADS } from '../routes/exports.js';
import { RESOURCES, TABLES } from '../schema/schema.js';
import { printDifference } from './diff.js';
import { ACCEPTING, RENDERING, renderingFlags, waitOption, type TreeFlags, type Program } from './options.js';
import {
  asOfText,
  brokenLine,
  costText,
  countsText,
  findingLines,
  jsonLine,
  notMeasured,
  recordsText,
  size,
  warningLines,
  type RunCost,
} from './report.js';
import { effectsOf, onTree, type Terminal } from './terminal.js';

export function addBuild(program: Program, terminal: Terminal): void {
  const { say, warn, cost, exitWith } = terminal;
  program
    .command('build')
    .with(...RENDERING)
    .description('Check the register, render every response, and publish what changed.')
    .with(...ACCEPTING)
    .option(
      '--keep-downloads',
      'leave the bulk downloads as they were last written; they say as of when, and the next build without this writes them',
    )
    .option('--dry-run', 'write nothing, and say what would change, as diff does')
    .with(waitOption)
    .option('--purge-list <file>', 'write the absolute URLs whose response changed, for a CDN')
    .option('--files-from <file>', 'write the files that changed, for rclone or rsync')
    .option('--delete-from <file>', 'write the files that are gone, which a copy must delete')
    .action(async (flags: TreeFlags & { readonly dryRun?: true }, command: Program) => {
      if (flags.dryRun === true) return printDifference(terminal, flags, command);
      const { json, quiet } = flags;
      const config = buildConfig(renderingFlags(command));
      const effects = effectsOf(terminal, quiet);
      const result = await onTree(terminal, flags, () => build(config, effects));
      for (const line of findingLines(result.report)) warn(line);
      // For scripts, a build that changed nothing published nothing.
      if (json === true)
        say(jsonLine({ ...result, published: result.published && hasChanges(result) }, cost()));
      if (!result.published) {
        warn(`${brokenLine(config.register, result.report, cost())}; nothing was published`);
        exitWith(EXIT.invalid);
        return;
      }
      const { report, warnings } = result;
      if (report.total > 0) for (const line of excludedLines(result)) warn(line);
      if (quiet !== true) for (const line of warningLines(warnings)) warn(line);
      if (json !== true && quiet !== true)
        for (const line of publishedLines(config.out, result, cost())) say(line);
    });
}

const hasChanges = ({ changes }: Published): boolean => touchedIn(changes) > 0;

/** How many tables and columns that are not measured are named. */
const SHOWN_ABSENCES = 5;

function publishedLines(out: string, result: Published, cost: RunCost): string[] {
  const { sequence, asOf, records, absent, files, bytes, changes, news } = result;
  const missing = notMeasured(absent);
  // If little is measured, the list is long, and the same every night.
  const names =
    missing.length > SHOWN_ABSENCES
      ? `${missing.length} tables and columns, which check names`
      : missing.join(', ');
  return [
    `${hasChanges(result) ? 'Published' : 'Nothing changed since'} snapshot ${sequence} in ${out}` +
      ` (${asOfText(asOf)})`,
    `  records    ${recordsText(records)}`,
    ...(missing.length === 0 ? [] : [`  absent     ${names} (not measured)`]),
    `  downloads  ${downloadsText(result)}`,
    `  files      ${number(files)}, ${size(bytes)}`,
    `  changes    ${countsText({ ...changes })}`,
    `  cost       ${costText(cost)}`,
    ...(news === null ? [] : [news]),
  ];
}

/** How many files some downloads have: a table has one for each format. */
const countFiles = (names: readonly string[]): number =>
  DOWNLOADS.filter(({ name }) => names.includes(name)).length;

/** How many files of the downloads were written. */
function downloadsText({ exports, downloads: { asOf, kept } }: Published): string {
  const written = countFiles(Object.keys(exports).filter((each) => exports[each]?.written === true));
  const counts = countsText({
    written,
    unchanged: countFiles(Object.keys(exports)) - written - countFiles(kept),
  });
  return kept.length === 0
    ? counts
    : `${counts}, ${number(countFiles(kept))} kept ${asOf === null ? 'without measurements' : `as of ${asOf}`}`;
}

/** How many records of each kind --skip-invalid left out, and because of which findings. */
const excludedLines = ({ report, excluded }: Published): string[] => [
  `left out (--skip-invalid): ${recordsText(excluded)}`,
  ...RESOURCES.flatMap(({ kind, plural }) => {
    const tables = new Set(TABLES.filter((table) => table.kind === kind).map((table) => table.name));
    const reasons = report.findings
      .filter(({ table }) => tables.has(table))
      .map((finding) => `${placeOf(finding)} (${amountOf(finding.count, 'places')})`);
    return reasons.length === 0 ? [] : [`  ${plural} because of ${reasons.join(', ')}`];
  }),
];
