/** What a value means, in sentences: the same in JSON Schema, Data Package and pages. */
import type { Value } from './field.js';

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

/** Description, unit, words and notes, in CommonMark. */
export function meaningOf(value: Meaning): string {
  const { description, unit } = value;
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
