import { Dice } from './dice.js';
import { FIRST_WITHHELD, idOf, type Kind, type Register } from './register.js';
import { famousAt, oneOf } from './stories.js';
import { DECORATIONS, ODD_TEXTS } from './texts.js';
import { choices, filled } from './words.js';

/** Forms of names: each number has a name of its own, as long as no two forms have one in common. */
class Names {
  readonly #forms;

  /** @param forms between line breaks or semicolons, after the number of their names in a block */
  constructor(forms: string) {
    this.#forms = forms
      .trim()
      .split(/\s*[;\n]\s*/)
      .flatMap((line) => {
        const [, weight, form = ''] = /^(\d+) (.*)$/.exec(line) ?? [];
        const sizes: number[] = [];
        filled(form, (list) => String(sizes.push(list.length)));
        const size = sizes.reduce((product, each) => product * each, 1);
        const all = { form, weight: Number(weight), size, stems: size / (sizes.at(-1) ?? 1) };
        return Array.from({ length: all.weight }, (_, rank) => ({ ...all, rank }));
      });
  }

  /** The name of a number. @param variant another one has another last word */
  at(number: number, salt: number, variant = 0): string {
    const length = this.#forms.length;
    const block = Math.floor(number / length);
    const turn = Math.imul(block ^ salt, 0x9e3779b1) >>> 20;
    const slot = this.#forms[((number % length) * 37 + turn) % length];
    if (slot === undefined) throw new RangeError('There are no forms');
    const { form, weight, rank, size, stems } = slot;
    const nth = block * weight + rank;
    // By steps of a prime that divides no size, so that names that follow one another differ
    let place = ((nth % size) * 15_485_863 + salt + variant * stems) % size;
    const name = filled(form, (list) => {
      const at = place % list.length;
      place = Math.floor(place / list.length);
      return list[at] ?? list[0];
    });
    // All names of the form have been used
    return nth < size ? name : `${name}${form.includes(' ') ? ' ' : '_'}${Math.floor(nth / size) + 1}`;
  }
}

const GROUPS = new Names(`
  8 {Place} {Topic}; 7 {Adjective} {Noun} {Tail}; 5 {Syllable}{ending} {Tail}; 4 The {Adjective} {Creature}
  5 {Place} {Creature}; 3 {First}'s {Adjective} {Thing}; 3 {Creature} of {Place}; 2 {PLACE} {TOPIC}
  2 the {adjective} {creature} club; 2 [{Letter}{Letter}] {Adjective} {Creature}; 2 {Adjective}{Thing}
  1 {Surname} & {Surname} {Tail}; 3 {Syllable}{syllable}{ending}; 2 ★ {Adjective} {Thing} ★
  1 {Creature} 🐾 {Place}; 3 {Abroad} {Place}; 1 Клуб {rulovers} {Ruplace}; 1 {japlace}{jathing}
  1 {koplace}{kothing}; 1 {arkind} {arplace}; 1 {hekind} {heplace}`);

const GAMES = new Names(`
  5 {Adjective} {Thing} Tycoon; 4 {Place} {Topic} Roleplay; 4 Escape the {Adjective} {Thing}
  4 {Noun} Simulator: {Place}; 4 {Syllable}{syllable}{ending}; 4 {Place} Rally {Letter}{Number}
  3 [UPDATE] {Adjective} {Noun} Legends; 2 [{Number}K LIKES] {Thing} Wars; 3 {Place}: The {Thing}
  3 {Creature} vs. {Topic}; 2 Build your {Adjective} {Thing} 🚂; 2 {First}'s {Thing} Café
  2 {ADJECTIVE} {THING} OBBY; 2 {adjective} {noun} hangout; 1 Симулятор {Ruplace}: {Thing}
  1 {japlace} オンライン {Letter}; 1 لعبة {arplace} {Letter}; 1 {koplace} 타이쿤 {Letter}`);

/** Unique without regard to case, with 3 to 20 letters, digits and underscores. */
const USERS = new Names(`
  7 {Adjective}{Noun}; 5 {adjective}_{noun}; 4 {noun}_{adjective}; 8 {Adjective}{Noun}{Number}
  4 {noun}{adjective}{Number}; 8 {First}{Surname}; 5 {first}{number}{letter}; 5 {First}_{Noun}{Number}
  4 {letter}{letter}_{surname}; 2 xX{Noun}{Number}Xx; 3 its{first}{noun}; 3 the_{adjective}_{first}
  3 {Syllable}{syllable}{ending}{Number}`);

