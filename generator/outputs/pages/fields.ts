/** Documents as fields with their meanings, for people. */
import type { Value, ValueType, ObjectShape, Shape } from '../../schema/shape.js';
import { notesOf, wordsOf, type Meaning, type EnumWord } from '../../schema/meaning.js';
import type { InWords } from '../../schema/words.js';

export interface FieldRow {
  /** The path of the enclosing field: `members[].`, `change.h24.`; empty at the top. */
  readonly within: string;
  readonly name: string;
  /** The type in JSON: `integer`, `array of objects`. */
  readonly json: string;
  /** What sort of value it is, of those in `TYPES`; undefined if the type in JSON says it all. */
  readonly sort: string | undefined;
  readonly unit: string | undefined;
  readonly nullable: boolean;
  readonly optional: boolean;
  readonly description: string;
  /** The words of an enum. */
  readonly words: readonly EnumWord[];
  /** What is said after the words; see `notesOf`. */
  readonly notes: string;
  /** The fields inside it. */
  readonly members: readonly FieldRow[];
}

interface Type {
  readonly name: string;
  readonly json: 'string' | 'integer' | 'number' | 'boolean';
  readonly meaning: string;
}

/** The meaning of each type, in the order of the documentation. */
export const TYPES: Readonly<Record<ValueType, Type>> = {
  id: { name: 'id', json: 'integer', meaning: 'Stable integer from 1 to 2^53 − 1.' },
  ordinal: {
    name: 'ordinal',
    json: 'integer',
    meaning: 'Integer, 1 or greater: a position in an order, or a setting.',
  },
  count: {
    name: 'count',
    json: 'integer',
    meaning: 'Integer from 0 to 2^53 − 1. Zero means that zero was measured.',
  },
  difference: { name: 'difference', json: 'integer', meaning: 'Integer, which may be negative.' },
  duration: {
    name: 'duration',
    json: 'number',
    meaning: 'Number of seconds, with up to three decimal places.',
  },
  boolean: { name: 'boolean', json: 'boolean', meaning: 'true or false.' },
  time: {
    name: 'time',
    json: 'string',
    meaning: 'Text in RFC 3339 format, in UTC and whole seconds. Sorting as text sorts by time.',
  },
  date: {
    name: 'date',
    json: 'string',
    meaning: 'A time, or a day such as 2020-09-16, which as text sorts before the times of that day.',
  },
  text: {
    name: 'text',
    json: 'string',
    meaning: 'Any Unicode text, exactly as read. It is not trimmed and not safe to use as HTML.',
  },
  enum: {
    name: 'word',
    json: 'string',
    meaning: 'One of the words listed with the field. Others may be added.',
  },
  path: { name: 'path', json: 'string', meaning: 'Path on this service, relative to its base URL.' },
  url: { name: 'URL', json: 'string', meaning: 'Absolute URL.' },
  reference: {
    name: 'URL reference',
    json: 'string',
    meaning: 'URL, either absolute or relative to that of the document.',
  },
  sha256: { name: 'SHA-256', json: 'string', meaning: 'Hash of 64 lower-case hexadecimal digits.' },
};

/** Every field of a document, with those inside it. */
export const fieldRows = ({ members }: ObjectShape, inWords: InWords): FieldRow[] =>
  members.map((shape) => rowInWords(rowOf(shape, ''), inWords));

const rowInWords = (row: FieldRow, inWords: InWords): FieldRow => ({
  ...row,
  ...meaningInWords(row, inWords),
  members: row.members.map((member) => rowInWords(member, inWords)),
});

/** What is said of a value, with the kinds in the operator's words. */
export const meaningInWords = (
  { unit, description, words, notes }: Pick<FieldRow, 'unit' | 'description' | 'words' | 'notes'>,
  inWords: InWords,
): Pick<FieldRow, 'unit' | 'description' | 'words' | 'notes'> => ({
  unit: unit && inWords(unit),
  description: inWords(description),
  words: words.map(({ word, meaning }) => ({ word, meaning: meaning && inWords(meaning) })),
  notes: inWords(notes),
});

function rowOf(shape: Shape, within: string): FieldRow {
  const { name, description, optional = false } = shape;
  const row = {
    within,
    name,
    description,
    optional,
    json: 'object',
    sort: undefined,
    unit: undefined,
    nullable: false,
    words: [],
    notes: '',
    members: [],
  };
  const inside = (shapes: readonly Shape[], mark = ''): FieldRow[] =>
    shapes.map((member) => rowOf(member, `${within}${name}${mark}.`));
  switch (shape.is) {
    case 'value':
      return { ...row, ...jsonOf(shape), ...valueRow(shape) };
    case 'values': {
      const { json, sort } = jsonOf(shape.of);
      return { ...row, ...valueRow(shape.of), description, nullable: false, json: `array of ${json}s`, sort };
    }
    case 'map':
      return { ...row, members: inside([shape.of]) };
    case 'object':
      return {
        ...row,
        nullable: shape.nullable,
        notes: notesOf(shape),
        members: inside(shape.members),
      };
    case 'list':
      return {
        ...row,
        json: 'array of objects',
        nullable: shape.nullable,
        notes: notesOf(shape),
        members: inside(shape.members, '[]'),
      };
  }
}

function jsonOf({ type }: Pick<Value, 'type'>): Pick<FieldRow, 'json' | 'sort'> {
  const { name, json } = TYPES[type];
  return { json, sort: name === json ? undefined : name };
}

/** What is said about a value, apart from its name and description. */
export const valueRow = (value: Meaning & Pick<Value, 'type'>) => ({
  type: TYPES[value.type].name,
  unit: value.unit,
  nullable: value.nullable,
  words: wordsOf(value),
  notes: notesOf(value),
});
