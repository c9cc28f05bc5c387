/** The output of commands, for people. */
import type { Published } from './build.js';
import type { Difference } from './diff.js';
import type { FieldChange } from './dry-run.js';
import { number } from './progress.js';
import type { VerifyReport } from './publish/verify.js';
import { describe } from './register/findings.js';
import type { CheckReport } from './register/findings.js';

/** The cost of a run. */
export interface Cost {
  readonly seconds: number;
  readonly peakMemoryBytes: number;
}

/**
 * The result of a command as one line of JSON, with its cost. Members are snake_case, as in all that
 * is published; what a result quotes of published documents is so already.
 */
export const jsonLine = (result: object, cost: Cost): string =>
  JSON.stringify(snakeCased({ ...result, ...cost }));

function snakeCased(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(snakeCased);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([name, member]: [string, unknown]) => [
      name.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`),
      snakeCased(member),
    ]),
  );
}

/** 5300000 -> `5.3 MB`. */
export function size(bytes: number): string {
  const units = ['B', 'kB', 'MB', 'GB', 'TB'];
  let value = bytes;
  let unit = 0;
  while (value >= 1000 && unit < units.length - 1) {
    value /= 1000;
    unit += 1;
  }
  return `${unit === 0 ? value : value.toFixed(1)} ${units[unit] ?? ''}`;
}

const list = (counts: Readonly<Record<string, number>>): string =>
  Object.entries(counts)
    .map(([what, count]) => `${number(count)} ${what}`)
    .join(', ');

const costText = ({ seconds, peakMemoryBytes }: Cost): string =>
  `${seconds.toFixed(1)} s, peak memory ${size(peakMemoryBytes)}`;

/** Findings, one per line, then the number of those not shown. */
export function findingLines({ findings, more }: CheckReport): string[] {
  return [
    ...findings.map(describe),
    ...more.map(({ table, column, count }) => `${table}: ${number(count)} more like these in ${column}`),
  ];
}

/** The time of the newest reading, in words. */
export const asOfText = (asOf: string | null): string =>
  asOf === null ? 'no readings yet' : `register as of ${asOf}`;

/** Whether a build had anything to publish. */
export const isNews = ({ changes: { added, changed, removed } }: Published): boolean =>
  added + changed + removed > 0;

export function publishedLines(out: string, result: Published, cost: Cost): string[] {
  const { sequence, asOf, records, files, bytes, changes } = result;
  return [
    `${isNews(result) ? 'Published' : 'Nothing changed since'} snapshot ${sequence} in ${out}` +
      ` (${asOfText(asOf)})`,
    `  records  ${list(records)}`,
    `  exports  ${exportsText(result)}`,
    `  files    ${number(files)}, ${size(bytes)}`,
    `  changes  ${list({ ...changes })}`,
    `  cost     ${costText(cost)}`,
  ];
}

function exportsText({ exports, downloads: { asOf, kept } }: Published): string {
  const all = Object.values(exports);
  const written = all.filter((table) => table.written).length;
  const counts = list({ written, unchanged: all.length - written - kept.length });
  return kept.length === 0
    ? counts
    : `${counts}, ${kept.length} kept ${asOf === null ? 'without readings' : `as of ${asOf}`}`;
}

export const checkedLine = (register: string, { total }: CheckReport, cost: Cost): string =>
  total === 0
    ? `"${register}" keeps the contract (${costText(cost)})`
    : `"${register}" breaks the contract in ${number(total)} ${total === 1 ? 'place' : 'places'} (${costText(cost)})`;

/** Counts per route, then examples with old and new values. */
export function differenceLines({
  sequence,
  changes,
  byRoute,
  exports,
  implausible,
  examples,
}: Difference): string[] {
  const against = sequence === null ? 'an empty tree' : `snapshot ${sequence}`;
  const touched = changes.added + changes.changed + changes.removed;
  const writes = `write ${exports.length} of the bulk downloads anew: ${exports.join(', ')}`;
  if (touched === 0) {
    return [exports.length > 0 ? `A build would ${writes}` : `A build would change nothing in ${against}`];
  }
  return [
    `A build would change ${number(touched)} files of ${against}: ${list({ ...changes })}`,
    ...Object.entries(byRoute)
      .filter(([, { added, changed, removed }]) => added + changed + removed > 0)
      .map(([route, counts]) => `  ${route}: ${list({ ...counts })}`),
    ...(exports.length === 0 ? [] : [`and ${writes}`]),
    ...(implausible === null ? [] : [`It would be refused: ${implausible}`]),
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

/** The damage to a tree. @param repairedAs the snapshot that repaired it */
export function damageLines(
  out: string,
  { sequence, files, damage, total }: VerifyReport,
  repairedAs: number | null,
): string[] {
  const rest = total - damage.length;
  const verdict =
    total === 0
      ? 'is as its index and digest say'
      : `has ${number(total)} damaged ${total === 1 ? 'file' : 'files'}`;
  return [
    ...damage.map(({ file, what }) => `${what}: ${file}`),
    ...(rest > 0 ? [`and ${number(rest)} more`] : []),
    `Snapshot ${sequence ?? 'none'} in ${out} ${verdict} (${number(files)} files)${repairedAs !== null && total > 0 ? `; repaired, now snapshot ${repairedAs}` : ''}`,
  ];
}
