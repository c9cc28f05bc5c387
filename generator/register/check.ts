/** The register against its contract, before anything is rendered. */
import { Failure, messageOf } from '../errors.js';
import type { Progress } from '../progress.js';
import { TABLES } from '../resources/index.js';
import type { Table } from '../resources/index.js';
import type { Register } from './open.js';
import { asText, columnRules, isUtf8, rowRules, scopedRows, textColumns } from './rules.js';
import type { RowRule } from './rules.js';
import { literal, name } from './sql.js';
import type { Scope } from './sql.js';

/** One break of the contract: where, what was found, what was expected. */
export interface Finding {
  readonly table: string;
  /** The row, as `id = 7`; empty where the table itself is meant. */
  readonly key: string;
  readonly column: string;
  readonly value: string;
  readonly expected: string;
}

/** What a check found. */
export interface CheckReport {
  /** At most `SHOWN_PER_COLUMN` for each column of a table. */
  readonly findings: readonly Finding[];
  /** Breaks beyond those shown, per column. */
  readonly more: readonly { readonly table: string; readonly column: string; readonly count: number }[];
  readonly total: number;
  /** Whether leaving records out would make the rest publishable. */
  readonly skippable: boolean;
}

export const SHOWN_PER_COLUMN = 20;
/** Values are shown up to this many characters. */
const SHOWN_CHARACTERS = 120;

/** `groups id = 7: measured_at is 'yesterday', expected a time …` */
export const describe = ({ table, key, column, value, expected }: Finding): string =>
  `${[table, key].filter(Boolean).join(' ')}: ${column} is ${value}, expected ${expected}`;

/** Whether a register with this report may be published, with or without what breaks the contract. */
export const isPublishable = ({ total, skippable }: CheckReport, skipInvalid: boolean): boolean =>
  total === 0 || (skipInvalid && skippable);

/** Collects findings, and counts those beyond what anyone would read. */
class Findings {
  readonly findings: Finding[] = [];
  readonly #counts = new Map<string, { table: string; column: string; count: number }>();
  skippable = true;

  add(finding: Finding, skippable: boolean): void {
    const { table, column } = finding;
    const place = `${table}.${column}`;
    const counted = this.#counts.get(place) ?? { table, column, count: 0 };
    counted.count += 1;
    this.#counts.set(place, counted);
    if (counted.count <= SHOWN_PER_COLUMN) this.findings.push(finding);
    if (!skippable) this.skippable = false;
  }

