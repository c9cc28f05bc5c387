import type { Choices, Dice } from './dice.js';

/** What a record can be special in. Each takes every fourth record, so that no two ever spoil each other. */
const LANES = { story: 0, unmeasured: 1, text: 2, once: 3 };

/** The records of each kind that take turns; a list of shapes may be this many divided by four, 40, long. */
const IN_TURN = 160;

/**
 * What is special about a record. The first records of a kind go through all shapes in turn, so that even a
 * small register has them; after those a record has one by chance.
 * @param oneIn how rare it is after that; 0 = it never comes again
 */
export function special<T>(
  shapes: Choices<T>,
  lane: keyof typeof LANES,
  index: number,
  dice: Dice,
  oneIn: number,
): T | undefined {
  if (index >= IN_TURN) return oneIn > 0 && dice.once(oneIn) ? dice.pick(shapes) : undefined;
  return index % 4 === LANES[lane] ? shapes[Math.floor(index / 4)] : undefined;
}

/** What may be unmeasured of a record: each of these alone, and all of them together. */
export function gaps<Row>(...each: [Partial<Row>, ...Partial<Row>[]]): Choices<Partial<Row>> {
  return [...each, each.reduce((all, one) => ({ ...all, ...one }))];
}
