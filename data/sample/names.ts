import { Dice } from './dice.js';
import { famousAt } from './famous.js';
import { Forms } from './forms.js';
import { GAMES, GROUPS, type ItemType, ITEMS, USERS } from './name-forms.js';
import { DECORATIONS, ODD_TEXTS } from './odd.js';
import type { Kind, Register } from './register.js';
import { SENTENCES } from './sentences.js';
import { IN_TURN, inTurn } from './shapes.js';
import { listOf } from './words.js';

/** Frequency of decorated names, once each odd text has been used. */
const DECORATED_ONE_IN = 45;
const LONGEST_DESCRIPTION = 1_000;
/** The longest name that a description repeats. */
const LONGEST_REPEATED = 60;

const FORMS: Readonly<Record<Exclude<Kind, 'user'>, Forms<unknown>>> = {
  group: GROUPS,
  game: GAMES,
  item: ITEMS,
};

/**
 * The current name of a record, which no other record of its kind has. It depends on no other
 * record, so any can ask for it.
 */
export function nameOf(register: Register, kind: Kind, index: number): string {
  if (kind === 'user') return usernameOf(register, index);
  const famous = kind === 'group' ? famousAt(index) : undefined;
  if (famous !== undefined) return famous.name;
  const plain = FORMS[kind].name(index, register.salts[kind]);
  return odd(plain, index, new Dice(register.seed, `${kind} name`, index));
}

/**
 * A former name of a group, from `steps` changes ago: mostly the same name with another last word,
 * or in other letters, and sometimes one that another group has now.
 */
export function formerGroupName(register: Register, index: number, steps: number): string {
  const famous = famousAt(index)?.former?.[steps - 1];
  if (famous !== undefined) return famous;
  const dice = new Dice(register.seed, `former group name ${steps}`, index);
  const variant = GROUPS.name(index, register.salts.group, 3 * steps + dice.below(3));
  const fate = dice.below(16);
  if (fate < 9) return variant;
  if (fate === 9) return `The ${variant}`;
  if (fate === 10) return variant.toUpperCase();
  if (fate === 11) return variant.toLowerCase();
  if (fate === 12) return dice.pick(DECORATIONS)(variant);
  if (fate === 13) return nameOf(register, 'group', dice.below(register.counts.group));
  return GROUPS.name(index + steps * register.counts.group, register.salts.group);
}

/** A former username, from `steps` changes ago; nobody has it now. */
export function formerUsername(register: Register, index: number, steps: number): string {
  const dice = new Dice(register.seed, `former username ${steps}`, index);
  const now = usernameOf(register, index);
  // No username of the forms begins or ends like these
  const affixed = dice.pick([`Not${now}`, `${now}YT`, `${now}_`, `_${now}`, `real_${now}`]);
  if (affixed.length <= 20 && dice.once(2)) return affixed;
  return usernameOf(register, index + steps * register.counts.user);
}

/** A user's display name: often the username, otherwise any name. */
export function displayNameOf(register: Register, index: number): string {
  const dice = new Dice(register.seed, 'display name', index);
  const form = dice.pick(['{First}', '{first}', '{Adjective} {Noun}', '{First} {Surname}', '{Noun}']);
  const plain = dice.once(2) ? usernameOf(register, index) : filled(form, dice);
  return odd(plain, index, dice);
}

/** An item's type, which its name tells. */
export function itemTypeOf({ salts }: Register, index: number): ItemType {
  return ITEMS.of(index, salts.item);
}

/** A description: measured as empty, as long as the platform allows, or a few sentences. */
export type DescriptionStory = 'some' | 'empty' | 'long';

/** A description; every third ordinary one is empty, too. */
export function describe(
  story: DescriptionStory,
  kind: keyof typeof SENTENCES,
  name: string,
  dice: Dice,
): string {
  if (story === 'long') return longDescription(dice);
  return story === 'empty' || dice.once(3) ? '' : shortDescription(kind, name, dice);
}

/** One to eight different sentences, with occasional line breaks. */
function shortDescription(kind: keyof typeof SENTENCES, name: string, dice: Dice): string {
  const own = name.length > LONGEST_REPEATED ? `our ${kind}` : name;
  const sentences = new Set(Array.from({ length: 1 + dice.tail(1, 2) }, () => dice.pick(SENTENCES[kind])));
  const separator = dice.pick([' ', ' ', '\n', '\n\n']);
  return [...sentences].map((sentence) => filled(sentence, dice, own)).join(separator);
}

/** The longest description that the platform allows, in UTF-16 code units. */
function longDescription(dice: Dice): string {
  const line = `${filled('The story of the {Adjective} {Noun}, told slowly', dice)},\n`;
  return line.repeat(LONGEST_DESCRIPTION).slice(0, LONGEST_DESCRIPTION);
}

/** A username from a number: unique, with 3 to 20 letters, digits and underscores. */
export function usernameOf({ salts }: Register, number: number): string {
  return USERS.name(number, salts.user);
}

/** A text with random words in its gaps. */
function filled(text: string, dice: Dice, name = ''): string {
  if (!text.includes('{')) return text;
  return text.replaceAll(/\{(\w+)\}/g, (_, gap: string) => {
    if (gap === 'Name') return name;
    const word = dice.pick(listOf(gap.toLowerCase()));
    if (gap === gap.toLowerCase()) return word.toLowerCase();
    return gap === gap.toUpperCase() ? word.toUpperCase() : word.charAt(0).toUpperCase() + word.slice(1);
  });
}

function odd(plain: string, index: number, dice: Dice): string {
  if (index < IN_TURN) return inTurn(ODD_TEXTS, 'text', index)?.(plain) ?? plain;
  return dice.once(DECORATED_ONE_IN) ? dice.pick(DECORATIONS)(plain) : plain;
}