  report(): CheckReport {
    const counts = [...this.#counts.values()];
    return {
      findings: this.findings,
      more: counts
        .map((place) => ({ ...place, count: place.count - SHOWN_PER_COLUMN }))
        .filter(({ count }) => count > 0),
      total: counts.reduce((sum, { count }) => sum + count, 0),
      skippable: this.skippable,
    };
  }
}

/**
 * Checks every table, column, value and history of the register against the contract.
 * @param skipInvalid also marks the records concerned as excluded, so that the rest can be published
 * @param scope the records to look at, where the rest is known to be as it was at an earlier check
 */
export async function check(
  register: Register,
  progress: Progress,
  skipInvalid: boolean,
  scope: Scope = 'all',
): Promise<CheckReport> {
  const found = new Findings();
  checkShape(register, found);
  // Values can't be asked of columns that are not there.
  if (found.findings.length > 0) return found.report();

  const rules = rowRules(scope);
  const steps = TABLES.length + rules.length;
  progress.start('checking the register', steps, 'steps');
  for (const table of TABLES) {
    readable(table, found, () => checkValues(register, table, scope, found, skipInvalid));
    await progress.advance(1);
  }
  for (const rule of rules) {
    readable(rule.table, found, () => checkRows(register, rule, found, skipInvalid));
    await progress.advance(1);
  }
  progress.finish();
  return found.report();
}

/** A view may fail only when its rows are asked for. */
function readable(table: Table, found: Findings, action: () => void): void {
  try {
    action();
  } catch (error) {
    if (!(error instanceof Failure) || error.cause !== 'SQLITE_ERROR') throw error;
    const expected = 'a table, or a view that can be read';
    found.add({ table: table.name, key: '', column: '(the view)', value: error.message, expected }, false);
  }
}
function checkRows(register: Register, rule: RowRule, found: Findings, skipInvalid: boolean): void {
  const { table } = rule;
  const key = table.key.map((column) => column.name);
  const rows = register.rows<(string | null)[]>(
    `SELECT ${key.map((column) => asText(`t.${name(column)}`)).join(', ')},` +
      ` ${rule.value}, ${rule.expected} FROM ${rule.from}`,
  );
  for (const row of rows) {
    found.add(
      {
        table: table.name,
        key: keyText(key, row),
        column: rule.column,
        value: shorten(row[key.length]),
        expected: shorten(row[key.length + 1]),
      },
      table.kind !== null,
    );
  }
  if (skipInvalid && table.kind !== null) exclude(register, table, rule.from);
}

/** Missing tables and columns, and views that can't be read. */
function checkShape(register: Register, found: Findings): void {
  for (const table of TABLES) {
    const missing = (column: string, value: string, expected: string): void =>
      found.add({ table: table.name, key: '', column, value, expected }, false);
    try {
      const columns = new Set(
        [
          ...register.rows<[string]>(`SELECT lower(name) FROM pragma_table_xinfo(${literal(table.name)})`),
        ].flat(),
      );
      if (columns.size === 0) {
        missing('(the table)', 'missing', 'a table or view of that name');
        continue;
      }
      for (const column of table.columns) {
        if (!columns.has(column.name)) missing(column.name, 'missing', 'a column of that name');
      }
    } catch (error) {
      missing('(the view)', messageOf(error), 'a table, or a view that can be read');
    }
  }
}

function checkValues(
  register: Register,
  table: Table,
  scope: Scope,
  found: Findings,
  skipInvalid: boolean,
): void {
  const key = table.key.map((column) => column.name);
  const texts = textColumns(table);
  const rules = [
    ...columnRules(table),
    ...texts.map((column) => ({
      column,
      broken: `(typeof(${name(column)}) = 'text' AND NOT ${isUtf8(name(column))})`,
      expected: 'valid UTF-8',
    })),
  ];
  // One look at all texts of a row together; which of them it was is asked of the broken rows only.
  const anyBroken = [
    ...columnRules(table).map(({ broken }) => broken),
    ...(texts.length > 0 ? [`NOT ${isUtf8(`concat_ws(char(10), ${texts.map(name).join(', ')})`)}`] : []),
  ].join(' OR ');
  const from = `${scopedRows(table, scope)} AS t WHERE ${anyBroken}`;
  const rows = register.rows<(string | number | null)[]>(
    `SELECT ${key.map((column) => asText(name(column))).join(', ')},` +
      ` ${rules.map(({ column, broken }) => `${broken}, ${asText(name(column))}`).join(', ')} FROM ${from}`,
  );
  for (const row of rows) {
    rules.forEach(({ column, expected }, index) => {
      if (row[key.length + 2 * index] !== 1) return;
      found.add(
        {
          table: table.name,
          key: keyText(key, row),
          column,
          value: shorten(row[key.length + 2 * index + 1]),
          expected,
        },
        table.kind !== null,
      );
    });
  }
  if (skipInvalid && table.kind !== null) exclude(register, table, from);
}

/** Marks the records of broken rows as not to be published. */
function exclude(register: Register, table: Table, from: string): void {
  const [id] = table.key;
  if (table.kind === null || id === undefined) return;
  register.execute(
    `INSERT OR IGNORE INTO temp._excluded SELECT ${literal(table.kind)}, t.${name(id.name)} FROM ${from}`,
  );
}

const keyText = (key: readonly string[], row: readonly unknown[]): string =>
  key.map((column, index) => `${column} = ${shorten(row[index])}`).join(', ');

/** What would break the line or steer a terminal, beyond what JSON escapes: DEL, C1, separators, directions. */
const STEERING = /[\u007f-\u009f\u2028-\u202e\u2066-\u2069]/g;

/** A value as `asText` gives it: texts in single quotes, controls escaped, cut where it gets long. */
function shorten(value: unknown): string {
  const text = String(value).replaceAll(
    /"(?:[^"\\]|\\.)*"/g,
    (json) => `'${json.slice(1, -1).replaceAll('\\"', '"')}'`,
  );
  const shown = text.replaceAll(STEERING, (c) => `\\u${c.charCodeAt(0).toString(16).padStart(4, '0')}`);
  return shown.length > SHOWN_CHARACTERS ? `${shown.slice(0, SHOWN_CHARACTERS)}…` : shown;
}
