/** Exclusions, and totals of the published part of the register. */
import { Failure } from '../base/errors.js';
import { KINDS, platformId, type History, type Resource } from '../schema/field.js';
import { MAX_INTEGER } from '../schema/shape.js';
import { RESOURCES } from '../schema/schema.js';
import type { Measured } from '../schema/measured.js';
import { newestOf } from '../schema/time.js';
import type { Register } from './database.js';
import { exclusion, isPublished, literal, name } from './sql.js';
import { samples } from './samples.js';
import { markNames } from './withheld-names.js';

/** Fills the connection's lists of withheld and excluded records, and of names. Idempotent. */
export function markWithheld(register: Register, resources = RESOURCES): void {
  for (const kind of KINDS) {
    const ids = `SELECT id FROM withheld WHERE kind = ${literal(kind)}`;
    register.execute(`INSERT OR IGNORE INTO ${exclusion('withheld', kind)} ${ids}`);
    register.execute(`INSERT OR IGNORE INTO ${exclusion('excluded', kind)} ${ids}`);
  }
  markNames(register, resources);
}

/** Lists the records whose ids on the platform differ by case alone: some file systems take them for one name. */
export function markClashing(register: Register): void {
  const id = name(platformId.column.name);
  for (const { kind, plural } of RESOURCES) {
    if (!register.measured.has(`${plural}.${platformId.column.name}`)) continue;
    const lettered = `SELECT id, lower(${id}) AS folded FROM ${name(plural)} WHERE ${id} GLOB '*[A-Za-z]*' AND ${isPublished(kind)}`;
    register.execute(
      `INSERT OR IGNORE INTO ${exclusion('clashing', kind)} WITH lettered AS MATERIALIZED (${lettered})` +
        ` SELECT id FROM lettered WHERE folded COLLATE BINARY IN (SELECT folded COLLATE BINARY FROM lettered` +
        ` GROUP BY folded COLLATE BINARY HAVING count(*) > 1)`,
    );
  }
}

/** The number of records that are excluded as invalid and not as withheld, by the plural of their kind. */
export const invalidRecords = (register: Register): Readonly<Record<string, number>> =>
  Object.fromEntries(
    RESOURCES.map(({ kind, plural }) => {
      const [named, unnamed] = register.integers(
        `SELECT (SELECT count(*) FROM ${exclusion('excluded', kind)} WHERE value NOT IN ${exclusion('withheld', kind)}` +
          // A history without a record is invalid, too.
          ` AND value IN (SELECT +id FROM ${name(plural)})),` +
          ` (SELECT count(*) FROM ${name(plural)} WHERE id IS NULL)`,
      );
      return [plural, Number(named) + Number(unnamed)];
    }),
  );

/** The sum of the measured values, and their number; null if none was measured. */
export interface Total {
  readonly total: number | null;
  readonly measured: number;
}

/**
 * Totals of a kind. Times are null if it has no record. When records were measured first, and how often,
 * is null as well if it is not measured of each.
 */
export interface Population {
  readonly resource: Resource;
  readonly records: number;
  readonly measurements: number | null;
  readonly firstMeasuredAt: string | null;
  readonly measuredAt: string | null;
  readonly totals: readonly (Total & { readonly column: string })[];
  readonly histories: readonly HistoryCounts[];
  /** The ids of its sample records (see samples.ts). */
  readonly samples: readonly number[];
}

/** Totals of a history. */
interface HistoryCounts {
  readonly history: History;
  readonly entries: number;
  /** Entries beyond the first of each record; undefined for readings, which are not changes. */
  readonly changes: number | undefined;
}

/** Totals of the published part of the register. */
export interface Overview {
  readonly populations: readonly Population[];
  readonly measured: Measured;
  /** The newest `measured_at` of all; null for an empty register. */
  readonly asOf: string | null;
}

/** The rows of a table, and the records they belong to. */
interface RowCounts {
  readonly rows: number;
  readonly records: number;
}

/** The rows of histories, by table. */
type Counted = ReadonlyMap<string, RowCounts>;

