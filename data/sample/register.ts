import { Dice } from './dice.js';
import { type Events, eventsOf } from './times.js';

export type Kind = 'group' | 'user' | 'game' | 'item';

/** A register, fully determined by its seed and the number of records of each kind. */
export interface Register {
  readonly seed: number;
  readonly counts: Readonly<Record<Kind, number>>;
  /** Chooses the order of names. */
  readonly salt: number;
  readonly events: Events;
}

/** 30 % groups, 10 % games, 20 % items; users are the rest (40 %), so that the sum is exact. */
export function registerOf(records: number, seed: number): Register {
  const group = Math.round((records * 3) / 10);
  const game = Math.round(records / 10);
  const item = Math.round(records / 5);
  return {
    seed,
    counts: { group, user: records - group - game - item, game, item },
    salt: new Dice(seed, 'names', 0).below(0x1_0000_0000),
    events: eventsOf(seed),
  };
}

/** Most ids are small and some far beyond 2^32, as on a platform that renumbered over the years. */
const ID_RANGES = [
  { perMille: 850, from: 2, to: 4.2e9, widestStep: 211 },
  { perMille: 120, from: 4.3e9, to: 1.8e10, widestStep: 70_001 },
  { perMille: 30, from: 7e13, to: 1.4e14, widestStep: 7e13 },
];

/** The id of a record: ascending with its index, with gaps, independent of other records. */
export function idOf({ seed, counts }: Register, kind: Kind, index: number): number {
  let first = 0;
  let share = 0;
  for (const { perMille, from, to, widestStep } of ID_RANGES) {
    share += perMille;
    const end = Math.ceil((counts[kind] * share) / 1000);
    if (index < end) {
      const step = Math.min(widestStep, Math.floor((to - from) / (end - first)));
      return from + (index - first) * step + new Dice(seed, `${kind} id`, index).below(step);
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
