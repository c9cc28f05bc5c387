import { Dice } from './dice.js';
import { type Events, eventsOf } from './events.js';

/** The kinds of records, in the order in which they are written. */
export const KINDS = ['group', 'user', 'game', 'item'] as const;
export type Kind = (typeof KINDS)[number];

/** A register, fully determined by its seed and the number of records of each kind. */
export interface Register {
  readonly seed: number;
  readonly counts: Readonly<Record<Kind, number>>;
  /** For each kind 32 bits that choose the order of its names. */
  readonly salts: Readonly<Record<Kind, number>>;
  /** What befell the whole platform and its measuring. */
  readonly events: Events;
}

/** 30 % groups, 10 % games, 20 % items; users are the rest (40 %), so that the sum is exact. */
export function registerOf(records: number, seed: number): Register {
  const group = Math.round((records * 3) / 10);
  const game = Math.round(records / 10);
  const item = Math.round(records / 5);
  const salt = (kind: Kind) => new Dice(seed, `${kind} names`, 0).below(0x1_0000_0000);
  return {
    seed,
    counts: { group, user: records - group - game - item, game, item },
    salts: { group: salt('group'), user: salt('user'), game: salt('game'), item: salt('item') },
    events: eventsOf(seed),
  };
}

/** A range of ids: its share of a kind's records, and the largest step between them. */
interface IdRange {
  readonly perMille: number;
  readonly from: number;
  readonly to: number;
  readonly widestStep: number;
}

/** Most ids are small and some far beyond 2^32, as on a platform that renumbered over the years. */
const ID_RANGES: Readonly<Record<Kind, readonly IdRange[]>> = {
  group: [
    { perMille: 970, from: 2, to: 4.2e9, widestStep: 61 },
    { perMille: 30, from: 4.3e9, to: 9e9, widestStep: 90_001 },
  ],
  user: [
    { perMille: 900, from: 1, to: 4.2e9, widestStep: 1_009 },
    { perMille: 100, from: 4.3e9, to: 1.2e10, widestStep: 60_013 },
  ],
  game: [
    { perMille: 800, from: 13, to: 4.2e9, widestStep: 10_007 },
    { perMille: 200, from: 4.3e9, to: 1e10, widestStep: 70_001 },
  ],
  item: [
    { perMille: 700, from: 1_000, to: 4.2e9, widestStep: 15_013 },
    { perMille: 200, from: 4.3e9, to: 1.8e10, widestStep: 90_001 },
    { perMille: 100, from: 7e13, to: 1.4e14, widestStep: 7e13 },
  ],
};

/** The id of a record: ascending with its index, with gaps, independent of other records. */
export function idOf({ seed, counts }: Register, kind: Kind, index: number): number {
  let first = 0;
  let perMille = 0;
  for (const range of ID_RANGES[kind]) {
    perMille += range.perMille;
    const end = Math.ceil((counts[kind] * perMille) / 1000);
    if (index < end) {
      const step = Math.min(range.widestStep, Math.floor((range.to - range.from) / (end - first)));
      return range.from + (index - first) * step + new Dice(seed, `${kind} id`, index).below(step);
    }
    first = end;
  }
  throw new RangeError(`There is no ${kind} ${index} in a register of ${counts[kind]}`);
}

/** The first withheld record of each kind. Some groups, games and items belong to it. */
export const FIRST_WITHHELD = 6;

/** A few of each kind, whatever the register's size. */
export function isWithheld(index: number): boolean {
  return index < 1_000 && index % 97 === FIRST_WITHHELD;
}
