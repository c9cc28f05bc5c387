import { Dice } from './dice.js';
import type { Kind, Register } from './register.js';
import { special } from './shapes.js';
import { ADJECTIVES, GAME_FORMS, GROUP_FORMS, ITEM_TYPES, NOUNS, ODD_TEXTS, SENTENCES } from './words.js';

/** Frequency of odd texts, once each has been used. */
const ODD_ONE_IN = 14;
const LONGEST_DESCRIPTION = 1_000;

/** The current name of a record. It depends on no other record, so any can ask for it. */
export function nameOf(register: Register, kind: Kind, index: number): string {
  if (kind === 'user') return usernameOf(index);
  const dice = new Dice(register.seed, `${kind} name`, index);
  return odd(filled(formOf(register, kind, index), dice), index, dice);
}

/** A former name of a group, from `steps` changes ago. */
export function formerGroupName(register: Register, index: number, steps: number): string {
  const dice = new Dice(register.seed, `former group name ${steps}`, index);
  return dice.once(6) ? dice.pick(ODD_TEXTS)(filled('{Noun}', dice)) : filled(dice.pick(GROUP_FORMS), dice);
}

/** A former username, from `steps` changes ago; nobody has it now. */
export function formerUsername({ counts }: Register, index: number, steps: number): string {
  return usernameOf(index + steps * counts.user);
}

/** A user's display name: often the username, otherwise any name. */
export function displayNameOf(register: Register, index: number): string {
  const dice = new Dice(register.seed, 'display name', index);
  const plain = dice.once(2) ? usernameOf(index) : filled(dice.pick(['{Noun}', '{Adjective} {Noun}']), dice);
  return odd(plain, index, dice);
}

/** An item's type, from which its name is derived. */
export function itemTypeOf({ seed }: Register, index: number) {
  return new Dice(seed, 'item type', index).pick(ITEM_TYPES);
}

/** A description: measured as empty, as long as the platform allows, or a few sentences. */
export type DescriptionStory = 'some' | 'empty' | 'long';

/** A description; every third ordinary one is empty, too. */
export function describe(story: DescriptionStory, dice: Dice): string {
  if (story === 'long') return longDescription(dice);
  return story === 'empty' || dice.once(3) ? '' : shortDescription(dice);
}

/** One to eight sentences, with occasional line breaks. */
function shortDescription(dice: Dice): string {
  const sentences = Array.from({ length: 1 + dice.tail(1, 2) }, () => filled(dice.pick(SENTENCES), dice));
  return sentences.join(dice.pick([' ', ' ', '\n', '\n\n']));
}

/** The longest description that the platform allows, in UTF-16 code units. */
function longDescription(dice: Dice): string {
  const line = `${filled('The story of the {Adjective} {Noun}, told slowly', dice)},\n`;
  return line.repeat(LONGEST_DESCRIPTION).slice(0, LONGEST_DESCRIPTION);
}

/** A username from a number: unique, with 3 to 20 letters, digits and underscores. */
export function usernameOf(number: number): string {
  const plain = 4 * ADJECTIVES.length * NOUNS.length;
  const round = Math.floor(number / plain);
  // A prime step visits all of them once, and neighbours have nothing in common
  const place = ((number % plain) * 7_919) % plain;
  const adjective = ADJECTIVES[Math.floor(place / 4) % ADJECTIVES.length] ?? '';
  const noun = NOUNS[Math.floor(place / (4 * ADJECTIVES.length))] ?? '';
  const digits = round === 0 ? '' : round;
  const styles = [
    `${capital(adjective)}${capital(noun)}${digits}`,
    `${adjective}_${noun}${digits}`,
    `${noun}_${adjective}${digits}`,
    `${noun}${adjective}_${round + 1}`,
  ];
  return styles[place % 4] ?? '';
}

function formOf(register: Register, kind: Exclude<Kind, 'user'>, index: number): string {
  if (kind === 'item') return itemTypeOf(register, index).form;
  return new Dice(register.seed, `${kind} form`, index).pick(kind === 'group' ? GROUP_FORMS : GAME_FORMS);
}

function filled(form: string, dice: Dice): string {
  return form
    .replace('{Adjective}', () => capital(dice.pick(ADJECTIVES)))
    .replace('{Noun}', () => capital(dice.pick(NOUNS)))
    .replace('{Second}', () => capital(dice.pick(NOUNS)));
}

function odd(plain: string, index: number, dice: Dice): string {
  return special(ODD_TEXTS, 'text', index, dice, ODD_ONE_IN)?.(plain) ?? plain;
}

function capital(word: string): string {
  return word.charAt(0).toUpperCase() + word.slice(1);
}
