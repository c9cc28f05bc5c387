/** Documents as tables of fields, for people. */
import type { ValueType } from '../../schema/field.js';
import type { ObjectShape, Shape, ValueShape } from '../../schema/shape.js';

export interface FieldRow {
  /** The path of the enclosing field: `members[].`, `change.h24.`; empty at the top. */
  readonly within: string;
  readonly name: string;
  readonly type: string;
  readonly unit: string | undefined;
  readonly nullable: boolean;
  readonly optional: boolean;
  readonly description: string;
  /** The allowed values of an enum. */
  readonly values: readonly string[];
}

/** The meaning of each type, in the order of the documentation. */
export const TYPES: Readonly<Record<ValueType, { readonly name: string; readonly meaning: string }>> = {
  id: { name: 'id', meaning: 'Integer from 1 to 2^53 − 1, stable.' },
  ordinal: { name: 'ordinal', meaning: 'Integer from 1: a place in an order, or a setting.' },
  count: { name: 'count', meaning: 'Integer from 0 to 2^53 − 1. Zero is a measured zero.' },
  difference: { name: 'difference', meaning: 'Integer with a sign.' },
  duration: { name: 'duration', meaning: 'Number of seconds, to the millisecond.' },
  boolean: { name: 'boolean', meaning: 'true or false.' },
  time: {
    name: 'time',
    meaning: 'Text, RFC 3339 in UTC and whole seconds, so that text order is time order.',
  },
  text: { name: 'text', meaning: 'Any Unicode text, exactly as read: untrimmed, and not safe as HTML.' },
  enum: { name: 'word', meaning: 'One of the words listed beside it. Others may be added.' },
  path: { name: 'path', meaning: 'Path of this service, to be resolved against its base URL.' },
  url: { name: 'URL', meaning: 'Absolute URL.' },
  reference: { name: 'URL reference', meaning: 'URL, absolute or relative to where it stands.' },
  sha256: { name: 'SHA-256', meaning: 'Hash, 64 digits of lower-case hexadecimal.' },
};

/** Every field of a document; objects precede their members. */
export const fieldRows = ({ members }: ObjectShape): FieldRow[] =>
  members.flatMap((shape) => rowsOf(shape, ''));

function rowsOf(shape: Shape, within: string): FieldRow[] {
  const { name, description, optional = false } = shape;
  const row = { within, name, description, optional, unit: undefined, nullable: false, values: [] };
  switch (shape.is) {
    case 'value':
      return [{ ...row, ...valueRow(shape), nullable: shape.nullable }];
    case 'values':
      return [{ ...row, ...valueRow(shape.of), type: `list of ${TYPES[shape.of.type].name}` }];
    case 'map':
      return [{ ...row, type: 'object' }, ...rowsOf(shape.of, `${within}${name}.`)];
    case 'object':
    case 'list': {
      const isList = shape.is === 'list';
      const inside = `${within}${name}${isList ? '[]' : ''}.`;
      const own = isList
        ? { ...row, type: 'list of objects' }
        : { ...row, type: 'object', nullable: shape.nullable };
      return [own, ...shape.members.flatMap((member) => rowsOf(member, inside))];
    }
  }
}

const valueRow = ({ type, unit, values = [] }: ValueShape) => ({ type: TYPES[type].name, unit, values });
