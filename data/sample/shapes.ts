import type { Choices, Dice } from './dice.js';

/** How a record can be special. Each gets every fourth record, so that two never interfere. */
const LANES = { story: 0, unmeasured: 1, text: 2, once: 3 };

/** The first records of each kind get shapes in turn; a list has at most a quarter of this, 40. */
export const IN_TURN = 160;

/**
 * What is special about a record. The first records of a kind get all shapes in turn, so that even
 * a small register has them; later records get a random one.
 * @param oneIn the frequency after that; 0 = never again
 */
export function special<T>(
  shapes: Choices<T>,
  lane: keyof typeof LANES,
  index: number,
  dice: Dice,
  oneIn: number,
): T | undefined {
  if (index >= IN_TURN) return oneIn > 0 && dice.once(oneIn) ? dice.pick(shapes) : undefined;
  return inTurn(shapes, lane, index);
}

/** What is special about one of the first records, whatever the dice. */
export function inTurn<T>(shapes: Choices<T>, lane: keyof typeof LANES, index: number): T | undefined {
  return index < IN_TURN && index % 4 === LANES[lane] ? shapes[Math.floor(index / 4)] : undefined;
}

/** What may be unmeasured in a record: each of these alone, and all of them together. */
export function gaps<Row>(...each: [Partial<Row>, ...Partial<Row>[]]): Choices<Partial<Row>> {
  return [...each, each.reduce((all, one) => ({ ...all, ...one }))];
}
