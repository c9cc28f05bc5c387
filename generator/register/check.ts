/** Checks the register against its contract before anything is rendered. */
import { Failure } from '../base/errors.js';
import { follow, type Progress } from '../base/progress.js';
import { TABLES, recordTable, resourceOf, type Table } from '../schema/schema.js';
import type { Context } from './context.js';
import type { Register } from './database.js';
import {
  asText,
  columnRules,
  isTooLong,
  isUtf8,
  ROW_RULES,
  textColumns,
  type ColumnRule,
  type RowRule,
} from './contract.js';
import { exclusion, literal, name } from './sql.js';
import { Findings, keyText, placeOf, shorten, type Broken, type CheckReport } from './findings.js';
import { explainer } from './explain.js';

/** A query for all rows that break the contract in one way. */
interface CheckQuery {
  /** What the step checks, as `groups (the values of its columns)`. */
  readonly what: string;
  readonly table: Table;
  /** The offending rows `t`, as a FROM clause. */
  readonly from: string;
  readonly run: (register: Register, found: Findings) => void;
}

/** The steps of the check: the values of every table, then the rules between rows and tables. */
const STEPS: readonly CheckQuery[] = [...TABLES.map(valuesStep), ...ROW_RULES.map(rowsStep)];

/** Runs a step, by its index; the step may wait before it starts. */
type StepRunner = (step: number, onStart: () => void) => Promise<CheckReport>;

/**
 * Checks every table, column, value and history of the register against the contract.
 * @param skipInvalid also excludes the affected records, so that the rest can be published
 * @param run runs steps in other threads; by default they run here, without progress
 */
export async function check(
  register: Register,
  progress: Progress,
  skipInvalid: boolean,
  run: StepRunner = async (step) => takeStep({ register }, step),
): Promise<CheckReport> {
  const found = new Findings();
  checkShape(register, found);
  // Values of missing columns can't be queried.
  if (found.report().total > 0) return found.report();
  found.addAll(await progress.blocking(() => readTwice(register), 'reading views twice'));

  progress.start('checking the register', STEPS.length, 'steps');
  const explained = explainer(register, progress);
  let done = 0;
  const taking = STEPS.map(async ({ what, table }, step) => {
    const report = await explained(`checking ${what}`, readWith(table), (onStart) => run(step, onStart));
    done += 1;
    return report;
  });
  const taken = await follow(Promise.all(taking), () => done, progress);
  for (const [index, { table, from }] of STEPS.entries()) {
    const report = taken[index];
    if (report === undefined) throw new TypeError(`step ${index} of the check was not taken`);
    found.addAll(report);
    if (skipInvalid && report.total > 0 && report.skippable)
      await progress.blocking(() => excludeRecords(register, table, from));
  }
  progress.finish();
  return found.report();
}

/** The tables that a step of this table reads, if it compares with records. */
function readWith(table: Table): readonly Table[] {
  const records = table.kind === null ? table : recordTable(resourceOf(table.kind));
  return records.name === table.name ? [table] : [table, records];
}

/** Takes a step of the check of all records. */
export function takeStep({ register }: Pick<Context, 'register'>, step: number): CheckReport {
  const query = STEPS[step];
  if (query === undefined) throw new TypeError(`the check has no step ${step}`);
  return reportOf(register, query);
}

function reportOf(register: Register, { table, run }: CheckQuery): CheckReport {
  const found = new Findings();
  reading(table, found, () => run(register, found));
  return found.report();
}

/** Reads a table. Adds a finding if it is a view that can't be read, which may show only with its rows. */
function reading({ name: table }: Table, found: Findings, read: () => void): void {
  try {
    read();
  } catch (error) {
    if (!(error instanceof Failure) || error.cause !== 'SQLITE_ERROR') throw error;
    const expected = 'a table, or a view that can be read';
    found.add({ table, column: null, what: 'unreadable', expected }, false, {
      key: '',
      value: error.message,
    });
  }
}

/** How many rows of a view are read twice, at most. */
const SAMPLED = 100;
/** A longer key, in bytes, breaks the contract, and would be a long query. */
const LONGEST_KEY = 100;
/** A slow view is read for this long, and by one row at least: 1000 ms (= 1 second). */
const SAMPLED_MS = 1000;

/**
 * Reads some rows of each view twice, to find values that differ: the documents of one snapshot would
 * contradict each other. The order of the rows may differ.
 */
function readTwice(register: Register): CheckReport {
  const found = new Findings();
  const views = register.rows<[string]>(`SELECT lower(name) FROM main.sqlite_schema WHERE type = 'view'`);
  const known = new Set([...views].flat());
  for (const table of TABLES.filter((each) => known.has(each.name) && !register.absent.includes(each.name)))
    reading(table, found, () => compareReadings(register, table, found));
  return found.report();
}

