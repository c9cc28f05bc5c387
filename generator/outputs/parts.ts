/**
 * The vocabulary of documents rendered in JavaScript: each member's name, type and meaning is
 * declared along with its value, so a document and its description can't disagree.
 */
import { NOT_MEASURED, type ObjectShape, type Shape, type ValueShape } from '../schema/shape.js';

/** One member of a document: its shape and its value. */
export interface Part<Facts> {
  readonly shape: Shape;
  /** Undefined if an optional member is left out. */
  readonly of: (facts: Facts) => unknown;
}

type ValueDetails = Partial<Pick<ValueShape, 'unit' | 'values' | 'nullable' | 'optional'>>;

/** The shape of a value. Never null unless the details say so. */
export const value = <Type extends ValueShape['type']>(
  name: string,
  type: Type,
  example: string | number | boolean,
  description: string,
  details: ValueDetails = {},
): ValueShape & { readonly type: Type } => ({
  is: 'value',
  name,
  type,
  nullable: false,
  description,
  example,
  ...details,
});

export const part = <Facts>(shape: Shape, of: Part<Facts>['of']): Part<Facts> => ({ shape, of });

/** An object of parts. */
export const nested = <Facts>(
  name: string,
  description: string,
  parts: readonly Part<Facts>[],
): Part<Facts> => ({ shape: shapeOfParts(name, description, parts), of: (facts) => valuesOf(parts, facts) });

/** A list of objects, each with its own facts. */
export const listed = <Facts, Entry>(
  name: string,
  description: string,
  parts: readonly Part<Entry>[],
  entries: (facts: Facts) => readonly Entry[] | undefined,
  details: Pick<ValueDetails, 'optional'> = {},
): Part<Facts> => ({
  shape: {
    is: 'list',
    name,
    nullable: false,
    description,
    members: parts.map(({ shape }) => shape),
    ...details,
  },
  of: (facts) => entries(facts)?.map((entry) => valuesOf(parts, entry)),
});

/** The same part, or null if what it says is not measured. */
export const ifMeasured = <Facts>(
  { shape, of }: Part<Facts>,
  isMeasured: (facts: Facts) => boolean,
): Part<Facts> => {
  if (shape.is === 'values' || shape.is === 'map') throw new TypeError(`"${shape.name}" is never null`);
  const nullMeans =
    'nullMeans' in shape && shape.nullable ? `${NOT_MEASURED}, or ${shape.nullMeans}` : NOT_MEASURED;
  return {
    shape: { ...shape, nullable: true, nullMeans },
    of: (facts) => (isMeasured(facts) ? of(facts) : null),
  };
};

/** The shape of an object of parts. */
export const shapeOfParts = <Facts>(
  name: string,
  description: string,
  parts: readonly Part<Facts>[],
): ObjectShape => ({
  is: 'object',
  name,
  nullable: false,
  description,
  members: parts.map(({ shape }) => shape),
});

/** The values of parts by name, in order. JSON omits undefined ones. */
export const valuesOf = <Facts>(parts: readonly Part<Facts>[], facts: Facts): Record<string, unknown> =>
  Object.fromEntries(parts.map(({ shape, of }) => [shape.name, of(facts)]));
