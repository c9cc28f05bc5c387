import type { Command } from 'commander';
import { buildConfig } from '../config/config.js';
import { diff } from '../build/diff.js';
import type { Difference } from '../build/diff.js';
import type { FieldChange } from '../build/field-changes.js';
import { number } from '../progress.js';
import { rendering } from './options.js';
import type { Common } from './options.js';
import { findingLines, list, warningLines } from './report.js';
import { print } from './terminal.js';
import type { Terminal } from './terminal.js';

export function addDiff(program: Command, terminal: Terminal): void {
  rendering(program.command('diff'))
    .description(
      'Say which documents and feeds a build would add, change and remove, with examples. Nothing is written.',
    )
    .action(async (flags: Common) => {
      const difference = await diff(buildConfig(flags), terminal.effects(flags.quiet));
      for (const line of findingLines(difference.report)) terminal.warn(line);
      // The difference is what was asked for, also with --quiet.
      print(terminal, { ...flags, quiet: undefined }, difference, () => differenceLines(difference));
    });
}

/** Why a build would be refused and what it would warn of, counts per route, then examples. */
function differenceLines({
  sequence,
  changes,
  byRoute,
  exports,
  implausible,
  warnings,
  rewritten,
  examples,
}: Difference): string[] {
  const doubts = [
    ...(implausible === null ? [] : [`A build would be refused: ${implausible}`]),
    ...warningLines([...rewritten, ...warnings]),
  ];
  const against = sequence === null ? 'an empty tree' : `snapshot ${sequence}`;
  const touched = changes.added + changes.changed + changes.removed;
  const writes = `rewrite ${exports.length} of the bulk downloads: ${exports.join(', ')}`;
  if (touched === 0) {
    const would = exports.length > 0 ? writes : `change nothing in ${against}`;
    return [...doubts, `A build would ${would}`];
  }
  return [
    ...doubts,
    `A build would change ${number(touched)} files of ${against}: ${list({ ...changes })}`,
    ...Object.entries(byRoute)
      .filter(([, { added, changed, removed }]) => added + changed + removed > 0)
      .map(([route, counts]) => `  ${route}: ${list({ ...counts })}`),
    ...(exports.length === 0 ? [] : [`and ${writes}`]),
    'For example',
    ...examples.flatMap(({ what, url, fields = [] }) => [`  ${what} ${url}`, ...fields.flatMap(fieldLines)]),
  ];
}

/** How many entries of a list are shown. */
const SHOWN_ENTRIES = 3;

function fieldLines(change: FieldChange): readonly string[] {
  if ('from' in change) return [`    ${change.field}: ${brief(change.from)} -> ${brief(change.to)}`];
  const lines = (sign: string, entries: readonly unknown[]): readonly string[] => [
    ...entries.slice(0, SHOWN_ENTRIES).map((entry) => `    ${change.field}: ${sign} ${brief(entry)}`),
    ...(entries.length > SHOWN_ENTRIES
      ? [`    ${change.field}: ${sign} ${number(entries.length - SHOWN_ENTRIES)} more`]
      : []),
  ];
  return [...lines('-', change.removed), ...lines('+', change.added)];
}

const BRIEF_CHARACTERS = 80;

function brief(value: unknown): string {
  const json = JSON.stringify(value) ?? 'nothing';
  return json.length > BRIEF_CHARACTERS ? `${json.slice(0, BRIEF_CHARACTERS)}…` : json;
}