function compareReadings(register: Register, table: Table, found: Findings): void {
  const [key, columns] = [namesOf(table.key), namesOf(table.columns)];
  const [first = ''] = key;
  const read = (which: string, mostMs: number): string[][] => {
    const rows: string[][] = [];
    const startedAt = performance.now();
    const sql =
      `SELECT ${[...key, ...columns].map((each) => asText(name(each))).join(', ')}, quote(${name(first)})` +
      ` FROM ${name(table.name)} ${which}`;
    for (const row of register.rows<string[]>(sql)) {
      rows.push(row);
      if (performance.now() - startedAt > mostMs) break;
    }
    return rows;
  };
  const once = read(`WHERE octet_length(${name(first)}) <= ${LONGEST_KEY} LIMIT ${SAMPLED}`, SAMPLED_MS);
  const ids = once.map((row) => row.at(-1));
  const again = new Map<string, string[]>();
  const shared = new Set<string>();
  for (const row of read(`WHERE ${name(first)} IN (${ids.join(', ')})`, Infinity)) {
    const example = keyText(key, row);
    if (again.has(example)) shared.add(example);
    again.set(example, row);
  }
  for (const row of once) {
    const example = keyText(key, row);
    // Rows that share a key may differ; the rule on keys reports them.
    if (shared.has(example)) continue;
    const other = again.get(example);
    const add = (column: string, value: string): void =>
      found.add({ table: table.name, column, ...DIFFERS }, false, { key: example, value });
    if (other === undefined) {
      add(first, `${shorten(row[0])}, then nothing`);
      continue;
    }
    for (const [index, column] of columns.entries()) {
      const [value, then] = [row[key.length + index], other[key.length + index]];
      if (value !== then) add(column, `${shorten(value)}, then ${shorten(then)}`);
    }
  }
}

const namesOf = (columns: Table['columns']): readonly string[] => columns.map((column) => column.name);

const DIFFERS: Omit<Broken, 'table' | 'column'> = {
  expected: 'the same whenever it is read',
  hintFor: () => 'no view may use random(), the time of reading, or LIMIT without an order that is fixed',
};

function rowsStep(rule: RowRule): CheckQuery {
  const { table, from, column, expected, record, hint } = rule;
  const key = table.key.map((each) => each.name);
  const sql =
    `SELECT ${key.map((each) => asText(`t.${name(each)}`)).join(', ')},` +
    ` ${rule.value}, ${record ?? 'NULL'} FROM ${from}`;
  const broken: Broken = { table: table.name, column, expected, hintFor: () => hint };
  const run = (register: Register, found: Findings): void => {
    for (const row of register.rows<(string | null)[]>(sql)) {
      const example = { key: keyText(key, row), value: shorten(row[key.length]) };
      found.add(
        broken,
        table.kind !== null,
        record === undefined ? example : { ...example, record: shorten(row[key.length + 1]) },
      );
    }
  };
  return { what: `${placeOf(broken)} (expected ${expected})`, table, from, run };
}

/** Finds missing columns, and views that can't be read. */
function checkShape(register: Register, found: Findings): void {
  for (const table of TABLES) {
    reading(table, found, () => {
      const sql = `SELECT lower(name) FROM pragma_table_xinfo(${literal(table.name)})`;
      const columns = new Set([...register.rows<[string]>(sql)].flat());
      for (const column of table.columns) {
        if (columns.has(column.name)) continue;
        const expected = 'a column of that name';
        found.add({ table: table.name, column: column.name, what: 'missing', expected }, false);
      }
    });
  }
}

function valuesStep(table: Table): CheckQuery {
  const key = table.key.map((column) => column.name);
  const texts = textColumns(table);
  const rules: readonly ColumnRule[] = [
    ...columnRules(table),
    ...texts.map((column) => ({
      column,
      broken: `(typeof(${name(column)}) = 'text' AND NOT ${isTooLong(name(column))} AND NOT ${isUtf8(name(column))})`,
      expected: 'valid UTF-8',
    })),
  ];
  // One pass checks all texts of a row together; only broken rows are checked column by column.
  const anyBroken = [
    ...columnRules(table).map(({ broken }) => broken),
    ...(texts.length > 0 ? [`NOT ${isUtf8(`concat_ws(char(10), ${texts.map(name).join(', ')})`)}`] : []),
  ].join(' OR ');
  const from = `${name(table.name)} AS t WHERE ${anyBroken}`;
  const sql =
    `SELECT ${key.map((column) => asText(name(column))).join(', ')},` +
    ` ${rules.map(({ column, broken }) => `${broken}, ${asText(name(column))}`).join(', ')} FROM ${from}`;
  const run = (register: Register, found: Findings): void => {
    for (const row of register.rows<(string | number | null)[]>(sql)) {
      for (const [index, rule] of rules.entries()) {
        if (row[key.length + 2 * index] !== 1) continue;
        const value = shorten(row[key.length + 2 * index + 1]);
        const hintFor = (wrong: string): string | undefined => rule.hintFor?.(wrong, register.clock);
        found.add({ ...rule, hintFor, table: table.name }, table.kind !== null, {
          key: keyText(key, row),
          value,
        });
      }
    }
  };
  return { what: `${table.name} (the values of its columns)`, table, from, run };
}

/** Excludes the records of broken rows from publication. */
function excludeRecords(register: Register, table: Table, from: string): void {
  const [id] = table.key;
  if (table.kind === null || id === undefined) return;
  register.execute(
    `INSERT OR IGNORE INTO ${exclusion('excluded', table.kind)} SELECT t.${name(id.name)} FROM ${from}`,
  );
}
