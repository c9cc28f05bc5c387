/** What several commands print. */
import { amountOf, number } from '../base/progress.js';
import {
  placeOf,
  type BrokenRow,
  type CheckReport,
  type Finding,
  type Warning,
} from '../register/findings.js';
import { RESOURCES, WITHHELD } from '../schema/schema.js';

/** The cost of a run. */
export interface RunCost {
  readonly seconds: number;
  readonly peakMemoryBytes: number;
}

/**
 * The result of a command as one line of JSON, with its cost. Members are in snake_case, as those of published
 * documents are.
 */
export const jsonLine = (result: object, cost: RunCost): string =>
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
export const countsText = (counts: Readonly<Record<string, number>>): string =>
  Object.entries(counts)
    .map(([what, count]) => `${number(count)} ${what}`)
    .join(', ');

/** `{groups: 1, games: null, items: 20}` -> `1 group, 20 items` */
export const recordsText = (counts: Readonly<Record<string, number | null>>): string =>
  RESOURCES.flatMap(({ plural }) => {
    const count = counts[plural] ?? null;
    return count === null ? [] : [amountOf(count, plural)];
  }).join(', ');

/** `1.1 s, peak memory 152.7 MB` */
export const costText = ({ seconds, peakMemoryBytes }: RunCost): string =>
  `${seconds.toFixed(1)} s, peak memory ${size(peakMemoryBytes)}`;

/** What each finding expected, with examples and a hint. */
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
          `${place}: ${amountOf(count, 'places')}, expected ${expected}`,
          ...examples.map((example) => `  ${exampleText(finding, example)}`),
          ...(hint === null ? [] : [`  hint: ${hint}`]),
        ];
    }
  });

function exampleText({ column }: Finding, { key, value, record }: BrokenRow): string {
  // The key of a row with a wrong id is that id.
  if (key === `${column} = ${value}`) return key;
  return `${key}: ${value}${record === undefined ? '' : `, the record has ${record}`}`;
}

/** The time of the newest measurement, in words. */
export const asOfText = (asOf: string | null): string =>
  asOf === null ? 'no measurements yet' : `register as of ${asOf}`;

/** The result of a check that found something. */
export const brokenLine = (register: string, { findings, total }: CheckReport, cost: RunCost): string =>
  `"${register}" breaks the contract in ${amountOf(total, 'places')} (${costText(cost)})` +
  (findings.some(({ what }) => what === 'missing') ? '; scaffold prints SQL for what is missing' : '');

/** What may be a mistake in a register that keeps the contract. */
export const warningLines = (warnings: readonly Warning[]): readonly string[] =>
  warnings.map((warning) => `warning: ${warningText(warning)}`);

/** The tables and columns that are not measured. */
export const notMeasured = (absent: readonly string[]): readonly string[] =>
  absent.filter((what) => what !== WITHHELD.name);

function warningText({ table, column, message, count, examples }: Warning): string {
  const place = placeOf({ table, column });
  return examples.length === 0
    ? `${place} ${message}`
    : `${place} ${message}: ${number(count)}, such as ${examples.join('; ')}`;
}
