import type { Choices } from './dice.js';
import type { Course } from './growth.js';
import { inTurn } from './shapes.js';

/** A group that is larger than chance would make it. */
export interface Famous {
  /** A name that no form of names gives. */
  readonly name: string;
  /** Earlier names, newest first. */
  readonly former?: readonly string[];
  /** About; the seed adds up to 3 %, unless it is exact. */
  readonly members: number;
  readonly isExact?: true;
  readonly course: Course;
  readonly owner?: 'withheld' | 'changed' | 'abandoned';
  readonly names?: 'changed' | 'listed' | 'dated';
  /** The minimum number of readings, if it has more than three anyhow. */
  readonly readings?: number;
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
    former: ['Old Mill Workshop'],
    members: 118_400_000,
    course: 'steady',
    names: 'changed',
    readings: 420,
  },
  { name: 'Lanternfall', members: 280_200_000, course: 'stepped', purges: 2, readings: 560 },
  { name: 'Moss & Marrow', members: 7_612_000, course: 'stepped', owner: 'withheld' },
  { name: 'The Midnight Bakery', members: 61_730_000, course: 'viral', readings: 330 },
  { name: 'Tidewater Racing League', members: 163_900_000, course: 'seasonal', readings: 520 },
  { name: 'Paper Boats', members: 88_150_000, course: 'abandoned', owner: 'changed', readings: 500 },
  { name: 'Hollow Hill Railway', members: 412_007, isExact: true, course: 'steady' },
  {
    name: 'Skyhook Airways',
    former: ['Skyhook Air', 'Skyhook Flying Club'],
    members: 24_480_000,
    course: 'late',
    names: 'dated',
  },
  { name: 'Nightjar Games', members: 37_900_000, course: 'stepped', purges: 1, readings: 260 },
  { name: 'Clube dos Faróis', members: 12_940_000, course: 'seasonal', owner: 'withheld' },
  { name: 'Sunday Market (official)', members: 46_020_000, course: 'resting', purges: 1, readings: 300 },
  { name: 'Quiet Giants', members: 412_007, isExact: true, course: 'resting' },
  { name: 'Team Puffin', members: 17_260_000, course: 'viral' },
  { name: 'ねこのえき', members: 9_310_000, course: 'steady' },
  { name: 'Harbour Lights RP', members: 5_480_000, course: 'abandoned', owner: 'abandoned' },
  { name: 'Überlandbahn', members: 4_150_000, course: 'late' },
  { name: 'Frostbound', members: 1_250_000, course: 'abandoned' },
  {
    name: 'Marble Run World',
    former: ['Marble Run', 'marble run :)', 'marbles', 'Marmor'],
    members: 3_020_000,
    course: 'stepped',
    names: 'listed',
  },
  { name: 'bees, mostly', members: 2_370_000, course: 'resting' },
];

/** The famous group with an index, if there is one. */
export function famousAt(index: number): Famous | undefined {
  return inTurn(FAMOUS, 'once', index);
}
