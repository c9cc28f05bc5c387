/**
 * Refuses a build that would lose more than is plausible, since a broken register is more likely, and
 * warns of one that rewrites a kind. What newly withheld records explain doesn't count: a takedown is
 * never held up.
 */
import { isDeepStrictEqual } from 'node:util';
import { countMeasuredAfter } from './counts.js';
import type { Counts, TableCounts } from './counts.js';
import { differingColumns } from './published-sample.js';
import { newestOf, timeAt } from '../schema/time.js';
import type { BuildKey } from './incremental/build-key.js';
import { NewlyWithheld } from './newly-withheld.js';
import type { Index, WithheldMarks } from '../tree/index-json.js';
import type { Changes } from '../publish/index-route.js';
import type { Register } from '../register/database.js';
import type { Warning } from '../register/findings.js';
import type { Measured } from '../schema/measured.js';
import { RESOURCES, documentsOf } from '../schema/index.js';

/** The plural of each kind, and the route with one file for each of its records. */
export const RECORD_ROUTES: Readonly<Record<string, string>> = Object.fromEntries(
  RESOURCES.map(({ plural, record }) => [plural, record.route]),
);

/** Plausible is at most this share, or this number. */
const PLAUSIBLE_SHARE = 0.1;
const PLAUSIBLE_NUMBER = 10;
const SHARE = `${100 * PLAUSIBLE_SHARE} %`;
const ACCEPT = '(--accept-removals publishes anyway)';
const EXPECTED = `expected to keep ${100 * (1 - PLAUSIBLE_SHARE)} % ${ACCEPT}`;

/** How many losses a message names. */
const SHOWN_LOSSES = 3;

const isMuch = (part: number, all: number): boolean =>
  part > PLAUSIBLE_NUMBER && part > PLAUSIBLE_SHARE * all;

const isLoss = (lost: number, all: number): boolean => lost > 0 && (lost >= all || isMuch(lost, all));

/** A build, and the snapshot that it follows. */
export interface Compared {
  readonly register: Register;
  readonly counts: Counts;
  readonly buildKey: BuildKey;
  /** What the operator says is not measured. */
  readonly declared: readonly string[];
  readonly withheld: WithheldMarks;
  /** The published tree, its index, and the time of its newest measurement. */
  readonly out: string;
  readonly index: Index | undefined;
  readonly asOf: string | null;
  readonly now: Date;
}

/** Numbers of documents, by route. */
type ChangesByRoute = ReadonlyMap<string, Readonly<Changes>>;

/** Why what the register has needs confirmation; undefined if it is plausible. */
export const implausible = (compared: Compared): string | undefined =>
  implausibleAbsence(
    compared.index?.absent,
    compared.register.absent,
    compared.declared,
    compared.index?.counts,
  ) ??
  implausibleList(compared.index?.withheld, compared.withheld) ??
  implausibleCounts(compared);

/**
 * Why removing documents needs confirmation, though as many may be added, and though the counts of the
 * last snapshot may be lost; undefined if it is plausible.
 * @param takenDown documents of withheld records, by route
 */
export function implausibleRemovals(
  byRoute: ChangesByRoute,
  takenDown: ReadonlyMap<string, number>,
  measured: Measured,
): string | undefined {
  for (const [kind, route] of Object.entries(RECORD_ROUTES)) {
    const { changed = 0, removed: gone = 0, unchanged = 0 } = byRoute.get(route) ?? {};
    const removed = gone - (takenDown.get(route) ?? 0);
    const before = changed + removed + unchanged;
    if (isLoss(removed, before) && measured.has(kind))
      return `${removed} of ${before} ${kind} would be removed, ${EXPECTED}`;
  }
  return undefined;
}

/** Why publishing withheld records again needs confirmation; undefined if it is plausible. */
export function implausibleList(before: WithheldMarks | undefined, now: WithheldMarks): string | undefined {
  const still = new Set(now.records);
  const all = before?.records ?? [];
  const gone = all.filter((mark) => !still.has(mark)).length;
  if (gone <= PLAUSIBLE_SHARE * all.length) return undefined;
  return `${gone} of ${all.length} withheld records would be published again, expected at most ${SHARE} ${ACCEPT}`;
}

/**
 * Why publishing without columns or the withheld list needs confirmation: a view that lost them by
 * mistake would publish what is withheld. Undefined if the last snapshot had none of them either.
 * @param before what the last snapshot's register lacked; undefined if there is no snapshot
 * @param declared what the operator says is not measured
 * @param counts of the last snapshot: a column of which it has none is new in the contract
 */
export function implausibleAbsence(
  before: readonly string[] | undefined,
  now: readonly string[],
  declared: readonly string[] = [],
  counts: Counts = {},
): string | undefined {
  const isNew = ([table = '', column = '']: readonly string[]): boolean => {
    const values = column === '' ? undefined : counts[table]?.values;
    return values !== undefined && values[column] === undefined;
  };
  const known = before && [...before, ...declared];
  const lost =
    known === undefined ? [] : now.filter((what) => !known.includes(what) && !isNew(what.split('.')));
  if (lost.length === 0) return undefined;
  return (
    `the register lacks ${lost.join(', ')}, which that of the last snapshot had: check --register,` +
    ` publish another register to another --out, or accept the loss with --accept-removals`
  );
}