/** A kind without the counts of its histories. */
type MeasuredRecords = Omit<Population, 'histories'>;

export function populationOf(
  populations: readonly Population[],
  { kind }: Pick<Resource, 'kind'>,
): Population {
  const found = populations.find(({ resource }) => resource.kind === kind);
  if (found === undefined) throw new TypeError(`no population of kind "${kind}"`);
  return found;
}

/** When the register first measured anything; null if it has nothing, or doesn't know of each kind. */
export function firstMeasurement(populations: readonly Population[]): string | null {
  const known = populations.filter(({ records }) => records > 0);
  const firsts = known.flatMap(({ firstMeasuredAt }) => firstMeasuredAt ?? []);
  return firsts.length < known.length ? null : (firsts.toSorted()[0] ?? null);
}

/** Combines separately measured parts. */
export function overviewOf(
  records: readonly MeasuredRecords[],
  counted: Counted,
  measured: Measured,
): Overview {
  const populations = records.map((population) => ({
    ...population,
    histories: population.resource.histories.map((history) => historyCounts(history, counted)),
  }));
  return { populations, measured, asOf: newestOf(records.map(({ measuredAt }) => measuredAt)) };
}

/**
 * Measures the published records.
 * @throws Failure invalid: a total exceeds 2^53-1, which JSON readers would round
 */
export const measureRecords = (register: Register): readonly MeasuredRecords[] =>
  RESOURCES.map((resource) => measure(register, resource));

/** Counts the published entries of all histories. */
export const countEntries = (register: Register): Counted =>
  new Map(
    RESOURCES.flatMap(({ kind, histories }) =>
      histories.map(({ table, key }) => {
        const [rows, records] = register.integers(
          `SELECT count(*), count(DISTINCT ${name(key.name)}) FROM ${name(table)}` +
            ` WHERE ${isPublished(kind, key.name)}`,
        );
        return [table, { rows: Number(rows), records: Number(records) }];
      }),
    ),
  );

const NO_ROWS: RowCounts = { rows: 0, records: 0 };

/** Ten million values of 2^53 would overflow 64 bits, so their halves are summed separately. */
const HALF = 2n ** 32n;
const halvesSum = (column: string): string =>
  `sum(${name(column)} >> 32), sum(${name(column)} & ${HALF - 1n}), count(${name(column)})`;

function measure(register: Register, resource: Resource): MeasuredRecords {
  const table = resource.plural;
  const [first, firsts, last, records, ...sums] = register.integers(
    `SELECT min(first_measured_at), count(first_measured_at), max(measured_at), count(*), ` +
      ['measurements', ...resource.totals].map(halvesSum).join(', ') +
      ` FROM ${name(table)} WHERE ${isPublished(resource.kind)}`,
  );
  const total = (index: number, column: string): Total => {
    const [high, low, measured] = sums.slice(3 * index, 3 * index + 3);
    if (typeof high !== 'bigint' || typeof low !== 'bigint') return { total: null, measured: 0 };
    return { total: exact(high * HALF + low, `${table}.${column}`), measured: Number(measured) };
  };
  const measurements = total(0, 'measurements');
  return {
    resource,
    records: Number(records),
    measurements: measurements.measured === Number(records) ? (measurements.total ?? 0) : null,
    firstMeasuredAt: typeof first === 'string' && firsts === records ? first : null,
    measuredAt: typeof last === 'string' ? last : null,
    totals: resource.totals.map((column, index) => ({ column, ...total(index + 1, column) })),
    samples: samples(register, resource),
  };
}

function exact(value: bigint, what: string): number {
  if (value > BigInt(MAX_INTEGER)) {
    throw Failure.invalid(`the total of ${what} is ${value}, expected at most ${MAX_INTEGER} (2^53 - 1)`);
  }
  return Number(value);
}

function historyCounts(history: History, counted: Counted): HistoryCounts {
  const { rows, records } = counted.get(history.table) ?? NO_ROWS;
  return { history, entries: rows, changes: history.order.type === 'ordinal' ? rows - records : undefined };
}
