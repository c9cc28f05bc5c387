/** The output of commands, for people. */
import type { Published } from '../build/build.js';
import type { Difference } from '../build/diff.js';
import type { FieldChange } from '../build/dry-run.js';
import { number } from '../progress.js';
import type { VerifyReport } from '../verify/verify.js';
import { placeOf } from '../register/findings.js';
import type { CheckReport, Example, Finding } from '../register/findings.js';
import type { RowsByTable, Warning } from '../register/warnings.js';
import { BULK_FILES, EXPORT_FORMATS } from '../routes/exports.js';
import { RESOURCES, TABLES, WITHHELD } from '../schema/index.js';

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

/** `{added: 3, removed: 1}` -> `3 added, 1 removed` */
export const list = (counts: Readonly<Record<string, number>>): string =>
  Object.entries(counts)
    .map(([what, count]) => `${number(count)} ${what}`)
    .join(', ');

/** `1.1 s, peak memory 152.7 MB` */
export const costText = ({ seconds, peakMemoryBytes }: Cost): string =>
  `${seconds.toFixed(1)} s, peak memory ${size(peakMemoryBytes)}`;

export const counted = (count: number, one: string, many = `${one}s`): string =>
  `${number(count)} ${count === 1 ? one : many}`;

/** For each finding what was expected, some examples, and a hint. */
export const findingLines = ({ findings }: CheckReport): string[] =>
  findings.flatMap((finding) => {
    const { what, expected, count, hint, examples } = finding;
    const place = placeOf(finding);
    switch (what) {
      case 'missing':
        return [`${place} is missing, expected ${expected}`];
      case 'unreadable':
        return [`${place} can't be read, expected ${expected}`, ...examples.map(({ value }) => `  ${value}`)];
      case 'broken':
        return [
          `${place}: ${counted(count, 'place')}, expected ${expected}`,
          ...examples.map((example) => `  ${exampleText(finding, example)}`),
          ...(hint === null ? [] : [`  hint: ${hint}`]),
        ];
    }
  });

function exampleText({ column }: Finding, { key, value, record }: Example): string {
  // A wrong id is its own key.
  if (key === `${column} = ${value}`) return key;
  return `${key}: ${value}${record === undefined ? '' : `, the record has ${record}`}`;
}

/** The time of the newest measurement, in words. */
export const asOfText = (asOf: string | null): string =>
  asOf === null ? 'no measurements yet' : `register as of ${asOf}`;

const BULK_NAMES: ReadonlySet<string> = new Set(BULK_FILES.map(({ name }) => name));

/** Whether a build had anything to publish. */
export const isNews = ({ changes: { added, changed, removed } }: Published): boolean =>
  added + changed + removed > 0;

export function publishedLines(out: string, result: Published, cost: Cost): string[] {
  const { sequence, asOf, records, absent, fullRender, files, bytes, changes, log } = result;
  return [
    `${isNews(result) ? 'Published' : 'Nothing changed since'} snapshot ${sequence} in ${out}` +
      ` (${asOfText(asOf)})`,
    `  records    ${list(records)}`,
    ...notMeasured(absent).map((columns) => `  absent     ${columns} (not measured)`),
    `  downloads  ${downloadsText(result)}`,
    `  files      ${number(files)}, ${size(bytes)}`,
    `  changes    ${list({ ...changes })}`,
    ...(log === null ? [] : [`  log        ${counted(log.size, 'snapshot')}, signed as ${log.origin}`]),
    `  cost       ${costText(cost)}`,
    ...(fullRender === null ? [] : [`  everything was rendered: ${fullRender}`]),
  ];
}

/** The files of downloads; a table has one for each format. */
const filesOf = (names: readonly string[]): number =>
  names.reduce((sum, each) => sum + (BULK_NAMES.has(each) ? 1 : EXPORT_FORMATS.length), 0);

/** How many files of the downloads were written. */
function downloadsText({ exports, downloads: { asOf, kept } }: Published): string {
  const written = filesOf(Object.keys(exports).filter((each) => exports[each]?.written === true));
  const counts = list({ written, unchanged: filesOf(Object.keys(exports)) - written - filesOf(kept) });
  return kept.length === 0
    ? counts
    : `${counts}, ${number(filesOf(kept))} kept ${asOf === null ? 'without measurements' : `as of ${asOf}`}`;
}

/** The result of a check that found something. */
export const brokenLine = (register: string, { findings, total }: CheckReport, cost: Cost): string =>
  `"${register}" breaks the contract in ${counted(total, 'place')} (${costText(cost)})` +
  (findings.some(({ what }) => what === 'missing') ? '; scaffold prints SQL for what is missing' : '');

/** The result of a check that found nothing: counts, what is not measured, and warnings. */
export function soundLines(register: string, sound: Sound, cost: Cost): string[] {
  const { counts, absent, warnings } = sound;
  const rows = (table: string): string => `${number(counts[table] ?? 0)} ${table}`;
  return [
    `"${register}" keeps the contract (${costText(cost)})`,
    ...RESOURCES.map(({ plural, histories }) =>
      [plural, ...histories.map(({ table }) => table)].filter((table) => table in counts),
    ).flatMap((tables) => (tables.length === 0 ? [] : [`  ${tables.map(rows).join(', ')}`])),
    absent.includes(WITHHELD.name) ? '  no withheld: nothing is withheld' : `  ${rows(WITHHELD.name)}`,
    ...notMeasured(absent).map((columns) => `  not measured: ${columns}`),
    ...warningLines(warnings),
  ];
}

/** What may be a mistake in a register that keeps the contract. */
export const warningLines = (warnings: readonly Warning[]): readonly string[] =>
  warnings.map((warning) => `warning: ${warningText(warning)}`);

/** The tables and columns that are not measured, in one text, if any. */
function notMeasured(absent: readonly string[]): readonly string[] {
  const columns = absent.filter((what) => what !== WITHHELD.name);
  return columns.length === 0 ? [] : [columns.join(', ')];
}

/** What a check says of a register that keeps the contract. */
export interface Sound {
  readonly counts: RowsByTable;
  readonly absent: readonly string[];
  readonly warnings: readonly Warning[];
}

function warningText({ table, column, message, count, examples }: Warning): string {
  const place = placeOf({ table, column });
  return examples.length === 0
    ? `${place} ${message}`
    : `${place} ${message}: ${number(count)}, such as ${examples.join('; ')}`;
}

/** How many records of each kind --skip-invalid left out, and because of what. */
export const excludedLines = ({ report, excluded }: Published): string[] => [
  `left out (--skip-invalid): ${list(excluded)}`,
  ...RESOURCES.flatMap(({ kind, plural }) => {
    const tables = new Set(TABLES.filter((table) => table.kind === kind).map((table) => table.name));
    const reasons = report.findings
      .filter(({ table }) => tables.has(table))
      .map((finding) => `${placeOf(finding)} (${counted(finding.count, 'place')})`);
    return reasons.length === 0 ? [] : [`  ${plural} because of ${reasons.join(', ')}`];
  }),
];

/** Why a build would be refused and what it would warn of, counts per route, then examples. */
export function differenceLines({
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

const moreLines = (rest: number): string[] => (rest > 0 ? [`and ${number(rest)} more`] : []);

/** Files with entries of a log. */
const ENTRIES = /^log\/\w+\/tile\/entries\//;

/**
 * The damage to a tree, and the files in it that no route leads to.
 * @param repairedAs the snapshot that repaired it
 * @param areDeleted whether those files are deleted by now
 */
export function damageLines(
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
