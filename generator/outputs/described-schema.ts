/** The shape of a document that a schema checks as well: snapshot.json and /changes/index.json. */
import * as z from 'zod';
import type { ObjectShape, Shape, ValueShape } from '../schema/shape.js';
import { meaningOf, type MemberMeaning } from '../tree/values.js';

type ZodSchema = z.core.$ZodType;

/** Shapes of members by name, in place of those that would follow; undefined leaves a member out. */
export type Replaced = Readonly<Record<string, Shape | undefined>>;

/** A schema within what may surround it, and what that says. */
interface Inner {
  readonly schema: ZodSchema;
  readonly meaning: MemberMeaning;
  readonly nullable: boolean;
  readonly isOptional: boolean;
}

function innerOf(schema: ZodSchema): Inner {
  const inner =
    schema instanceof z.ZodPipe
      ? schema.out
      : schema instanceof z.ZodExactOptional ||
          schema instanceof z.ZodNullable ||
          schema instanceof z.ZodDefault
        ? schema.unwrap()
        : undefined;
  if (inner === undefined) return { schema, meaning: meaningOf(schema), nullable: false, isOptional: false };
  const found = innerOf(inner);
  return {
    schema: found.schema,
    meaning: { ...found.meaning, ...meaningOf(schema) },
    nullable: found.nullable || schema instanceof z.ZodNullable,
    isOptional: found.isOptional || schema instanceof z.ZodExactOptional,
  };
}

/** The members of an object's schema. */
function membersOf(schema: z.ZodObject, replaced: Replaced): readonly Shape[] {
  return Object.entries<ZodSchema>(schema.shape).flatMap(([name, of]) =>
    name in replaced ? (replaced[name] ?? []) : shapeOf(name, of, replaced),
  );
}

/** @throws TypeError: a schema of another type than published documents have */
export const documentShape = (name: string, of: z.ZodObject, replaced: Replaced): ObjectShape => ({
  is: 'object',
  name,
  nullable: false,
  description: meaningOf(of).description ?? '',
  members: membersOf(of, replaced),
});

function shapeOf(name: string, of: ZodSchema, replaced: Replaced): Shape {
  const { schema, meaning, nullable, isOptional } = innerOf(of);
  const { description = '' } = meaning;
  const named = {
    name,
    description,
    ...(isOptional && { optional: true as const }),
  };
  if (schema instanceof z.ZodObject)
    return { ...named, is: 'object', nullable, members: membersOf(schema, replaced) };
  if (schema instanceof z.ZodRecord)
    return { ...named, is: 'map', of: elementOf(schema.valueType, replaced) };
  if (schema instanceof z.ZodArray) {
    const element = elementOf(schema.element, replaced);
    if (element.is === 'object') return { ...named, is: 'list', nullable, members: element.members };
    if (element.is === 'value') return { ...named, is: 'values', of: element };
  }
  const { example, unit } = meaning;
  return {
    ...named,
    is: 'value',
    ...typeOf(schema, meaning),
    nullable,
    ...(example !== undefined && { example }),
    ...(unit !== undefined && { unit }),
  };
}

const elementOf = (schema: ZodSchema, replaced: Replaced): Shape =>
  shapeOf(innerOf(schema).meaning.name ?? '', schema, replaced);

function typeOf(schema: ZodSchema, { type }: MemberMeaning): Pick<ValueShape, 'type' | 'values'> {
  if (schema instanceof z.ZodEnum) return { type: 'enum', values: schema.options.map(String) };
  if (schema instanceof z.ZodString) return { type: type ?? 'text' };
  if (schema instanceof z.ZodLiteral) return { type: 'ordinal' };
  if (schema instanceof z.ZodNumber) {
    if (!schema.isInt) return { type: 'duration' };
    return { type: (schema.minValue ?? 0) > 0 ? 'ordinal' : 'count' };
  }
  throw new TypeError('the schema has a type that no document has');
}
