import type { Dice } from './dice.js';
import { type Reference, someRecord, withheldRecord } from './references.js';
import type { Register } from './register.js';
import type { Creator } from './tables.js';

/** The creator of a game or an item, and what was measured of it. */
export type CreatorStory = 'usual' | 'unnamed' | 'unknown' | 'withheld user' | 'withheld group';

const CREATORS: Readonly<Record<CreatorStory, (register: Register, dice: Dice) => Creator>> = {
  usual: (register, dice) => someCreator(register, dice),
  unnamed: (register, dice) => ({ ...someCreator(register, dice), creator_name: null }),
  unknown: () => ({ creator_type: null, creator_id: null, creator_name: null }),
  'withheld user': (register) => madeBy('user', withheldRecord(register, 'user')),
  'withheld group': (register) => madeBy('group', withheldRecord(register, 'group')),
};

/** The creator's columns. */
export function creatorOf(story: CreatorStory, register: Register, dice: Dice): Creator {
  return CREATORS[story](register, dice);
}

/** Three in five are users, the others groups. */
function someCreator(register: Register, dice: Dice): Creator {
  const type = dice.below(5) < 3 ? 'user' : 'group';
  return madeBy(type, someRecord(register, type, dice));
}

function madeBy(type: 'user' | 'group', { id, name }: Reference): Creator {
  return { creator_type: type, creator_id: id, creator_name: name };
}
