/**
 * Lists for the front page of a register that has no line of readings to show: the first by each measure, the newest, the
 * latest names. Most are read from the register, since no document has them.
 */
import type { Register } from '../../register/database.js';
import { isPublished, name } from '../../register/sql.js';
import type { Kind, Resource } from '../../schema/field.js';
import { PRICE_UNIT } from '../../schema/shape.js';
import { capitalized, type InWords } from '../../schema/words.js';
import type { Renaming } from './documents.js';
import { at, renamed, type Linker } from './linked.js';
import { cut, integer } from './words.js';

/** The most that are shown of each. */
export const SHOWN_RECORDS = 8;

/** A measure, by which the highest come first. */
interface Ranking {
  readonly column: string;
  readonly title: string;
  /** What the first of them is. */
  readonly first: string;
  readonly unit: string;
}

/** What is shown of a kind, in this order. */
const SHOWN: Readonly<Record<Kind, readonly ('newest' | 'names' | Ranking)[]>> = {
  group: ['newest'],
  user: ['names', 'newest'],
  game: [
    { column: 'playing', title: 'Most players', first: 'The most played game', unit: 'players' },
    { column: 'visits', title: 'Most visits', first: 'The most visited game', unit: 'visits' },
    'newest',
  ],
  item: [
    'newest',
    {
      column: 'favourites',
      title: 'Most favourites',
      first: 'The item with the most favourites',
      unit: 'favourites',
    },
    {
      column: 'price',
      title: `Highest prices, in ${PRICE_UNIT}`,
      first: 'The item with the highest price',
      unit: PRICE_UNIT,
    },
  ],
};

/** A column that says more of a record than its name. */
const DETAIL: Readonly<Record<Kind, string>> = {
  group: 'NULL',
  user: 'display_name',
  game: 'genre',
  item: 'asset_type',
};

export interface Row extends ReturnType<Linker> {
  readonly detail?: string | undefined;
  /** Its number; a row of the newest has none. */
  readonly figure?: string;
  /** The number as a share of the highest, in percent. */
  readonly share?: number;
  /** What was at the time: `read`, `created`. */
  readonly what: string;
  readonly at: ReturnType<typeof at>;
}

export interface Board {
  readonly title: string;
  readonly first: string;
  readonly unit?: string;
  /** How to read it. */
  readonly caption: string;
  readonly rows?: readonly Row[];
  /** Instead of rows. */
  readonly renamed?: readonly ReturnType<ReturnType<typeof renamed>>[];
}

export const RANKED = 'Each number was read on the day below it. A bar is its share of the highest.';
const ARRIVED = '“First read” is when this register first measured it, “created” what the platform says.';
const DATED =
  '“On” a day is what the platform says; “between” gives the last reading of the old name and the first of the new one.';

/** A count as a share of the highest, for a bar. */
export const shareOf = (count: number, highest: number): number =>
  highest === 0 ? 0 : Math.round((1000 * count) / highest) / 10;

/** The lists of a kind that have entries. @param renamings of users, the latest first */
export function boardsOf(
  register: Register,
  resource: Resource,
  renamings: readonly Renaming[],
  linkTo: Linker,
  inWords: InWords,
): readonly Board[] {
  const { kind } = resource;
  return SHOWN[kind].flatMap((shown): readonly Board[] => {
    if (shown === 'names') {
      const names = renamings.slice(0, SHOWN_RECORDS).map(renamed(kind, linkTo));
      const said = { title: 'Latest names', first: 'The latest name', caption: DATED };
      return names.length === 0 ? [] : [{ ...said, renamed: names }];
    }
    if (shown === 'newest') {
      const rows = newest(register, resource, linkTo);
      const said = { title: 'Newest', first: inWords(`The newest ${kind}`), caption: ARRIVED };
      return rows.length === 0 ? [] : [{ ...said, rows }];
    }
    const { title, first, unit } = shown;
    const rows = highest(register, resource, shown.column, linkTo);
    return rows.length === 0
      ? []
      : [{ title: inWords(title), first: inWords(first), unit: inWords(unit), rows, caption: RANKED }];
  });
}

type Columns = readonly [id: number, name: string | null, detail: string | null];

/** The first records of a kind that are published and not deleted. */
const query = (
  { kind, plural, nameColumn = 'name' }: Resource,
  columns: string,
  where: string,
  order: string,
) =>
  `SELECT id, ${name(nameColumn)}, ${DETAIL[kind]}, ${columns} FROM ${name(plural)} WHERE ${isPublished(kind)}` +
  ` AND state IS NOT 'deleted' AND ${where} ORDER BY ${order} LIMIT ${SHOWN_RECORDS}`;

const described = (kind: Kind, linkTo: Linker, [id, called, detail]: Columns) => ({
  ...linkTo({ kind, id, name: called }),
  detail: detail === null || detail === called ? undefined : cut(detail),
});

function highest(register: Register, resource: Resource, column: string, linkTo: Linker): readonly Row[] {
  const by = name(column);
  const sql = query(resource, `${by}, measured_at`, `${by} IS NOT NULL`, `${by} DESC, id`);
  const found = [...register.rows<[...Columns, count: number, measuredAt: string]>(sql)];
  return found.map(([id, called, detail, count, measuredAt]) => ({
    ...described(resource.kind, linkTo, [id, called, detail]),
    figure: integer(count),
    share: shareOf(count, found[0]?.[3] ?? 0),
    what: 'read',
    at: at(measuredAt),
  }));
}

/** By their first measurement, or else by the platform's own date. */
function newest(register: Register, resource: Resource, linkTo: Linker): readonly Row[] {
  const sql = query(
    resource,
    `coalesce(first_measured_at, created_at), first_measured_at IS NULL`,
    'coalesce(first_measured_at, created_at) IS NOT NULL',
    // The null of a column that the register lacks comes last.
    'first_measured_at DESC, created_at DESC, id DESC',
  );
  return Array.from(
    register.rows<[...Columns, time: string, isCreated: number]>(sql),
    ([id, called, detail, time, isCreated]) => ({
      ...described(resource.kind, linkTo, [id, called, detail]),
      what: isCreated === 1 ? 'created' : 'first read',
      at: at(time),
    }),
  );
}

/** The title of what is shown of a kind. */
export const titleOf = ({ plural }: Resource, inWords: InWords): string => capitalized(inWords(plural));
