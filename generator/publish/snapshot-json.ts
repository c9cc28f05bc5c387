/** What publishing itself reads of a snapshot.json that an earlier build wrote. */
import { readFileSync } from 'node:fs';
import { z } from 'zod';
import { Failure, codeOf } from '../errors.js';
import { CACHE_CLASSES } from '../routes/index.js';
import type { Route } from '../routes/index.js';

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
  /** The snapshot that the bulk downloads are of: the last that wrote them, or left none of them behind. */
  downloads: z.looseObject({ sequence: z.int().min(1) }).exactOptional(),
  /** Documents from this size on have compressed siblings. */
  compressed_from: z.int().exactOptional(),
  routes: z.array(
    z.looseObject({
      name: z.string().regex(/^[\w-]+$/),
      path: z.string(),
      file: z
        .string()
        .regex(/^[^:]*$/, 'files in 1,000 folders are no longer supported: delete the tree and build anew'),
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

/** Files of the publisher's own, which follow from a commit instead of from the register. */
const OWN = new Set(['snapshot', 'changes', 'change-list', 'feed-snapshots', 'feed-snapshots-json']);
export const isRendered = ({ name }: Pick<PublishedRoute, 'name'>): boolean => !OWN.has(name);

/** A route whose documents are compared with those of the last snapshot. */
export interface ComparedRoute {
  readonly route: PublishedRoute;
  /** The name of the last snapshot's index of it, if that has the same files at the same URLs. */
  readonly index: string | undefined;
  /** Whether the next snapshot has it no more; it is named so that it can't be taken for another. */
  readonly isFormer: boolean;
}

/** The routes of the next snapshot, and those that only the last has. */
export function comparedRoutes(
  previous: Manifest | undefined,
  next: readonly PublishedRoute[],
): readonly ComparedRoute[] {
  const routes = next.filter(isRendered);
  const old = (previous?.routes ?? []).filter(isRendered);
  const isSame = (one: PublishedRoute, other: PublishedRoute): boolean =>
    one.name === other.name && one.path === other.path && one.file === other.file;
  return [
    ...routes.map((route) => {
      const index = old.some((other) => isSame(route, other)) ? route.name : undefined;
      return { route, index, isFormer: false };
    }),
    ...old
      .filter((route) => !routes.some((other) => isSame(route, other)))
      .map((route) => ({
        route: { ...route, name: `former-${route.name}` },
        index: route.name,
        isFormer: true,
      })),
  ];
}
