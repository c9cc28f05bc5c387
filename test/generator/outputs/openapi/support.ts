/** The published description as a value, and a judge of documents by it. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js';
import formats from 'ajv-formats';
import * as z from 'zod';

const reference = z.strictObject({ $ref: z.string().startsWith('#/components/') });
const header = z.strictObject({
  description: z.string().min(1),
  required: z.literal(true).optional(),
  schema: z.strictObject({ type: z.literal('string') }),
  example: z.string().min(1),
});
const example = z.strictObject({ summary: z.string(), value: z.unknown() });
const media = z.strictObject({
  schema: z.union([reference, z.strictObject({ type: z.string(), description: z.string().optional() })]),
  example: z.unknown().optional(),
  examples: z.record(z.string(), example).optional(),
});
const link = z.object({ operationId: z.string(), parameters: z.record(z.string(), z.string()) });
const response = z.strictObject({
  description: z.string().min(1),
  headers: z.record(z.string(), reference),
  content: z.record(z.string(), media).optional(),
  links: z.record(z.string(), link).optional(),
});
const parameter = z.strictObject({
  name: z.string(),
  in: z.enum(['path', 'query', 'header']),
  description: z.string().min(1),
  required: z.literal(true).optional(),
  schema: z.record(z.string(), z.unknown()),
  example: z.union([z.number(), z.string()]).optional(),
});
const operation = z.strictObject({
  operationId: z.string(),
  summary: z.string(),
  description: z.string().optional(),
  tags: z.tuple([z.string()]),
  parameters: z.array(z.union([reference, parameter])),
  responses: z.record(z.string(), z.union([reference, response])),
  'x-csv-columns': z.record(z.string(), z.record(z.string(), z.string())).optional(),
});
const description = z.strictObject({
  openapi: z.string(),
  info: z.record(z.string(), z.unknown()),
  externalDocs: z.object({ description: z.string(), url: z.string() }),
  servers: z.tuple([z.object({ url: z.string() })]),
  security: z.tuple([]),
  tags: z.array(z.object({ name: z.string(), description: z.string() })),
  paths: z.record(z.string(), z.strictObject({ get: operation })),
  components: z.strictObject({
    schemas: z.record(z.string(), z.record(z.string(), z.unknown())),
    headers: z.record(z.string(), header),
    responses: z.record(z.string(), response),
    parameters: z.record(z.string(), parameter),
  }),
});

export type Description = z.infer<typeof description>;
export type Response = z.infer<typeof response>;
type Parameter = z.infer<typeof parameter>;
type Operation = z.infer<typeof operation>;

export const readDescription = (dist: string): Description =>
  description.parse(JSON.parse(readFileSync(join(dist, 'api/v1/openapi.json'), 'utf8')));

const nameIn = ({ $ref }: { readonly $ref: string }): string => $ref.split('/').at(-1) ?? '';

export function named<T extends object>(
  components: Readonly<Record<string, T>>,
  value: NoInfer<T> | z.infer<typeof reference>,
): T {
  if (!('$ref' in value)) return value;
  const found = components[nameIn(reference.parse(value))];
  if (found === undefined) throw new Error(`no component "${JSON.stringify(value)}"`);
  return found;
}

export function responseOf(
  { paths, components }: Description,
  path: string,
  status: number | 'default',
): Response {
  const found = paths[path]?.get.responses[String(status)];
  if (found === undefined) throw new Error(`${path} is not said to be answered with ${status}`);
  return named(components.responses, found);
}

/** The operation's own parameter, in its path or query; undefined where it has none. */
export const parameterOf = ({ parameters }: Operation): Parameter | undefined =>
  parameters.find((candidate): candidate is Parameter => 'name' in candidate && candidate.in !== 'header');

/** The name of the schema of what a path answers; undefined where nothing is said of it. */
export function schemaNameOf(description: Description, path: string): string | undefined {
  const content = Object.values(responseOf(description, path, 200).content ?? {})[0];
  return content?.schema && '$ref' in content.schema ? nameIn(content.schema) : undefined;
}

type Json = Readonly<Record<string, unknown>>;

const isObject = (value: unknown): value is Json =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** The same schema, allowing only what it names: clients must bear new fields, tests must not. */
function closed(schema: unknown): unknown {
  if (Array.isArray(schema)) return schema.map(closed);
  if (!isObject(schema)) return schema;
  const { anyOf } = schema;
  if (Array.isArray(anyOf) && anyOf.some((each) => isObject(each) && 'enum' in each))
    return closedWords(schema);
  const inside = Object.fromEntries(Object.entries(schema).map(([key, value]) => [key, closed(value)]));
  return isObject(schema['properties']) ? { ...inside, additionalProperties: false } : inside;
}

/** `anyOf` of some words and any text: the words alone, and null if any text may be null. */
function closedWords({ anyOf, ...rest }: Json): Json {
  const [words, any] = z
    .tuple([z.strictObject({ type: z.literal('string'), enum: z.array(z.string()).min(1) }), openText])
    .parse(anyOf);
  return { ...rest, enum: any.type === 'string' ? words.enum : [...words.enum, null] };
}

const openText = z.strictObject({
  type: z.union([z.literal('string'), z.tuple([z.literal('string'), z.literal('null')])]),
});

/** Says what is wrong with a value by a schema of the description; an empty list where nothing is. */
export type Judge = (schema: string, value: unknown) => readonly string[];

export function validator(): Ajv2020 {
  const ajv = new Ajv2020({ allErrors: true, strict: false });
  formats.default(ajv);
  return ajv;
}

/** Judges by the published schemas, allowing only what they name. */
export function judge(description: Description): Judge {
  const ajv = validator();
  ajv.addSchema({ $id: 'openapi', components: { schemas: closed(description.components.schemas) } });
  const compiled = new Map<string, ValidateFunction>();
  return (schema, value) => {
    const validate = compiled.get(schema) ?? ajv.compile({ $ref: `openapi#/components/schemas/${schema}` });
    compiled.set(schema, validate);
    validate(value);
    return (validate.errors ?? []).map(({ instancePath, message = '' }) => `${instancePath} ${message}`);
  };
}

/** Every place of a document that a schema names, lists as `[]`: `owner.name`, `members[].measured_at`. */
export function placesIn(description: Description, schema: unknown, at = ''): string[] {
  if (!isObject(schema)) return [];
  if (typeof schema['$ref'] === 'string') {
    return placesIn(description, description.components.schemas[nameIn({ $ref: schema['$ref'] })], at);
  }
  if (Array.isArray(schema['oneOf'])) return schema['oneOf'].flatMap((one) => placesIn(description, one, at));
  if (isObject(schema['items'])) return [`${at}[]`, ...placesIn(description, schema['items'], `${at}[]`)];
  if (!isObject(schema['properties'])) return [];
  return Object.entries(schema['properties']).flatMap(([name, member]) => {
    const place = at === '' ? name : `${at}.${name}`;
    return [place, ...placesIn(description, member, place)];
  });
}

/** Every place of a document that holds something, in the same words. */
export function placesOf(value: unknown, at = ''): string[] {
  if (Array.isArray(value)) return value.flatMap((entry) => [`${at}[]`, ...placesOf(entry, `${at}[]`)]);
  if (!isObject(value)) return [];
  return Object.entries(value).flatMap(([name, member]) => {
    const place = at === '' ? name : `${at}.${name}`;
    return [place, ...placesOf(member, place)];
  });
}