/** Names of items, each followed by the type of the item. */
const ITEMS = new Names(`
  8 {Adjective} {Noun}; 4 {Place} {Topic}; 3 {First}'s {Adjective}; 3 {Syllable}{ending} No. {Number}
  2 ✨ {adjective} {noun}; 2 {Surname} {Thing}; 1 {japlace} {Letter}; 1 «{Ruplace}» {Number}`);
export const ITEM_TYPES = choices('Cap Cloak Boots Shirt Backpack Wings Dance Lantern Poster', ' ');

/**
 * The current name of a record, which no other record of its kind has. It depends on no other
 * record, so any can ask for it.
 */
export function nameOf(register: Register, kind: Kind, index: number): string {
  if (kind === 'user') return USERS.at(index, register.salt);
  const famous = kind === 'group' ? famousAt(index) : undefined;
  if (famous !== undefined) return famous.name;
  const name = { group: GROUPS, game: GAMES, item: ITEMS }[kind].at(index, register.salt);
  const whole = kind === 'item' ? `${name} ${ITEM_TYPES[index % ITEM_TYPES.length]}` : name;
  return odd(whole, index, new Dice(register.seed, `${kind} name`, index));
}

/** The first records of a kind have each odd text in turn, others a decorated name now and then. */
function odd(plain: string, index: number, dice: Dice): string {
  const own = oneOf(ODD_TEXTS, 2, index) ?? (dice.once(45) ? dice.pick(DECORATIONS) : '{}');
  return own.replaceAll('{}', plain);
}

/**
 * A former name of a group, from `steps` changes ago: mostly the same name with another last word,
 * or in other letters, and sometimes one that another group has now.
 */
export function formerGroupName(register: Register, index: number, steps: number): string {
  const dice = new Dice(register.seed, `former group name ${steps}`, index);
  const famous = famousAt(index)?.former;
  if (famous !== undefined && steps === 1) return famous;
  const variant = famous ?? GROUPS.at(index, register.salt, 3 * steps + dice.below(3));
  const fate = famous === undefined ? dice.below(16) : 10 + dice.below(3);
  if (fate < 10) return variant;
  if (fate === 10) return `The ${variant}`;
  if (fate === 11) return variant.toUpperCase();
  if (fate === 12) return dice.pick(DECORATIONS).replaceAll('{}', variant);
  if (fate === 13) return nameOf(register, 'group', dice.below(register.counts.group));
  return GROUPS.at(index + steps * register.counts.group, register.salt);
}

/** A former username, from `steps` changes ago; nobody has it now. */
export function formerUsername(register: Register, index: number, steps: number): string {
  const dice = new Dice(register.seed, `former username ${steps}`, index);
  const now = USERS.at(index, register.salt);
  // No username of the forms begins or ends like these
  const affixed = dice.pick([`Not${now}`, `${now}YT`, `${now}_`, `_${now}`, `real_${now}`]);
  if (affixed.length <= 20 && dice.once(2)) return affixed;
  return USERS.at(index + steps * register.counts.user, register.salt);
}

/** A user's display name: often the username, otherwise any name. */
export function displayNameOf(register: Register, index: number): string {
  const dice = new Dice(register.seed, 'display name', index);
  const form = dice.pick(['{First}', '{first}', '{Adjective} {Noun}', '{First} {Surname}', '{Noun}']);
  const plain = dice.once(2) ? USERS.at(index, register.salt) : filled(form, (list) => dice.pick(list));
  return odd(plain, index, dice);
}

/** Another account, as a record refers to it. */
export interface Reference {
  readonly id: number;
  readonly name: string;
}

function recordAt(register: Register, kind: Kind, index: number): Reference {
  return { id: idOf(register, kind, index), name: nameOf(register, kind, index) };
}

/** A random record of the register; the lower its index, the likelier it is. */
export function someRecord(register: Register, kind: Kind, dice: Dice): Reference {
  return recordAt(register, kind, dice.below(1 + dice.below(register.counts[kind])));
}

/** A withheld record (or the last one, if the register is too small). */
export function withheldRecord(register: Register, kind: Kind): Reference {
  return recordAt(register, kind, Math.min(FIRST_WITHHELD, register.counts[kind] - 1));
}

/** A user who exists on the platform but was never measured: beyond all ids and names of those who were. */
export function stranger(register: Register, dice: Dice): Reference {
  const number = dice.below(1_000_000_000);
  const name = USERS.at(10 * register.counts.user + (number % 100_000), register.salt);
  return { id: 20_000_000_000 + number, name };
}
