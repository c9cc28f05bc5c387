/** `diff`, or `build --dry-run`: says what a build would change. */
import { buildConfig } from '../config/config.js';
import { dryRun, type Difference } from '../pipeline/build.js';
import type { FieldChange } from '../pipeline/examples.js';
import { Failure } from '../base/errors.js';
import { amountOf, number } from '../base/progress.js';
import { RENDERING, renderingFlags, waitOption, type OnTree, type Program } from './options.js';
import { findingLines, list, warningLines } from './report.js';
import { onTree, print, type Terminal } from './terminal.js';

export function addDiff(program: Program, terminal: Terminal): void {
  program
    .command('diff')
    .with(...RENDERING, waitOption)
    .description(
      'Say which documents and feeds a build would add, change and remove, with examples (build --dry-run). Nothing is written.',
    )
    .action(async (flags: OnTree, command: Program) => printDifference(terminal, flags, command));
}

/** Does what `diff` does, and what a build does with --dry-run. */
export async function printDifference(terminal: Terminal, flags: OnTree, command: Program): Promise<void> {
  const config = buildConfig(renderingFlags(command));
  const difference = await onTree(terminal, flags, () => dryRun(config, terminal.effects(flags.quiet)));
  for (const line of findingLines(difference.report)) terminal.warn(line);
  if ('published' in difference)
    throw Failure.invalid(
      `the register has ${difference.report.total} findings, so a build would publish nothing (see check)`,
    );
  // The difference is what was asked for, also with --quiet.
  print(terminal, { ...flags, quiet: undefined }, difference, () => differenceLines(difference));
}

/** Why a build would be refused and what it would warn of, counts per route, then examples. */
function differenceLines({
  sequence,
  changes,
  byRoute,
  implausible,
  warnings,
  examples,
}: Difference): string[] {
  const doubts = [
    ...(implausible === null ? [] : [`A build would be refused: ${implausible}`]),
    ...warningLines(warnings),
  ];
  const against = sequence === null ? 'an empty tree' : `snapshot ${sequence}`;
  const touched = changes.added + changes.changed + changes.removed;
  if (touched === 0) return [...doubts, `A build would change nothing in ${against}`];
  return [
    ...doubts,
    `A build would change ${amountOf(touched, 'files')} of ${against}: ${list({ ...changes })}`,
    ...Object.entries(byRoute)
      .filter(([, { added, changed, removed }]) => added + changed + removed > 0)
      .map(([route, counts]) => `  ${route}: ${list({ ...counts })}`),
    'For example',
    ...ORDER.flatMap((what) => examples.filter((each) => each.what === what)).flatMap(
      ({ what, url, fields = [] }) => [`  ${what} ${url}`, ...fields.flatMap(fieldLines)],
    ),
  ];
}

/** What matters most comes first. */
const ORDER = ['removed', 'added', 'changed'] as const;

/** How many entries of a list are shown. */
const SHOWN_ENTRIES = 3;

function fieldLines(change: FieldChange): readonly string[] {
  if ('from' in change) {
    const [from, to] = [jsonOf(change.from), jsonOf(change.to)];
    const start = differenceAt(from, to);
    return [`    ${change.field}: ${brief(from, start)} -> ${brief(to, start)}`];
  }
  const lines = (sign: string, entries: readonly unknown[]): readonly string[] => [
    ...entries.slice(0, SHOWN_ENTRIES).map((entry) => `    ${change.field}: ${sign} ${brief(jsonOf(entry))}`),
    ...(entries.length > SHOWN_ENTRIES
      ? [`    ${change.field}: ${sign} ${number(entries.length - SHOWN_ENTRIES)} more`]
      : []),
  ];
  return [...lines('-', change.removed), ...lines('+', change.added)];
}

const BRIEF_CHARACTERS = 80;

/** How much of what two values have in common is shown before the difference. */
const CONTEXT_CHARACTERS = 20;

const jsonOf = (value: unknown): string => JSON.stringify(value) ?? 'nothing';

/** The first index at which two texts differ. */
function differenceAt(one: string, other: string): number {
  let index = 0;
  while (index < one.length && one[index] === other[index]) index += 1;
  return index;
}

/** A part of a long text. @param shown an index of what must be in it */
function brief(text: string, shown = 0): string {
  if (text.length <= BRIEF_CHARACTERS) return text;
  const start = shown < BRIEF_CHARACTERS ? 0 : shown - CONTEXT_CHARACTERS;
  const end = start + BRIEF_CHARACTERS;
  // Not between the halves of a character.
  const part = text.slice(start, end).replaceAll(/^[\uDC00-\uDFFF]|[\uD800-\uDBFF]$/g, '');
  return `${start > 0 ? '…' : ''}${part}${end < text.length ? '…' : ''}`;
}
