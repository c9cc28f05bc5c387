/**
 * Refuses a build that would lose more than is plausible, since a broken register is more likely, or
 * publish again what was withheld.
 */
import type { BuildConfig } from '../config/config.js';
import { newestOf } from '../schema/time.js';
import type { Counts, State, WithheldMarks } from '../publish/state.js';
import type { Register } from '../register/database.js';
import { REFERRED } from '../register/sql.js';
import { RESOURCES, TABLES } from '../schema/schema.js';

/** A loss of at most this share, or of at most this number, is plausible. */
const PLAUSIBLE_SHARE = 0.1;
const PLAUSIBLE_NUMBER = 10;
const EXPECTED = `expected to keep ${100 * (1 - PLAUSIBLE_SHARE)} % (--accept-removals publishes anyway)`;

/** How many losses, and how many records, a message names. */
const SHOWN_LOSSES = 3;
const SHOWN_RECORDS = 10;

/** A build, and the snapshot that it follows. */
export interface Compared {
  readonly register: Register;
  readonly counts: Counts;
  /** What the operator says is not measured. */
  readonly declared: readonly string[];
  readonly withheld: WithheldMarks;
  /** What the state says of the published tree, and the time of its newest measurement. */
  readonly last: State | undefined;
  readonly asOf: string | null;
}

/** Why a build needs to be confirmed, unless it is. */
export function doubtsOf(
  compared: Compared,
  { acceptRepublished, acceptRemovals }: Pick<BuildConfig, 'acceptRepublished' | 'acceptRemovals'>,
): string[] {
  return [
    acceptRepublished ? undefined : republished(compared.last?.withheld, compared.withheld),
    acceptRemovals ? undefined : (implausibleAbsence(compared) ?? implausibleCounts(compared)),
  ].filter((doubt) => doubt !== undefined);
}

/** `a, b and 3 more`. @param all how many there are with those that are not shown */
export const andMore = (shown: readonly string[], all: number): string =>
  `${shown.join(', ')}${all > shown.length ? ` and ${all - shown.length} more` : ''}`;

/**
 * Which records would be published again; undefined if there are none. A record without a row counts, too:
 * other records may name it, and nothing would hold back a row that it gets later.
 * @param before what the last snapshot withheld, as far as that is known
 */
export function republished(before: WithheldMarks | undefined, now: WithheldMarks): string | undefined {
  const still = new Set(now.records);
  const gone = (before?.records ?? []).filter((mark) => !still.has(mark));
  const them = gone.length === 1 ? 'it' : 'them';
  return gone.length === 0
    ? undefined
    : `${andMore(gone.slice(0, SHOWN_RECORDS), gone.length)} would be published again, though the last snapshot` +
        ` withheld ${them}: put ${them} back into withheld (by other ids, if ids were lost), or publish ${them} by build --accept-republished`;
}

/**
 * Why publishing without columns or the withheld list needs confirmation: a view that lost them by
 * mistake would publish what is withheld. Undefined if the last snapshot had none of them either.
 */
function implausibleAbsence({ last, register, declared }: Compared): string | undefined {
  if (last === undefined) return undefined;
  const known = new Set([...last.absent, ...declared]);
  // What the counts of the last snapshot don't have is new in the contract.
  const isNew = ([table = '', column = '']: readonly string[]): boolean => {
    const values = column === '' ? undefined : last.counts[table]?.values;
    return values !== undefined && values[column] === undefined;
  };
  const lost = register.absent.filter((what) => !known.has(what) && !isNew(what.split('.')));
  if (lost.length === 0) return undefined;
  return (
    `the register lacks ${lost.join(', ')}, which that of the last snapshot had: check --register,` +
    ` publish another register to another --out, or accept the loss with --accept-removals`
  );
}

/** Why losing rows, values or the newest measurement needs confirmation. */
function implausibleCounts(compared: Compared): string | undefined {
  const isCounted = countedIn(compared);
  const losses = lossesOf(compared, isCounted);
  return losses.length === 0
    ? goingBack(compared, isCounted)
    : `${andMore(losses.slice(0, SHOWN_LOSSES), losses.length)} would be gone, ${EXPECTED}`;
}

/** Whether losses of a table, or of a column in it, are counted. */
type IsCounted = (table: string, column?: string) => boolean;

/**
 * What is measured counts, but a takedown is never held up: not a kind of which a record is newly
 * withheld, with its histories, nor what refers to users or groups if one of those is.
 */
function countedIn({ register: { measured }, last, withheld }: Compared): IsCounted {
  const known = new Set(last?.withheld.records);
  const kinds = new Set(
    withheld.records.flatMap((mark) => (known.has(mark) ? [] : [mark.slice(0, mark.indexOf(' '))])),
  );
  const isReferredTo = REFERRED.some((kind) => kinds.has(kind));
  const uncounted = new Set(
    TABLES.flatMap(({ name, kind, columns }) =>
      kind !== null && kinds.has(kind)
        ? [name]
        : columns.flatMap((column) =>
            isReferredTo && column.identifies !== undefined ? [`${name}.${column.name}`] : [],
          ),
    ),
  );
  return (table, column) =>
    [table, `${table}.${column}`].every((what) => measured.has(what) && !uncounted.has(what));
}

/** `11 of 100 rows of groups`; of a table that lost rows, the columns are not named. */
const lossesOf = ({ last, counts }: Compared, isCounted: IsCounted): readonly string[] =>
  Object.entries(last?.counts ?? {}).flatMap(([table, before]) => {
    if (!isCounted(table)) return [];
    const { rows = 0, values = {} } = counts[table] ?? {};
    const lost = loss(before.rows, rows, `rows of ${table}`);
    if (lost.length > 0) return lost;
    return Object.entries(before.values).flatMap(([column, each]) =>
      isCounted(table, column) ? loss(each, values[column] ?? 0, `values of ${table}.${column}`) : [],
    );
  });

function loss(before: number, now: number, what: string): readonly string[] {
  const lost = before - now;
  const isLoss = lost > PLAUSIBLE_NUMBER && lost > PLAUSIBLE_SHARE * before;
  return isLoss || (lost > 0 && now === 0) ? [`${lost} of ${before} ${what}`] : [];
}

function goingBack({ last, asOf, register, counts }: Compared, isCounted: IsCounted): string | undefined {
  const tables = Object.keys(counts).filter((table) => isCounted(table));
  const newest = (all: Counts): string | null => newestOf(tables.map((table) => all[table]?.newest));
  const isWhole = RESOURCES.every(({ plural }) => !register.measured.has(plural) || isCounted(plural));
  // Where the state was lost, only the newest measurement of all kinds is known, by snapshot.json.
  const before = last === undefined ? (isWhole ? asOf : null) : newest(last.counts);
  const now = newest(counts);
  // A time in the future is a mistake, and must not hold up its correction.
  if (before === null || before > register.clock || (now !== null && now >= before)) return undefined;
  return (
    `the newest measurement would be ${now === null ? 'none' : `of ${now}`}, expected none before ${before}:` +
    ` if the time zone (TZ) is wrong now, set it (docs/your-register.md#times); if not,` +
    ` --accept-removals publishes anyway`
  );
}
