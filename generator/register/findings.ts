/** What a check says of a register: findings, grouped by what was expected where, and warnings. */
import { onOneLine } from '../base/errors.js';
import type { Table } from '../schema/schema.js';
import { asText } from './contract.js';
import type { Register } from './database.js';
import { name } from './sql.js';

/** A row that breaks a rule. */
export interface BrokenRow {
  /** The row, as `id = 7`. */
  readonly key: string;
  readonly value: string;
  /** What its record has, if that was expected. */
  readonly record?: string;
}

/** What is wrong with a table or column: all its rows that break one rule. */
export interface Finding {
  readonly table: string;
  /** The column, or several with commas; null if the table itself is meant. */
  readonly column: string | null;
  readonly what: 'missing' | 'unreadable' | 'broken';
  readonly expected: string;
  /** What to do about it; null if the cause is not known. */
  readonly hint: string | null;
  /** The number of places: rows, or keys that several rows share. */
  readonly count: number;
  /** At most `SHOWN_EXAMPLES` of them. */
  readonly examples: readonly BrokenRow[];
}

/** A rule that is broken. */
export interface Broken extends Pick<Finding, 'table' | 'column' | 'expected'> {
  readonly what?: Finding['what'];
  /** A hint for a value, as examples show it. */
  readonly hintFor?: (value: string) => string | undefined;
}

export interface CheckReport {
  readonly findings: readonly Finding[];
  /** The sum of the counts. */
  readonly total: number;
  /** Whether the rest can be published without the affected records. */
  readonly skippable: boolean;
}

export const SHOWN_EXAMPLES = 3;

/** Whether a register with this report may be published. */
export const isPublishable = ({ total, skippable }: CheckReport, skipInvalid: boolean): boolean =>
  total === 0 || (skipInvalid && skippable);

/** Collects findings, in memory that depends on the number of rules and not of broken rows. */
export class Findings {
  readonly #findings = new Map<string, Finding>();
  #skippable = true;

  /** Adds a place where a rule is broken. @param skippable whether the rest can be published without its record */
  add(
    { table, column, expected, what = 'broken', hintFor }: Broken,
    skippable: boolean,
    example?: BrokenRow,
  ) {
    const rule = { table, column, what, expected };
    const shown = this.#findings.get(ruleOf(rule))?.examples.length ?? 0;
    const examples = example !== undefined && shown < SHOWN_EXAMPLES ? [example] : [];
    const [hint = null] = examples.map(({ value }) => hintFor?.(value) ?? null);
    this.#add({ ...rule, hint, count: 1, examples });
    this.#skippable &&= skippable;
  }

  addAll({ findings, skippable }: CheckReport): void {
    for (const finding of findings) this.#add(finding);
    this.#skippable &&= skippable;
  }

  #add(finding: Finding): void {
    const before = this.#findings.get(ruleOf(finding)) ?? { ...finding, count: 0, examples: [] };
    this.#findings.set(ruleOf(finding), {
      ...before,
      hint: joined(before.hint, finding.hint),
      count: before.count + finding.count,
      examples: [...before.examples, ...finding.examples].slice(0, SHOWN_EXAMPLES),
    });
  }

  report(): CheckReport {
    const findings = [...this.#findings.values()];
    const total = findings.reduce((sum, { count }) => sum + count, 0);
    return { findings, total, skippable: this.#skippable };
  }
}

/** `groups.name`, or `usernames (user_id, position)` */
export function placeOf({ table, column }: Pick<Finding, 'table' | 'column'>): string {
  if (column === null) return table;
  return column.includes(',') ? `${table} (${column})` : `${table}.${column}`;
}

/** Examples of one finding may have several causes. */
function joined(hint: string | null, other: string | null): string | null {
  if (hint === null || other === null) return hint ?? other;
  return hint.includes(other) ? hint : `${hint}; ${other}`;
}

const ruleOf = ({ table, column, expected }: Pick<Finding, 'table' | 'column' | 'expected'>): string =>
  `${table}\n${column ?? ''}\n${expected}`;

/** Longer values are cut. */
const SHOWN_CHARACTERS = 120;

/** Formats a row's key. @param row its columns, starting with the key's, as `asText` yields them */
export const keyText = (key: readonly string[], row: readonly unknown[]): string =>
  key.map((column, index) => `${column} = ${shorten(row[index])}`).join(', ');

/** Formats a value from `asText`: single quotes, control characters escaped, long ones cut. */
export function shorten(value: unknown): string {
  const text = String(value).replaceAll(
    /"(?:[^"\\]|\\.)*"/g,
    (json) => `'${json.slice(1, -1).replaceAll('\\"', '"')}'`,
  );
  const shown = onOneLine(text);
  return shown.length > SHOWN_CHARACTERS ? `${shown.slice(0, SHOWN_CHARACTERS)}…` : shown;
}

/** Something that may be a mistake. */
export interface Warning {
  readonly table: string;
  readonly column: string | null;
  readonly message: string;
  /** How many records, or rows of a history; 0 for a view that is not read. */
  readonly count: number;
  /** At most `SHOWN_EXAMPLES` of them, as `id = 7`. */
  readonly examples: readonly string[];
}

/** Warns of the rows that a FROM clause yields, with the columns of the key, if there are any. */
export function warningOf(
  register: Register,
  { name: table, key }: Pick<Table, 'name' | 'key'>,
  column: string,
  { from, message }: { readonly from: string; readonly message: string },
): readonly Warning[] {
  const count = Number(register.integers(`SELECT count(*) FROM ${from}`)[0]);
  if (count === 0) return [];
  const columns = key.map((each) => each.name);
  const shown = `SELECT ${columns.map((each) => asText(name(each))).join(', ')} FROM ${from}`;
  const order = `ORDER BY ${columns.map(name).join(', ')} LIMIT ${SHOWN_EXAMPLES}`;
  const examples = [...register.rows<(string | null)[]>(`${shown} ${order}`)];
  return [{ table, column, message, count, examples: examples.map((row) => keyText(columns, row)) }];
}
