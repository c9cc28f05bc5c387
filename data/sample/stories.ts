import type { Choices } from './dice.js';
import type { Course } from './growth.js';

/** What is special about a record, as far as it means anything for its kind; the rest is as usual. */
export interface Story {
  /** `hidden`: locked, banned or restricted, as the kind has it. */
  readonly state?: 'hidden' | 'deleted' | undefined;
  /**
   * `changed`: between two readings. `returned`: A, B, A. `dated`: changed when the platform says so.
   * `listed`: several, from the platform's own list. `unrecorded`: there is no history, nor of owners.
   */
  readonly names?: 'changed' | 'returned' | 'dated' | 'listed' | 'unrecorded' | undefined;
  readonly owner?: 'changed' | 'abandoned' | 'adopted' | 'none' | 'unnamed' | 'withheld' | undefined;
  readonly creator?: 'unnamed' | 'unknown' | 'withheld user' | 'withheld group' | undefined;
  /** `long`: as long as the platform allows. */
  readonly description?: 'empty' | 'long' | undefined;
  readonly course?: Course;
  /** The member count: `lost`: read earlier, but no longer. `older`: missing from the newest reading. */
  readonly count?: 'lost' | 'older' | undefined;
  /** `limited`: sold out by its creator. `limited on sale`: not yet. */
  readonly sale?: 'paid' | 'free' | 'unlisted' | 'limited' | 'limited on sale' | undefined;
  /** The lowest resale price. */
  readonly resale?: number;
  readonly visits?: number;
}

/** Deals the choices to the first records of each period, in order; the other records get none. */
export function inTurn<T>(choices: Choices<T>, period: number, index: number): T | undefined {
  return choices[index % period];
}

/** What is special about an ordinary record. No two periods have a factor in common, so everything meets. */
export function storyOf(index: number): Story {
  return {
    state: inTurn(['hidden', 'deleted'], 31, index + 8),
    names:
      inTurn(['changed', 'dated', 'returned', 'listed'], 23, index) ?? inTurn(['unrecorded'], 43, index + 27),
    owner: inTurn(['changed', 'abandoned', 'adopted', 'none', 'unnamed'], 29, index + 12),
    creator: inTurn(['unnamed', 'unknown'], 25, index + 9),
    description: inTurn(['empty', 'long'], 67, index + 41),
    count: inTurn(['lost', 'older'], 47, index + 27),
    sale: inTurn(['paid', 'free', 'unlisted', 'limited', 'limited on sale'], 17, index + 5),
  };
}

/** A group that is larger than chance would make it. */
interface Famous extends Story {
  /** A name that no form of names gives, and the one before. */
  readonly name: string;
  readonly former?: string;
  readonly members: number;
  /** How many of the last purges hit it. */
  readonly purges?: number;
}

/**
 * The largest groups, in no order, so that the list of the largest has lines of every kind, and a
 * tie further down. Two of them belong to a withheld user.
 */
const FAMOUS: Choices<Famous> = [
  {
    name: 'Old Mill Studio',
    members: 120_119_197,
    course: 'steady',
    names: 'changed',
    former: 'Old Mill Workshop',
  },
  { name: 'Lanternfall', members: 280_389_900, course: 'stepped', purges: 2 },
  { name: 'Moss & Marrow', members: 7_815_359, course: 'stepped', owner: 'withheld' },
  { name: 'The Midnight Bakery', members: 63_272_275, course: 'viral' },
  { name: 'Tidewater Racing League', members: 167_286_943, course: 'seasonal' },
  { name: 'Paper Boats', members: 88_725_597, course: 'abandoned', owner: 'changed' },
  { name: 'Hollow Hill Railway', members: 412_007, course: 'steady' },
  { name: 'Skyhook Airways', members: 24_538_398, course: 'late', names: 'dated', former: 'Skyhook Air' },
  { name: 'Nightjar Games', members: 38_722_336, course: 'stepped', purges: 1 },
  { name: 'Clube dos Faróis', members: 13_272_598, course: 'seasonal', owner: 'withheld' },
  { name: 'Sunday Market (official)', members: 47_202_880, course: 'resting', purges: 1 },
  { name: 'Quiet Giants', members: 412_007, course: 'resting' },
  { name: 'Team Puffin', members: 17_690_013, course: 'viral' },
  { name: 'ねこのえき', members: 9_337_687, course: 'steady' },
  { name: 'Harbour Lights RP', members: 5_525_398, course: 'abandoned', owner: 'abandoned' },
  { name: 'Überlandbahn', members: 4_197_105, course: 'late' },
  { name: 'Frostbound', members: 1_283_874, course: 'abandoned' },
  { name: 'Marble Run World', members: 3_059_072, course: 'stepped', names: 'listed', former: 'Marble Run' },
  { name: 'bees, mostly', members: 2_435_333, course: 'resting' },
];

/** Of the first games and items: the most visited, the dearest the platform allows, withheld creators. */
const SINGULAR: Choices<Story> = [
  { visits: 70_001_442_900, sale: 'limited', resale: 1_000_000_000_000 },
  { visits: 33_870_194_336, sale: 'limited', resale: 999_999_999_999, creator: 'withheld user' },
  { visits: 41_903_007, sale: 'limited', resale: 63_000_000_000, creator: 'withheld group' },
  { visits: 41_903_007 },
];

/** Every fourth of the first records, from 2 or 3 on, is one of a list. */
export function oneOf<T>(list: readonly T[], from: 2 | 3, index: number): T | undefined {
  return index % 4 === from ? list[(index - from) / 4] : undefined;
}

export const famousAt = (index: number): Famous | undefined => oneOf(FAMOUS, 3, index);
export const singularAt = (index: number): Story | undefined => oneOf(SINGULAR, 3, index);
