/** What a value means, in sentences: the same in JSON Schema, Data Package and pages. */
import { PRICE_UNIT, type Value } from './shape.js';

/** The meaning of a value, apart from its name and type. */
export type Meaning = Pick<Value, 'description' | 'unit' | 'nullable' | 'nullMeans' | 'values' | 'meanings'>;

/** A word of an `enum`, and its meaning if that is not obvious. */
export interface EnumWord {
  readonly word: string;
  readonly meaning: string | undefined;
}

export const wordsOf = ({ values = [], meanings = {} }: Pick<Meaning, 'values' | 'meanings'>): EnumWord[] =>
  values.map((word) => ({ word, meaning: meanings[word] }));

/** Sentences after the description: more words may be added to an enum; what null means. */
export const notesOf = ({ nullable, nullMeans, values }: Omit<Meaning, 'description'>): string =>
  sentences([
    values === undefined ? '' : 'Others may be added.',
    nullable && nullMeans !== undefined ? `Null: ${nullMeans}.` : '',
  ]);

/** The unit of a value: that of prices is the operator's, who need not name any. */
export const unitOf = (
  { unit }: Pick<Meaning, 'unit'>,
  priceUnit: string = PRICE_UNIT,
): string | undefined => (unit === PRICE_UNIT ? priceUnit : unit);

/** Description, unit, words and notes, in CommonMark. */
export function meaningOf(value: Meaning, priceUnit?: string): string {
  const unit = unitOf(value, priceUnit);
  const { description } = value;
  const words = wordsOf(value).map(({ word, meaning }) =>
    meaning === undefined ? `\`${word}\`` : `\`${word}\` (${meaning})`,
  );
  return sentences([
    description,
    unit === undefined ? '' : `Unit: ${unit}.`,
    words.length === 0 ? '' : `Words: ${words.join(', ')}.`,
    notesOf(value),
  ]);
}

const sentences = (all: readonly string[]): string => all.filter((each) => each !== '').join(' ');
