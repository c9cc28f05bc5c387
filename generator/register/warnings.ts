/** What a register that keeps the contract has: counts, and what may be a mistake all the same. */
import { columnsOf, type History, type Resource } from '../schema/field.js';
import { RESOURCES, TABLES, WITHHELD, recordTable } from '../schema/schema.js';
import type { Register } from './database.js';
import { oddValues } from './odd-values.js';
import { literal, name } from './sql.js';
import { warningOf, type Warning } from './findings.js';

/** A smaller share of records that don't fit their histories comes from failed readings. */
const MANY = 0.1;
/** This many records with an impossible time, at most, are mistakes of the platform or of a clock. */
const FEW = 3;

/** The rows of each table that is measured. */
type RowsByTable = Readonly<Record<string, number>>;

export const countRows = (register: Register): RowsByTable =>
  Object.fromEntries(
    TABLES.filter((table) => table === WITHHELD || register.measured.has(table.name)).map((table) => {
      const [rows] = register.integers(`SELECT count(*) FROM ${name(table.name)}`);
      return [table.name, Number(rows)];
    }),
  );

/** The title of the search for odd values. */
export const ODD_VALUES = 'looking for odd values, to warn of mistakes';

/** Finds what doesn't fit the records. @param counts see `countRows` */
export const warningsOf = (register: Register, counts: RowsByTable): readonly Warning[] => [
  ...unfitHistories(counts, register),
  ...unknownWithheld(register),
  ...oddValues(register, counts),
  ...RESOURCES.flatMap((resource) => measuredTooEarly(register, resource)),
];

/**
 * Finds records that were measured later than their newest reading. A build doesn't say so, since it would for ever
 * of a register that keeps no reading of what has not changed.
 */
export const lateWarnings = (register: Register): readonly Warning[] =>
  RESOURCES.flatMap((resource) => lateRecords(register, resource));

const unfitHistories = (counts: RowsByTable, register: Register): readonly Warning[] =>
  RESOURCES.flatMap((resource) =>
    resource.histories.flatMap((history): readonly Warning[] => {
      const { [resource.plural]: records = 0, [history.table]: entries = 0 } = counts;
      const { table } = history;
      if (records === 0 || !register.measured.has(table)) return [];
      if (entries > 0)
        return disagreements(register, resource, history).filter(({ count }) => count >= MANY * records);
      const message = `is empty, though ${resource.plural} has records: their histories of ${history.name} will be empty`;
      return [{ table, column: null, message, count: records, examples: [] }];
    }),
  );

/** The withheld list with a key of ids alone, since the message names the kind. */
const ID_OF_WITHHELD = { name: WITHHELD.name, key: WITHHELD.key.filter((column) => column.name === 'id') };

/** Finds ids in the list of withheld records that have no record. They may be mistyped. */
const unknownWithheld = (register: Register): readonly Warning[] =>
  RESOURCES.filter(({ plural }) => register.measured.has(plural)).flatMap(({ kind, plural }) => {
    const ids = `SELECT id FROM ${name(WITHHELD.name)} WHERE kind = ${literal(kind)}`;
    // A view may be slow to search, so it is read once.
    const unknown = `(${ids} EXCEPT SELECT id FROM ${name(plural)} WHERE id IN (${ids}))`;
    return warningOf(register, ID_OF_WITHHELD, 'id', {
      from: unknown,
      message: `has ids without a row in ${plural}`,
    });
  });

/** Records with a history of names and no current one, or with a name and no history. */
function disagreements(register: Register, resource: Resource, history: History): readonly Warning[] {
  const { plural } = resource;
  const names = new Set(
    columnsOf(history.fields).flatMap((c) => (c.type === 'text' && !c.nullable ? [c.name] : [])),
  );
  const key = name(history.key.name);
  const listed = `SELECT ${key} FROM ${name(history.table)} WHERE ${key} IS NOT NULL`;
  return Object.entries(history.agrees)
    .filter(([column, own]) => names.has(column) && register.measured.has(`${plural}.${own}`))
    .flatMap(([, column]) => [
      ...warningOf(register, recordTable(resource), column, {
        from: `${name(plural)} WHERE ${name(column)} IS NULL AND id IN (${listed})`,
        message: `is NULL in records that have rows in ${history.table}`,
      }),
      ...warningOf(register, recordTable(resource), column, {
        from: `${name(plural)} WHERE ${name(column)} IS NOT NULL AND id NOT IN (${listed})`,
        message: `is not NULL in records without a row in ${history.table}, whose histories will be empty`,
      }),
    ]);
}

/** Records that were measured before they were created, if these are more than a few. */
function measuredTooEarly(register: Register, resource: Resource): readonly Warning[] {
  const { plural } = resource;
  if (!register.measured.has(`${plural}.created_at`)) return [];
  return warningOf(register, recordTable(resource), 'measured_at', {
    from: `${name(plural)} WHERE measured_at < created_at`,
    message: 'is before created_at',
  }).filter(({ count }) => count > FEW);
}

/** Records with a value that was read later than their newest reading, if these are many. */
const lateRecords = (register: Register, resource: Resource): readonly Warning[] =>
  resource.histories
    .filter(({ order }) => order.type === 'time')
    .flatMap(({ table, key, order, agrees }) => {
      const newest = `SELECT ${name(key.name)} AS record, max(${name(order.name)}) AS newest FROM ${name(table)} GROUP BY 1`;
      const values = Object.values(agrees).map((column) => `${name(column)} IS NOT NULL`);
      const from = `${name(resource.plural)} JOIN (${newest}) ON record = id WHERE ${values.join(' AND ')}`;
      const late = 'measured_at > newest';
      const [all, found] = register.integers(`SELECT count(*), count(nullif(${late}, 0)) FROM ${from}`);
      if (Number(found) < MANY * Number(all)) return [];
      return warningOf(register, recordTable(resource), 'measured_at', {
        from: `${from} AND ${late}`,
        message: `is later than the newest row in ${table}`,
      });
    });
