import type { Dice } from './dice.js';
import { nameOf, usernameOf } from './names.js';
import { FIRST_WITHHELD, idOf, type Kind, type Register } from './register.js';

/** The platform's ids of accounts that the register never measured start here. */
const STRANGERS_FROM = 20_000_000_000;
const STRANGERS = 1_000_000_000;

/** Somebody else, as a record names them. */
export interface Reference {
  readonly id: number;
  readonly name: string;
}

/** Another record of the register, by chance; the lower its index, the more often it is met. */
export function someRecord(register: Register, kind: Kind, dice: Dice): Reference {
  const upTo = 1 + dice.below(register.counts[kind]);
  return recordAt(register, kind, dice.below(upTo));
}

/** A record that is withheld (in a register too small to have one: the last there is). */
export function withheldRecord(register: Register, kind: Kind): Reference {
  return recordAt(register, kind, Math.min(FIRST_WITHHELD, register.counts[kind] - 1));
}

/** A user who exists on the platform but not in the register. */
export function stranger({ counts }: Register, dice: Dice): Reference {
  const number = dice.below(STRANGERS);
  // Past all names that users of the register have or ever had
  return { id: STRANGERS_FROM + number, name: usernameOf(10 * counts.user + (number % 100_000)) };
}

function recordAt(register: Register, kind: Kind, index: number): Reference {
  return { id: idOf(register, kind, index), name: nameOf(register, kind, index) };
}
