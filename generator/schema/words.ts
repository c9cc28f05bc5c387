/** What an operator calls the kinds of records, in texts for people. Runs in browsers, too. */
import type { Kind } from './field.js';
import { PRICE_UNIT } from './shape.js';

export interface Word {
  readonly one: string;
  readonly many: string;
}

/** By kind. A kind without an entry keeps its own name. */
export type Words = Readonly<Partial<Record<Kind, Word>>>;

/** The words of an operator, where they differ from those of this program. */
interface Wording {
  readonly words?: Words;
  readonly priceUnit?: string;
}

/** Puts the words of the operator into a sentence of this program. */
export type InWords = (sentence: string) => string;

const OURS: Readonly<Record<Kind, Word>> = {
  group: { one: 'group', many: 'groups' },
  user: { one: 'user', many: 'users' },
  game: { one: 'game', many: 'games' },
  item: { one: 'item', many: 'items' },
};

/** The words of all kinds. */
export const allWords = (words: Words = {}): Readonly<Record<Kind, Word>> => ({ ...OURS, ...words });

/** `a club`, `an island`, `a user`. */
export const withArticle = (word: string): string =>
  `${/^(?!uni|use|eu|one)[aeiou]/i.test(word) ? 'an' : 'a'} ${word}`;

/** `Club`: a word at the start of a sentence. */
export const capitalized = (word: string): string => word.replace(/^./u, (letter) => letter.toUpperCase());

/** Code, or the name of a kind with its article; `catalogue` belongs to our name of items. */
const NAMED = /`[^`]*`|\b(?<article>an? )?(?:catalogue )?(?<kind>group|user|game|item)(?<plural>s?)\b/gi;

/**
 * Puts the words of an operator into sentences. Sentences must not contain measured names or texts of
 * the operator, which stay as they are.
 */
export function wordsIn({ words = {}, priceUnit = PRICE_UNIT }: Wording): InWords {
  const known = new Map<string, Word>(Object.entries(words));
  const named = (sentence: string): string =>
    sentence.replaceAll(NAMED, (found, article?: string, kind?: string, plural?: string) => {
      const word = kind === undefined ? undefined : known.get(kind.toLowerCase());
      if (word === undefined) return found;
      const name = plural === '' ? word.one : word.many;
      const text = article === undefined ? name : withArticle(name);
      return /^\p{Lu}/u.test(found) ? capitalized(text) : text;
    });
  return (sentence) => (known.size === 0 ? sentence : named(sentence)).replace(PRICE_UNIT, () => priceUnit);
}
