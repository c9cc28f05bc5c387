/**
 * Refuses a build that would lose more than is plausible, since a broken register is more likely, or
 * publish again what was withheld, and warns of one that rewrites a kind or moves its times. What newly
 * withheld records explain doesn't count: a takedown is never held up.
 */
import { isDeepStrictEqual } from 'node:util';
import { z } from 'zod';
import type { BuildConfig } from '../config/config.js';
import { countMeasuredAfter, type Counts, type TableCounts } from './counts.js';
import { readJson } from '../base/files.js';
import { OwnFolder } from '../base/links.js';
import { millisecondsOf, newestOf } from '../schema/time.js';
import type { BuildKey } from './incremental/build-key.js';
import { NewlyWithheld } from './takedown.js';
import type { Changes } from '../state/next.js';
import type { Described, WithheldMarks } from '../state/schema.js';
import type { Register } from '../register/database.js';
import { placeOf, type Warning } from '../register/findings.js';
import { isPublished, name } from '../register/sql.js';
import { ROUTES, routeNamed } from '../routes/routes.js';
import { filler } from '../routes/route.js';
import type { Resource } from '../schema/field.js';
import type { Measured } from '../schema/measured.js';
import { RESOURCES, documentsOf } from '../schema/schema.js';

/** The plural of each kind, and the route with one file for each of its records. */
export const RECORD_ROUTES: Readonly<Record<string, string>> = Object.fromEntries(
  RESOURCES.map(({ plural, record }) => [plural, record.route]),
);

/** Plausible is at most this share, or this number. */
const PLAUSIBLE_SHARE = 0.1;
const PLAUSIBLE_NUMBER = 10;
const ACCEPT = '(--accept-removals publishes anyway)';
const EXPECTED = `expected to keep ${100 * (1 - PLAUSIBLE_SHARE)} % ${ACCEPT}`;

/** How many losses, and how many records, a message names. */
const SHOWN_LOSSES = 3;
const SHOWN_RECORDS = 10;

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
  /** The published tree, what the state says of it, and the time of its newest measurement. */
  readonly out: string;
  readonly last: Described | undefined;
  readonly asOf: string | null;
}

/** Numbers of documents, by route. */
type ChangesByRoute = ReadonlyMap<string, Readonly<Changes>>;

/** Why what the register has needs confirmation; undefined if it does not, or if that is given. */
export function doubtsOf(
  compared: Compared,
  { acceptRepublished, acceptRemovals }: Pick<BuildConfig, 'acceptRepublished' | 'acceptRemovals'>,
): string | undefined {
  const doubts = [
    acceptRepublished ? undefined : republished(compared.last?.withheld, compared.withheld),
    acceptRemovals ? undefined : implausible(compared),
  ].filter((doubt) => doubt !== undefined);
  return doubts.length === 0 ? undefined : doubts.join('; ');
}

const implausible = (compared: Compared): string | undefined =>
  implausibleAbsence(
    compared.last?.absent,
    compared.register.absent,
    compared.declared,
    compared.last?.counts,
  ) ?? implausibleCounts(compared);

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

/**
 * Which records would be published again; undefined if there are none. One without a row counts, too:
 * others may name it, and once it is off the list nothing holds back its row.
 * @param before what the last snapshot withheld, as far as that is known
 */
