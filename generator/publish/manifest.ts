/** What publishing itself reads of a snapshot.json that an earlier build wrote. */
import { readFileSync } from 'node:fs';
import { z } from 'zod';
import { Failure, codeOf } from '../errors.js';
import { CACHE_CLASSES, LAYOUTS } from '../routes.js';
import type { Route } from '../routes.js';

/** The version of the tree's layout and of snapshot.json. */
export const FORMAT = 3;
/** The same as far as publishing reads it: a tree of before stays where the counting goes on. */
const READABLE = [1, 2, FORMAT] as const;

/** As much of a route as finds its files and URLs again. */
export type PublishedRoute = Pick<Route, 'name' | 'path' | 'file' | 'class' | 'parameters'>;

const parameter = z.discriminatedUnion('in', [
  z.discriminatedUnion('type', [
    z.object({ name: z.string(), in: z.literal('path'), type: z.literal('id'), description: z.string() }),
    z.object({
      name: z.literal('month'),
      in: z.literal('path'),
      type: z.literal('month'),
      description: z.string(),
    }),
  ]),
  z.object({
    name: z.string(),
    in: z.literal('query'),
    type: z.literal('integer'),
    minimum: z.number(),
    maximum: z.number(),
    default: z.number(),
    description: z.string(),
  }),
]);

const schema = z.looseObject({
  format: z.literal(READABLE),
  sequence: z.int().min(1),
  as_of: z.string().nullable(),
  built_at: z.string(),
  digest: z.string(),
  tree: z.object({ files: z.int(), bytes: z.int() }),
  layout: z.enum(LAYOUTS).exactOptional(),
  /** The snapshot that the bulk downloads are of: the last that wrote them, or left none of them behind. */
  downloads: z.looseObject({ sequence: z.int().min(1) }).exactOptional(),
  /** Documents from this size on have compressed siblings. */
  compressed_from: z.int().exactOptional(),
  routes: z.array(
    z.looseObject({
      name: z.string().regex(/^[\w-]+$/),
      path: z.string(),
      file: z.string(),
      class: z.enum(CACHE_CLASSES),
      parameters: z.array(parameter).exactOptional(),
    }),
  ),
});

export type Manifest = z.infer<typeof schema>;

/**
 * A tree's snapshot.json; undefined where there is none.
 * @throws Failure invalid: it is none that this generator wrote
 */
export function readManifest(file: string): Manifest | undefined {
  let content: string;
  try {
    content = readFileSync(file, 'utf8');
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return undefined;
    throw error;
  }
  const result = schema.safeParse(json(content));
  if (result.success) return result.data;
  const [issue] = result.error.issues;
  throw Failure.invalid(
    `"${file}" is no snapshot this generator wrote (${issue?.path.join('.') ?? ''}: ${issue?.message ?? 'invalid'})`,
  );
}

function json(content: string): unknown {
  try {
    return JSON.parse(content);
  } catch {
    return undefined;
  }
}
