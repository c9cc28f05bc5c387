/** `diff`, or `build --dry-run`: says what a build would change. */
import { buildConfig } from '../config/config.js';
import { dryRun, type Difference } from '../pipeline/build.js';
import type { FieldChange } from '../pipeline/examples.js';
import { touchedIn } from '../publish/stage.js';
import { Failure } from '../base/errors.js';
import { amountOf, number } from '../base/progress.js';
import { RENDERING, renderingFlags, waitOption, type TreeFlags, type Program } from './options.js';
import { countsText, findingLines, warningLines } from './report.js';
import { effectsOf, onTree, print, withoutQuiet, type Terminal } from './terminal.js';

export function addDiff(program: Program, terminal: Terminal): void {
  program
    .command('diff')
    .with(...RENDERING, waitOption)
    .option('--details', 'also count documents by kind, and show examples')
    .description(
      'Say what a build would change: how many documents, and what is new (build --dry-run). Nothing is written.',
    )
    .action(async (flags: Flags, command: Program) => printDifference(terminal, flags, command));
}

type Flags = TreeFlags & { readonly details?: true };

/** What `diff` and `build --dry-run` do. */
export async function printDifference(terminal: Terminal, flags: Flags, command: Program): Promise<void> {
  const config = buildConfig(renderingFlags(command));
  const difference = await onTree(terminal, flags, () => dryRun(config, effectsOf(terminal, flags.quiet)));
  for (const line of findingLines(difference.report)) terminal.warn(line);
  if ('published' in difference)
    throw Failure.invalid(
      `the register has ${difference.report.total} findings, so a build would publish nothing (see check)`,
    );
  // The difference is what was asked for, also with --quiet.
  print(terminal, withoutQuiet(flags), difference, () => differenceLines(difference, flags.details === true));
}

function differenceLines(
  { sequence, changes, byRoute, implausible, warnings, examples, news }: Difference,
  hasDetails: boolean,
): string[] {
  const doubts = [
    ...(implausible === null ? [] : [`A build would be refused: ${implausible}`]),
    ...warningLines(warnings),
  ];
  const against = sequence === null ? 'an empty tree' : `snapshot ${sequence}`;
  const touched = touchedIn(changes);
  if (touched === 0) return [...doubts, `A build would change nothing in ${against}`];
  return [
    ...doubts,
    `A build would change ${amountOf(touched, 'files')} of ${against}: ${countsText({ ...changes })}`,
    ...(hasDetails ? detailLines(byRoute, examples) : []),
    ...(news === null ? [] : [news]),
  ];
}

/** Counts per route, then examples. */
const detailLines = (byRoute: Difference['byRoute'], examples: Difference['examples']): readonly string[] => [
  ...Object.entries(byRoute)
    .filter(([, counts]) => touchedIn(counts) > 0)
    .map(([route, counts]) => `  ${route}: ${countsText({ ...counts })}`),
  'For example',
  ...ORDER.flatMap((what) => examples.filter((each) => each.what === what)).flatMap(
    ({ what, url, fields = [] }) => [`  ${what} ${url}`, ...fields.flatMap(fieldLines)],
  ),
];

/** What matters most comes first. */
const ORDER = ['removed', 'added', 'changed'] as const;

/** How many entries of a list are shown. */
const SHOWN_ENTRIES = 3;

function fieldLines(change: FieldChange): readonly string[] {
  const { field } = change;
  if ('from' in change) {
    const both = [jsonOf(change.from), jsonOf(change.to)] as const;
    const start = differenceAt(...both);
    return [`    ${field}: ${apart(both.map((text) => part(text, start, VALUE_CHARACTERS))).join(' -> ')}`];
  }
  const [removed, added] = [change.removed.slice(0, SHOWN_ENTRIES), change.added.slice(0, SHOWN_ENTRIES)];
  const shown = apart([...removed, ...added].map((entry) => part(jsonOf(entry), 0, ENTRY_CHARACTERS)));
  const lines = (sign: string, entries: readonly string[], all: number): readonly string[] => [
    ...entries.map((entry) => `    ${field}: ${sign} ${entry}`),
    ...(all > entries.length ? [`    ${field}: ${sign} ${number(all - entries.length)} more`] : []),
  ];
  return [
    ...lines('-', shown.slice(0, removed.length), change.removed.length),
    ...lines('+', shown.slice(removed.length), change.added.length),
  ];
}

/** How much is shown of a value, and of an entry of a list, which may differ from others at its end. */
const VALUE_CHARACTERS = 80;
const ENTRY_CHARACTERS = 400;

/** How much of what two values have in common is shown before the difference. */
const CONTEXT_CHARACTERS = 20;

const jsonOf = (value: unknown): string => JSON.stringify(value) ?? 'nothing';

/** The texts; if two of them look equal, with all characters escaped that may look like others. */
const apart = (texts: readonly string[]): readonly string[] =>
  new Set(texts.map(looksOf)).size === texts.length ? texts : texts.map(escapedIn);

/** What people see of a text: some characters are invisible, or look like others. */
const looksOf = (text: string): string =>
  text
    .normalize('NFKC')
    .replaceAll(/\p{Z}/gu, ' ')
    .replaceAll(/[\p{C}\p{Default_Ignorable_Code_Point}]/gu, '');

const escapedIn = (text: string): string =>
  text.replaceAll(/[^\u0020-\u007e…]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`);

/** The first index at which two texts differ. */
function differenceAt(one: string, other: string): number {
  let index = 0;
  while (index < one.length && one[index] === other[index]) index += 1;
  return index;
}

/** A part of a long text, at most `most` characters. @param shown the index of a character that must be in it */
function part(text: string, shown: number, most: number): string {
  if (text.length <= most) return text;
  const start = shown < most ? 0 : shown - CONTEXT_CHARACTERS;
  const end = start + most;
  // Without half a character at either end.
  const cut = text.slice(start, end).replaceAll(/^[\uDC00-\uDFFF]|[\uD800-\uDBFF]$/g, '');
  return `${start > 0 ? '…' : ''}${cut}${end < text.length ? '…' : ''}`;
}
