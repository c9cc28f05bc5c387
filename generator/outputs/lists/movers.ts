/**
 * /api/v1/movers: the groups with the largest gains and losses, by the rule of a group's `change`.
 * The readings are merged with the groups in one ordered pass; only the entries of the lists are
 * kept.
 */
import type { Register } from '../../register/database.js';
import { HistoryCursor } from '../../register/history-cursor.js';
import { historyQuery, isPublished, literal, name, recordsQuery } from '../../register/sql.js';
import { LIST_ENTRIES, moversRoute } from '../../routes/lists.js';
import { group, members } from '../../schema/group.js';
import {
  OLDEST_START_WINDOWS,
  WINDOWS,
  WINDOW_NAMES,
  changeMembers,
  changesOf,
  type MemberChange,
  type Window,
} from '../../schema/members.js';
import type { ObjectShape } from '../../schema/shape.js';
import { millisecondsOf, timeAt } from '../../schema/time.js';
import type { Output } from '../output.js';
import { listed, part, shapeOfParts, value, valuesOf, type Part } from '../parts.js';
import { AS_OF } from './as-of.js';

interface Mover {
  readonly id: number;
  readonly name: string | null;
  readonly change: MemberChange;
}

interface Ranked extends Mover {
  readonly rank: number;
}

/** The content of a window's document. */
interface Movers {
  readonly asOf: string | null;
  readonly since: string | null;
  readonly gains: readonly Ranked[];
  readonly losses: readonly Ranked[];
}

/** The start of a window before the register's newest measurement. @param windows its length */
const startOf = (asOf: string, window: Window, windows = 1): string =>
  timeAt(millisecondsOf(asOf) - windows * WINDOWS[window].spanMs);

function partsOf(window: Window): readonly Part<Movers>[] {
  const { words } = WINDOWS[window];
  const entry: readonly Part<Ranked>[] = [
    part(
      value('rank', 'ordinal', 1, 'Rank by the change. Groups with equal changes share a rank.'),
      ({ rank }) => rank,
    ),
    part(value('id', 'id', 7, 'Stable numeric id of the group.'), ({ id }) => id),
    part(
      value('name', 'text', 'Cloud Gardeners', 'Name of the group, exactly as read.', { nullable: true }),
      (mover) => mover.name,
    ),
    ...changeMembers(words).map((shape) => part<Ranked>(shape, ({ change }) => valueIn(change, shape.name))),
  ];
  return [
    part(value('window', 'enum', window, `The window: ${words}.`, { values: [window] }), () => window),
    part(AS_OF, ({ asOf }) => asOf),
    part(
      value(
        'since',
        'time',
        '2026-11-19T08:00:00Z',
        `${words} before \`as_of\`: groups that have not been read since are left out. Null if the register is empty.`,
        { nullable: true },
      ),
      ({ since }) => since,
    ),
    listed(
      'gains',
      'The groups that gained the most members, most first; those with equal gains by id.',
      entry,
      (of) => of.gains,
    ),
    listed(
      'losses',
      'The groups that lost the most members, most first; those with equal losses by id.',
      entry,
      (of) => of.losses,
    ),
  ];
}

function valueIn(change: MemberChange, member: string): unknown {
  return Object.entries(change).find(([name]) => name === member)?.[1];
}

const PARTS: Readonly<Record<Window, readonly Part<Movers>[]>> = {
  h24: partsOf('h24'),
  d7: partsOf('d7'),
  d30: partsOf('d30'),
};

export const MOVERS_SHAPES: readonly ObjectShape[] = WINDOW_NAMES.map((window) =>
  shapeOfParts(
    moversRoute(window),
    `The ${LIST_ENTRIES} largest gains and losses of members over ${WINDOWS[window].words}, each between two readings,` +
      ` as in \`change.${window}\` of a group. Deleted groups are left out.`,
    PARTS[window],
  ),
);

export function* movers(register: Register, asOf: string | null): Generator<Output> {
  const found = WINDOW_NAMES.map((window) => ({
    window,
    since: asOf === null ? null : startOf(asOf, window),
    gains: new LargestChanges(),
    losses: new LargestChanges(),
  }));
  for (const { id, name, changes } of asOf === null ? [] : changesSince(register, asOf)) {
    for (const { window, since, gains, losses } of found) {
      const change = changes[window];
      if (change === null || since === null || change.to_at < since) continue;
      if (change.delta > 0) gains.consider({ id, name, change });
      if (change.delta < 0) losses.consider({ id, name, change });
    }
  }
  for (const { window, since, gains, losses } of found) {
    const content = { asOf, since, gains: gains.ranked(), losses: losses.ranked() };
    yield { route: moversRoute(window), key: 0, body: JSON.stringify(valuesOf(PARTS[window], content)) };
  }
}

interface GroupChanges {
  readonly id: number;
  readonly name: string | null;
  readonly changes: ReturnType<typeof changesOf>;
}

/** The changes of all groups that may be listed, by ascending id. */
function* changesSince(register: Register, asOf: string): Generator<GroupChanges> {
  // A listed change ends at most 30 days before `asOf`, and begins at most 1.5 × 30 days earlier.
  const oldest = startOf(asOf, 'd30', 1 + OLDEST_START_WINDOWS);
  const since = `${name(members.order.name)} >= ${literal(oldest)}`;
  const readings = new HistoryCursor(
    register,
    historyQuery(group.kind, members, 'all', `${since} AND ${isPublished(group.kind, members.key.name)}`),
  );
  const present = `${isPublished(group.kind)} AND state IS NOT 'deleted'`;
  try {
    for (const [id, name] of register.rows<[number, string | null]>(
      recordsQuery(group, ['id', 'name'], 'all', present),
    )) {
      const entries = readings.entriesOf(id);
      if (entries.count > 1) yield { id, name, changes: changesOf(entries) };
    }
  } finally {
    readings.close();
  }
}

/** Keeps the movers with the largest changes, in either direction; ties by ascending id. */
class LargestChanges {
  readonly #movers: Mover[] = [];

  /** @param mover its id is higher than those before */
  consider(mover: Mover): void {
    const size = sizeOf(mover);
    const last = this.#movers.at(-1);
    if (this.#movers.length === LIST_ENTRIES && last !== undefined && sizeOf(last) >= size) return;
    const place = this.#movers.findIndex((other) => sizeOf(other) < size);
    this.#movers.splice(place === -1 ? this.#movers.length : place, 0, mover);
    if (this.#movers.length > LIST_ENTRIES) this.#movers.pop();
  }

  ranked(): readonly Ranked[] {
    const sizes = this.#movers.map(sizeOf);
    return this.#movers.map((mover) => ({ ...mover, rank: 1 + sizes.indexOf(sizeOf(mover)) }));
  }
}

const sizeOf = ({ change }: Mover): number => Math.abs(change.delta);
