/** Documents as tables of fields, for people. */
import type { Value, ValueType } from '../../schema/field.js';
import { notesOf, wordsOf } from '../../schema/meaning.js';
import type { Meaning, Word } from '../../schema/meaning.js';
import type { ObjectShape, Shape } from '../../schema/shape.js';

export interface FieldRow {
  /** The path of the enclosing field: `members[].`, `change.h24.`; empty at the top. */
  readonly within: string;
  readonly name: string;
  readonly type: string;
  readonly unit: string | undefined;
  readonly nullable: boolean;
  readonly optional: boolean;
  readonly description: string;
  /** The words of an enum. */
  readonly words: readonly Word[];
  /** What is said after the words; see `notesOf`. */
  readonly notes: string;
}

/** The meaning of each type, in the order of the documentation. */
export const TYPES: Readonly<Record<ValueType, { readonly name: string; readonly meaning: string }>> = {
  id: { name: 'id', meaning: 'Stable integer from 1 to 2^53 − 1.' },
  ordinal: { name: 'ordinal', meaning: 'Integer, 1 or greater: a position in an order, or a setting.' },
  count: { name: 'count', meaning: 'Integer from 0 to 2^53 − 1. Zero means that zero was measured.' },
  difference: { name: 'difference', meaning: 'Integer, which may be negative.' },
  duration: { name: 'duration', meaning: 'Number of seconds, with up to three decimal places.' },
  boolean: { name: 'boolean', meaning: 'true or false.' },
  time: {
    name: 'time',
    meaning: 'Text in RFC 3339 format, in UTC and whole seconds. Sorting as text sorts by time.',
  },
  text: {
    name: 'text',
    meaning: 'Any Unicode text, exactly as read. It is not trimmed and not safe to use as HTML.',
  },
  enum: { name: 'word', meaning: 'One of the words listed with the field. Others may be added.' },
  path: { name: 'path', meaning: 'Path on this service, relative to its base URL.' },
  url: { name: 'URL', meaning: 'Absolute URL.' },
  reference: { name: 'URL reference', meaning: 'URL, either absolute or relative to that of the document.' },
  sha256: { name: 'SHA-256', meaning: 'Hash of 64 lower-case hexadecimal digits.' },
};

/** Every field of a document; objects precede their members. */
export const fieldRows = ({ members }: ObjectShape): FieldRow[] =>
  members.flatMap((shape) => rowsOf(shape, ''));

function rowsOf(shape: Shape, within: string): FieldRow[] {
  const { name, description, optional = false } = shape;
  const row = { within, name, description, optional, unit: undefined, nullable: false, words: [], notes: '' };
  switch (shape.is) {
    case 'value':
      return [{ ...row, ...valueRow(shape) }];
    case 'values':
      return [
        { ...row, ...valueRow(shape.of), nullable: false, type: `list of ${TYPES[shape.of.type].name}` },
      ];
    case 'map':
      return [{ ...row, type: 'object' }, ...rowsOf(shape.of, `${within}${name}.`)];
    case 'object':
    case 'list': {
      const isList = shape.is === 'list';
      const inside = `${within}${name}${isList ? '[]' : ''}.`;
      const own = isList
        ? { ...row, type: 'list of objects' }
        : { ...row, type: 'object', nullable: shape.nullable, notes: notesOf(shape) };
      return [own, ...shape.members.flatMap((member) => rowsOf(member, inside))];
    }
  }
}

/** What a table says about a value, apart from its name and description. */
export const valueRow = (value: Meaning & Pick<Value, 'type'>) => ({
  type: TYPES[value.type].name,
  unit: value.unit,
  nullable: value.nullable,
  words: wordsOf(value),
  notes: notesOf(value),
});
