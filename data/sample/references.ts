import type { Dice } from './dice.js';
import { nameOf, usernameOf } from './names.js';
import { FIRST_WITHHELD, idOf, type Kind, type Register } from './register.js';

/** Ids of accounts that the register never measured start here. */
const STRANGERS_FROM = 20_000_000_000;
const STRANGERS = 1_000_000_000;

/** Another account, as a record refers to it. */
export interface Reference {
  readonly id: number;
  readonly name: string;
}

/** A random record of the register; the lower its index, the likelier it is. */
export function someRecord(register: Register, kind: Kind, dice: Dice): Reference {
  const upTo = 1 + dice.below(register.counts[kind]);
  return recordAt(register, kind, dice.below(upTo));
}

/** A withheld record (or the last one, if the register is too small). */
export function withheldRecord(register: Register, kind: Kind): Reference {
  return recordAt(register, kind, Math.min(FIRST_WITHHELD, register.counts[kind] - 1));
}

/** A user who exists on the platform but not in the register. */
export function stranger(register: Register, dice: Dice): Reference {
  const number = dice.below(STRANGERS);
  // Beyond all current and former names of users of the register
  return {
    id: STRANGERS_FROM + number,
    name: usernameOf(register, 10 * register.counts.user + (number % 100_000)),
  };
}

function recordAt(register: Register, kind: Kind, index: number): Reference {
  return { id: idOf(register, kind, index), name: nameOf(register, kind, index) };
}
