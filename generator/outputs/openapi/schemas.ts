/** Converts shapes of documents to JSON Schema (2020-12, as in OpenAPI 3.1). */
import { MAX_INTEGER, type ObjectShape, type Shape, type ValueShape } from '../../schema/shape.js';
import { meaningOf } from '../../schema/meaning.js';

export type Schema = Readonly<Record<string, unknown>>;

/** `group-history` -> `GroupHistory`, `not_found` -> `NotFound`. */
export const pascal = (name: string): string =>
  name.replaceAll(/(?:^|[-_ ])(\w)/g, (_, letter: string) => letter.toUpperCase());

/** Without a format: generators make a BigInt of int64, and every value fits a JavaScript number. */
const integer = (minimum: number): Schema => ({
  type: 'integer',
  minimum,
  maximum: MAX_INTEGER,
});

/** The schema of a value's type. An `enum` is any text, a `date` a day: words and times are in `schemaOfValue`. */
export function typeOf({ type }: Pick<ValueShape, 'type'>): Schema {
  switch (type) {
    case 'id':
    case 'ordinal':
      return integer(1);
    case 'count':
      return integer(0);
    case 'difference':
      return integer(-MAX_INTEGER);
    case 'duration':
      return { type: 'number', minimum: 0.001 };
    case 'boolean':
      return { type: 'boolean' };
    case 'time':
      return { type: 'string', format: 'date-time' };
    case 'date':
      return { type: 'string', format: 'date' };
    case 'text':
    case 'enum':
      return { type: 'string' };
    case 'path':
    case 'reference':
      return { type: 'string', format: 'uri-reference' };
    case 'url':
      return { type: 'string', format: 'uri' };
    case 'sha256':
      return { type: 'string', pattern: '^[0-9a-f]{64}$' };
  }
}

function schemaOfValue(value: ValueShape, priceUnit: string | undefined): Schema {
  const { nullable, values, example } = value;
  const type = typeOf(value);
  const any = nullable ? { ...type, type: [type['type'], 'null'] } : type;
  // Other words may be added: a client that validates must accept them.
  const known = values === undefined ? [] : [{ ...type, enum: values }];
  const options = value.type === 'date' ? [typeOf({ type: 'time' })] : known;
  return {
    ...(options.length === 0 ? any : { anyOf: [...options, any] }),
    description: meaningOf(value, priceUnit) + (value.type === 'date' ? ' A time, or a day.' : ''),
    ...(example === undefined ? {} : { examples: [example] }),
  };
}

/** Schemas that appear in the document once, by name. */
export class Schemas {
  readonly #priceUnit: string | undefined;
  readonly #named = new Map<string, Schema>();
  /** Names of objects that occur several times, by content. */
  readonly #shared = new Map<string, string>();

  /** @param priceUnit what prices are counted in, if the operator says so */
  constructor(documents: readonly ObjectShape[], priceUnit?: string) {
    this.#priceUnit = priceUnit;
    const met = new Map<string, Set<ObjectShape>>();
    for (const shape of documents.flatMap(({ members }) => members.flatMap(objectsIn))) {
      const key = contentOf(shape);
      met.set(key, (met.get(key) ?? new Set()).add(shape));
    }
    const taken = new Set(documents.map(({ name }) => pascal(name)));
    for (const [key, [first, ...others]] of met) {
      if (first === undefined || others.length === 0) continue;
      const name = pascal(first.name);
      if (taken.has(name)) continue;
      taken.add(name);
      this.#shared.set(key, name);
      this.#named.set(name, this.#object({ ...first, nullable: false }));
    }
    for (const document of documents) this.#named.set(pascal(document.name), this.#object(document));
  }

  /** By name, in alphabetical order. */
  get components(): Readonly<Record<string, Schema>> {
    return Object.fromEntries([...this.#named].toSorted(([a], [b]) => (a < b ? -1 : 1)));
  }

  #object(shape: ObjectShape): Schema {
    const { members, nullable } = shape;
    return {
      type: nullable ? ['object', 'null'] : 'object',
      description: meaningOf(shape),
      required: members.filter(({ optional }) => optional === undefined).map(({ name }) => name),
      properties: Object.fromEntries(members.map((member) => [member.name, this.#schemaOf(member)])),
    };
  }

  #schemaOf(shape: Shape): Schema {
    switch (shape.is) {
      case 'value':
        return schemaOfValue(shape, this.#priceUnit);
      case 'object': {
        const shared = this.#shared.get(contentOf(shape));
        if (shared === undefined) return this.#object(shape);
        const object = referTo('schemas', shared);
        return shape.nullable ? { description: meaningOf(shape), oneOf: [object, { type: 'null' }] } : object;
      }
      case 'list':
        return {
          type: shape.nullable ? ['array', 'null'] : 'array',
          description: meaningOf(shape),
          items: this.#object({ ...shape, is: 'object', nullable: false, description: 'One entry.' }),
        };
      case 'values':
        return {
          type: 'array',
          description: shape.description,
          items: schemaOfValue(shape.of, this.#priceUnit),
        };
      case 'map':
        return {
          type: 'object',
          description: shape.description,
          additionalProperties: this.#schemaOf(shape.of),
        };
    }
  }
}

/** A reference to a component. */
export const referTo = (section: string, name: string): Schema => ({
  $ref: `#/components/${section}/${name}`,
});

const objectsIn = (shape: Shape): ObjectShape[] => {
  if (shape.is === 'object') return [shape, ...shape.members.flatMap(objectsIn)];
  if (shape.is === 'map') return objectsIn(shape.of);
  return shape.is === 'list' ? shape.members.flatMap(objectsIn) : [];
};

/** The identity of an object: its name and members, but not whether it may be null. */
const contentOf = ({ name, members }: ObjectShape): string => JSON.stringify([name, members]);
