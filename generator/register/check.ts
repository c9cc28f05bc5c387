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

/** How many breaks were found in one column of a table. */
interface Count {
  readonly table: string;
  readonly column: string;
  readonly count: number;
}

/** What one look at the register found. */
export interface Found {
  /** At most `SHOWN_PER_COLUMN` for each column of a table. */
  readonly findings: readonly Finding[];
  readonly counts: readonly Count[];
  readonly skippable: boolean;
}

/** Collects findings, and counts those beyond what anyone would read. */
class Findings {
  readonly #findings: Finding[] = [];
  readonly #counts = new Map<string, Count>();
  #shown = new Map<string, number>();
  #skippable = true;

  add(finding: Finding, skippable: boolean): void {
    const { table, column } = finding;
    this.addAll({ findings: [finding], counts: [{ table, column, count: 1 }], skippable });
  }

  addAll({ findings, counts, skippable }: Found): void {
    for (const finding of findings) {
      const place = placeOf(finding);
      const shown = this.#shown.get(place) ?? 0;
      if (shown === SHOWN_PER_COLUMN) continue;
      this.#shown.set(place, shown + 1);
      this.#findings.push(finding);
    }
    for (const { table, column, count } of counts) {
      const place = placeOf({ table, column });
      this.#counts.set(place, { table, column, count: (this.#counts.get(place)?.count ?? 0) + count });
    }
    if (!skippable) this.#skippable = false;
  }

  found(): Found {
    return { findings: this.#findings, counts: [...this.#counts.values()], skippable: this.#skippable };
  }

  report(): CheckReport {
    const { findings, counts, skippable } = this.found();
    return {
      findings,
      more: counts
        .map((place) => ({ ...place, count: place.count - SHOWN_PER_COLUMN }))
        .filter(({ count }) => count > 0),
      total: counts.reduce((sum, { count }) => sum + count, 0),
      skippable,
    };
  }
}

const placeOf = ({ table, column }: { readonly table: string; readonly column: string }): string =>
  `${table}.${column}`;

/** A look at all rows that may break the contract in one way. */
export interface Step {
  readonly table: Table;
  /** The rows `t` that do, as they stand behind FROM. */
  readonly from: string;
  readonly look: (register: Register, found: Findings) => void;
}

/** What the check consists of: the values of every table, then the rules between rows and tables. */
export const steps = (scope: Scope): readonly Step[] => [
  ...TABLES.map((table) => valuesStep(table, scope)),
  ...rowRules(scope).map(rowsStep),
];

/** What each step found, by its place among them. */
export type Looked = ReadonlyMap<number, Found>;

/** Takes all steps, here or elsewhere, and shows how far it is. */
export type Look = (scope: Scope, progress: Progress) => Promise<Looked>;

/**
 * Checks every table, column, value and history of the register against the contract.
 * @param skipInvalid also marks the records concerned as excluded, so that the rest can be published
 * @param scope the records to look at, where the rest is known to be as it was at an earlier check
 * @param look takes the steps; by itself, one after the other on this connection
 */
export async function check(
  register: Register,
  progress: Progress,
  skipInvalid: boolean,
  scope: Scope = 'all',
  look: Look = lookHere(register),
): Promise<CheckReport> {
  const found = new Findings();
  checkShape(register, found);
  // Values can't be asked of columns that are not there.
  if (found.found().findings.length > 0) return found.report();

  const all = steps(scope);
  progress.start('checking the register', all.length, 'steps');
  const looked = await look(scope, progress);
  for (const [index, { table, from }] of all.entries()) {
    const its = looked.get(index);
    if (its === undefined) throw new TypeError(`step ${index} of the check was not taken`);
    found.addAll(its);
    if (skipInvalid && its.counts.length > 0 && its.skippable) exclude(register, table, from);
  }
  progress.finish();
  return found.report();
}

const lookHere =
  (register: Register): Look =>
  async (scope, progress) => {
    const looked = new Map<number, Found>();
    for (const [index, step] of steps(scope).entries()) {
      looked.set(index, take(register, step));
      await progress.advance(1);
    }
    return looked;
  };

/** Takes a step. */
export function take(register: Register, { table, look }: Step): Found {
  const found = new Findings();
  try {
    look(register, found);
  } catch (error) {
    // A view may fail only when its rows are asked for.
    if (!(error instanceof Failure) || error.cause !== 'SQLITE_ERROR') throw error;
    const expected = 'a table, or a view that can be read';
    found.add({ table: table.name, key: '', column: '(the view)', value: error.message, expected }, false);
  }
  return found.found();
}

function rowsStep(rule: RowRule): Step {
  const { table, from } = rule;
  const key = table.key.map((column) => column.name);
  const sql =
    `SELECT ${key.map((column) => asText(`t.${name(column)}`)).join(', ')},` +
    ` ${rule.value}, ${rule.expected} FROM ${from}`;
  const look = (register: Register, found: Findings): void => {
    for (const row of register.rows<(string | null)[]>(sql)) {
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
  };
  return { table, from, look };
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

function valuesStep(table: Table, scope: Scope): Step {
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
  const sql =
    `SELECT ${key.map((column) => asText(name(column))).join(', ')},` +
    ` ${rules.map(({ column, broken }) => `${broken}, ${asText(name(column))}`).join(', ')} FROM ${from}`;
  const look = (register: Register, found: Findings): void => {
    for (const row of register.rows<(string | number | null)[]>(sql)) {
      for (const [index, { column, expected }] of rules.entries()) {
        if (row[key.length + 2 * index] !== 1) continue;
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
      }
    }
  };
  return { table, from, look };
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