export function republished(before: WithheldMarks | undefined, now: WithheldMarks): string | undefined {
  const still = new Set(now.records);
  const gone = (before?.records ?? []).filter((mark) => !still.has(mark));
  const rest = gone.length - SHOWN_RECORDS;
  const more = rest > 0 ? ` and ${rest} more` : '';
  const them = gone.length === 1 ? 'it' : 'them';
  return gone.length === 0
    ? undefined
    : `${gone.slice(0, SHOWN_RECORDS).join(', ')}${more} would be published again, though the last snapshot` +
        ` withheld ${them}: put ${them} back into withheld, or publish ${them} by build --accept-republished`;
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
  const { register, last, out, counts } = compared;
  if (lossOf(compared, counts) === undefined) return undefined;
  // Only now, since it reads every table.
  return lossOf(compared, new NewlyWithheld(register, last?.withheld).countsWithout(out));
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
function lossesOf({ last, counts, register: { measured } }: Compared, kept: Counts): readonly string[] {
  return Object.entries(last?.counts ?? {}).flatMap(([table, before]) => {
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

function goingBack(compared: Compared, kept: Counts): string | undefined {
  const { last, asOf, register } = compared;
  const { measured, clock } = register;
  const newest = (counts: Counts): string | null =>
    newestOf(Object.entries(counts).map(([table, each]) => (measured.has(table) ? each.newest : null)));
  const before = last?.counts === undefined ? asOf : newest(last.counts);
  const now = newest(kept);
  // What is in the future was never measured, and would hold up its correction.
  if (before === null || before > clock || (now !== null && now >= before)) return undefined;
  const problem = `the newest measurement would be ${now === null ? 'none' : `of ${now}`}, expected none before ${before}`;
  const [moved] = RESOURCES.flatMap((resource) => timesMoved(compared, resource));
  if (moved === undefined) return `${problem} ${ACCEPT}`;
  return (
    `${problem}: ${placeOf(moved)} ${moved.message}; if the time zone (TZ) was wrong then and is right now,` +
    ` publish with --accept-removals, otherwise set it (${TIMES})`
  );
}

/** How many records are looked at, spread over all ids: in an order that has nothing to do with theirs. */
const SAMPLED = 100;
const SPREAD = 'id % 99991 * 7919 % 99991, id';
/** A sample of fewer records says nothing. */
const FEWEST = 10;
/** Nearly all. */
const NEARLY = 0.9;
const HOUR_MS = 3_600_000;
const TIMES = 'docs/your-register.md#times';

/**
 * Notices a time zone that was forgotten, or set since: nearly all times of a column differ from the published ones
 * by one constant of less than a day, or by two where it has summer time. A new measurement moves only
 * `measured_at`, and only forwards.
 */
function timesMoved({ register, out }: Compared, { kind, plural, record }: Resource): readonly Warning[] {
  const columns = ['first_measured_at', 'created_at', 'measured_at'];
  const [fileOf, own] = [filler(routeNamed(ROUTES, record.route).file), new OwnFolder(out)];
  const rows = register.rows<[id: number, ...times: unknown[]]>(
    `SELECT id, ${columns.join(', ')} FROM ${name(plural)} WHERE ${isPublished(kind)}` +
      ` ORDER BY ${SPREAD} LIMIT ${SAMPLED}`,
  );
  const pairs = [...rows].flatMap(([id, ...times]) => {
    const { data } = z.record(z.string(), z.unknown()).safeParse(readJson(own.readable(fileOf(id))));
    return data === undefined ? [] : [{ data, times }];
  });
  return columns.flatMap((column, index): readonly Warning[] => {
    const all = pairs.flatMap(({ data, times }) => {
      const [before, now] = [data[column], times[index]];
      return typeof before === 'string' && typeof now === 'string'
        ? [(millisecondsOf(now) - millisecondsOf(before)) / HOUR_MS]
        : [];
    });
    const countOf = (shift: number): number => all.filter((each) => each === shift).length;
    const moved = all.filter((each) => each < 0 || (each > 0 && column !== 'measured_at'));
    const [most = 0, ...others] = [...new Set(moved)].toSorted((a, b) => countOf(b) - countOf(a));
    const summer = others.find((each) => Math.abs(each - most) === 1);
    const isMeant = (each: number): boolean => each === most || each === summer;
    const count = moved.filter(isMeant).length;
    // A zone that is UTC in winter leaves half of the times as they are.
    const fits = count + (Math.abs(most) === 1 ? countOf(0) : 0);
    if (all.length < FEWEST || Math.abs(most) >= 24 || 2 * count <= all.length || fits < NEARLY * all.length)
      return [];
    const by = [most, ...(summer === undefined ? [] : [summer])].map(
      (each) => `${each > 0 ? '+' : ''}${Number(each.toFixed(2))} h`,
    );
    const message = `differs by ${by.join(' or ')} from what is published, in ${count} of ${all.length} records that were looked at`;
    return [{ table: plural, column, message, count, examples: [] }];
  });
}

/**
 * Kinds with many documents that change although few records were measured since the last snapshot,
 * and although program, operator and what is measured are the same: ids that now stand for other
 * records, counts in another unit, or times in another zone.
 */
export function rewritten(compared: Compared, byRoute: ChangesByRoute): readonly Warning[] {
  const { register, last, buildKey } = compared;
  const before = last?.buildKey;
  if (before?.code !== buildKey.code || before.operator !== buildKey.operator) return [];
  if (!isDeepStrictEqual(last?.absent, register.absent)) return [];
  return RESOURCES.flatMap((resource): readonly Warning[] => {
    const { plural } = resource;
    const newest = last?.counts?.[plural]?.newest ?? null;
    if (newest === null) return [];
    const most = documentsOf(resource)
      .map(({ route }) => byRoute.get(route) ?? NO_CHANGES)
      .reduce((one, other) => (other.changed > one.changed ? other : one));
    const [{ changed }, all] = [most, most.changed + most.unchanged];
    if (!isMuch(changed, all)) return [];
    const [moved] = timesMoved(compared, resource);
    if (moved !== undefined)
      return [{ ...moved, message: `${moved.message}: is the time zone (TZ) right? See ${TIMES}` }];
    const measured = countMeasuredAfter(register, resource, newest);
    if (!isMuch(changed - measured, all)) return [];
    const explained = new NewlyWithheld(register, last?.withheld).referring(resource);
    if (!isMuch(changed - measured - explained, all)) return [];
    const message =
      `has ${changed} of ${all} documents that change, though ${measured === 0 ? 'none' : `only ${measured}`}` +
      ` of its records ${measured === 1 ? 'was' : 'were'} measured after ${newest}, the newest time of the last snapshot`;
    return [{ table: plural, column: null, message, count: changed, examples: [] }];
  });
}