/** Why losing rows, values or the newest measurement needs confirmation. */
function implausibleCounts(compared: Compared): string | undefined {
  const { register, index, out, counts } = compared;
  if (lossOf(compared, counts) === undefined) return undefined;
  // Only now, since it reads every table.
  return lossOf(compared, new NewlyWithheld(register, index?.withheld).countsWithout(out));
}

/** @param kept what would be published if nothing were newly withheld */
function lossOf(compared: Compared, kept: Counts): string | undefined {
  const losses = lossesOf(compared, kept);
  const rest = losses.length - SHOWN_LOSSES;
  const more = rest > 0 ? ` and ${rest} more` : '';
  return losses.length === 0
    ? goingBack(compared, kept)
    : `${losses.slice(0, SHOWN_LOSSES).join(', ')}${more} would be gone, ${EXPECTED}`;
}

const NO_CHANGES: Readonly<Changes> = { added: 0, changed: 0, removed: 0, unchanged: 0 };
const NONE: TableCounts = { rows: 0, values: {} };

function loss(before: number, kept: number, now: number, what: string): readonly string[] {
  // Less what newly withheld records take.
  const all = before - (kept - now);
  return isLoss(all - now, all) ? [`${all - now} of ${all} ${what}`] : [];
}

/** `11 of 100 rows of groups`; of a table that lost rows, the columns are not named. */
function lossesOf({ index, counts, register: { measured } }: Compared, kept: Counts): readonly string[] {
  return Object.entries(index?.counts ?? {}).flatMap(([table, before]) => {
    if (!measured.has(table)) return [];
    const [still, now] = [kept[table] ?? NONE, counts[table] ?? NONE];
    const rows = loss(before.rows, still.rows, now.rows, `rows of ${table}`);
    if (rows.length > 0) return rows;
    return Object.entries(before.values).flatMap(([column, values]) =>
      measured.has(`${table}.${column}`)
        ? loss(values, still.values[column] ?? 0, now.values[column] ?? 0, `values of ${table}.${column}`)
        : [],
    );
  });
}

function goingBack(
  { index, asOf, now: clock, register: { measured } }: Compared,
  kept: Counts,
): string | undefined {
  const newest = (counts: Counts): string | null =>
    newestOf(Object.entries(counts).map(([table, each]) => (measured.has(table) ? each.newest : null)));
  const before = index?.counts === undefined ? asOf : newest(index.counts);
  const now = newest(kept);
  if (before === null || (now !== null && now >= before)) return undefined;
  const cause = before > dayAfter(clock) ? ', which was published though it is in the future' : '';
  return `the newest measurement would be ${now === null ? 'none' : `of ${now}`}, expected none before ${before}${cause} ${ACCEPT}`;
}

/** A clock of another machine may be ahead by some time, and a time without a zone by hours. */
const dayAfter = (now: Date): string => timeAt(now.getTime() + 24 * 3_600_000);

/** Kinds whose newest measurement is in the future: no later build may have an older one. */
export const measuredInFuture = ({ counts, now }: Compared): readonly Warning[] =>
  RESOURCES.flatMap(({ plural }) => {
    const newest = counts[plural]?.newest ?? null;
    if (newest === null || newest <= dayAfter(now)) return [];
    const message = `has a measurement of ${newest}, which is in the future: once that is published, a build without it is refused`;
    return [{ table: plural, column: 'measured_at', message, count: 1, examples: [] }];
  });

/**
 * Kinds with many documents that change although few records were measured since the last snapshot,
 * and although program, operator and what is measured are the same: ids that now stand for other
 * records, or counts in another unit.
 */
export function rewritten(compared: Compared, byRoute: ChangesByRoute): readonly Warning[] {
  const { register, index, buildKey } = compared;
  const before = index?.buildKey;
  if (before?.code !== buildKey.code || before.operator !== buildKey.operator) return [];
  if (!isDeepStrictEqual(index?.absent, register.absent)) return [];
  return RESOURCES.flatMap((resource): readonly Warning[] => {
    const { plural } = resource;
    const newest = index?.counts?.[plural]?.newest ?? null;
    if (newest === null) return [];
    const most = documentsOf(resource)
      .map(({ route }) => byRoute.get(route) ?? NO_CHANGES)
      .reduce((one, other) => (other.changed > one.changed ? other : one));
    const [{ changed }, all] = [most, most.changed + most.unchanged];
    if (!isMuch(changed, all)) return [];
    // The first explains the others: another record has another name.
    const [differing] = differingColumns(register, resource, compared.out);
    if (differing !== undefined) return [{ table: plural, ...differing, count: changed, examples: [] }];
    const measured = countMeasuredAfter(register, resource, newest);
    if (!isMuch(changed - measured, all)) return [];
    const explained = new NewlyWithheld(register, index?.withheld).referring(resource);
    if (!isMuch(changed - measured - explained, all)) return [];
    const message =
      `has ${changed} of ${all} documents that change, though ${measured === 0 ? 'none' : `only ${measured}`}` +
      ` of its records ${measured === 1 ? 'was' : 'were'} measured after ${newest}, the newest time of the last snapshot`;
    return [{ table: plural, column: null, message, count: changed, examples: [] }];
  });
}
