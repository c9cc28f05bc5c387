import type { Choices } from './dice.js';
import { listOf } from './words.js';

/** Forms are dealt in blocks of this many numbers: a power of two, so that odd factors permute it. */
const BLOCK = 64;

/** A form of names with its weight, the number of names that it has in each block. */
export type WeightedForm<T> = readonly [weight: number, form: string, of: T];

/** One form: literal texts with lists between them; each combination is one of its names. */
interface Form<T> {
  readonly of: T;
  readonly weight: number;
  readonly texts: readonly string[];
  readonly lists: readonly (readonly string[])[];
  /** Number of combinations. */
  readonly size: number;
  /** Coprime to the size and about 0.618 of it, so that names that follow one another differ. */
  readonly step: number;
  readonly shift: number;
}

/** The form of a name, and its place among the names of the form. */
interface Dealt<T> {
  readonly form: Form<T>;
  readonly place: number;
  /** How often the form has been used up before. */
  readonly round: number;
}

/** Names from forms: each number has a name of its own, as long as no two forms have one in common. */
export class Forms<T> {
  readonly #slots: readonly { readonly form: Form<T>; readonly rank: number }[];
  readonly #nextRound: (name: string, round: number) => string;

  /**
   * @param forms weights add up to 64; `{noun}`, `{Noun}` and `{NOUN}` are a word in small letters,
   *   as listed, and in capitals
   * @param nextRound tells the names of a form apart once all of them have been used
   */
  constructor(
    forms: readonly WeightedForm<T>[],
    nextRound: (name: string, round: number) => string = (name, round) => `${name} ${round + 1}`,
  ) {
    this.#nextRound = nextRound;
    this.#slots = forms.flatMap((weighted, at) => {
      const form = formOf(weighted, at);
      return Array.from({ length: form.weight }, (_, rank) => ({ form, rank }));
    });
    if (this.#slots.length !== BLOCK) throw new RangeError(`${this.#slots.length} of ${BLOCK} forms`);
  }

  /**
   * The name of a number.
   * @param salt 32 bits that choose among the many orders of names
   * @param variant another one has the same form and another last word
   */
  name(number: number, salt: number, variant = 0): string {
    const { form, place, round } = this.#deal(number, salt);
    let rest = place;
    let name = form.texts.at(-1) ?? '';
    for (let at = form.lists.length - 1; at >= 0; at--) {
      const list = form.lists[at] ?? [];
      const digit = rest % list.length;
      rest = (rest - digit) / list.length;
      const word = at === form.lists.length - 1 ? (digit + variant) % list.length : digit;
      name = `${form.texts[at]}${list[word]}${name}`;
    }
    return round === 0 ? name : this.#nextRound(name, round);
  }

  /** What the number's form is of. */
  of(number: number, salt: number): T {
    return this.#deal(number, salt).form.of;
  }

  #deal(number: number, salt: number): Dealt<T> {
    const block = Math.floor(number / BLOCK);
    const turn = Math.imul(block ^ salt, 0x9e3779b1) >>> 20;
    const slot = this.#slots[((number % BLOCK) * 37 + turn) % BLOCK] ?? this.#slots[0];
    if (slot === undefined) throw new RangeError('There are no forms');
    const { form, rank } = slot;
    const nth = block * form.weight + rank;
    const place = ((nth % form.size) * form.step + ((salt >>> 0) % form.size) + form.shift) % form.size;
    return { form, place, round: Math.floor(nth / form.size) };
  }
}

function formOf<T>([weight, text, of]: WeightedForm<T>, at: number): Form<T> {
  const parts = text.split(/\{(\w+)\}/);
  const lists = parts.filter((_, index) => index % 2 === 1).map(styled);
  const size = lists.reduce((product, list) => product * list.length, 1);
  let step = Math.max(1, Math.floor(size * 0.618));
  while (divisor(step, size) !== 1) step++;
  return {
    of,
    weight,
    texts: parts.filter((_, index) => index % 2 === 0),
    lists,
    size,
    step,
    shift: at * 7_919,
  };
}

/** A list in the letters in which the form names it. */
function styled(name: string): Choices<string> {
  const [first, ...others] = listOf(name.toLowerCase());
  const style = (word: string): string => {
    if (name === name.toLowerCase()) return word.toLowerCase();
    return name === name.toUpperCase() ? word.toUpperCase() : capital(word);
  };
  return [style(first), ...others.map(style)];
}

/** The greatest common divisor. */
function divisor(a: number, b: number): number {
  return b === 0 ? a : divisor(b, a % b);
}

function capital(word: string): string {
  return word.charAt(0).toUpperCase() + word.slice(1);
}
