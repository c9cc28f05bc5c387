/** The part of an earlier build's snapshot.json that the publisher reads. */
import { readFileSync } from 'node:fs';
import { z } from 'zod';
import { Failure, codeOf } from '../errors.js';
import { LOG_ROUTES, hasFiles } from '../routes/index.js';
import type { Route } from '../routes/index.js';
import { BUNDLE } from '../routes/publishing.js';
import { FORMAT, locatedRoute } from '../tree/snapshot-json.js';

/** Formats the publisher can read: an older tree is upgraded, and its sequence continues. */
const READABLE = [1, 2, 3, FORMAT] as const;

/** The part of a route that locates its files and URLs. */
export type PublishedRoute = Pick<Route, 'name' | 'path' | 'file' | 'class' | 'parameters' | 'requires'>;

const schema = z.looseObject({
  format: z.literal(READABLE),
  sequence: z.int().min(1),
  as_of: z.string().nullable(),
  built_at: z.string(),
  digest: z.string(),
  tree: z.object({ id: z.string().exactOptional(), files: z.int(), bytes: z.int() }),
  /** The snapshot of the bulk downloads: the last that wrote them or left none of them stale. */
  downloads: z.looseObject({ sequence: z.int().min(1), digest: z.string().exactOptional() }).exactOptional(),
  /** Documents of at least this size have compressed siblings. */
  compressed_from: z.int().exactOptional(),
  /** Where the signed log is, and with which keys it can be verified. */
  log: z.object({ path: z.string(), origin: z.string(), keys: z.array(z.string()) }).exactOptional(),
  routes: z.array(locatedRoute),
});

export type Manifest = z.infer<typeof schema>;

/**
 * @returns a tree's snapshot.json; undefined if there is none
 * @throws Failure invalid: this generator did not write it
 */
export function readManifest(file: string): Manifest | undefined {
  let content: string;
  try {
    content = readFileSync(file, 'utf8');
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return undefined;
    throw error;
  }
  const value = json(content);
  const result = schema.safeParse(value);
  if (result.success) return result.data;
  const { format } = z.object({ format: z.int() }).safeParse(value).data ?? {};
  if (format !== undefined && format > FORMAT) {
    throw Failure.invalid(
      `"${file}" is of format ${format}, of a newer version: expected ${FORMAT} at most, so use that version`,
    );
  }
  throw Failure.invalid(
    `"${file}" ${value === undefined ? 'is not JSON' : 'was not written by this program'}${damageOf(result.error)}: ` +
      'if its folder is a published tree, "npm run snapshot -- verify --repair" repairs it, otherwise choose another',
  );
}

/** Where the first damage is. */
function damageOf({ issues }: z.ZodError): string {
  const path = issues[0]?.path.join('.') ?? '';
  return path === '' ? '' : ` (see "${path}")`;
}

function json(content: string): unknown {
  try {
    return JSON.parse(content);
  } catch {
    return undefined;
  }
}

/** The publisher's own routes, derived from the commit instead of the register. */
const OWN = new Set([
  'snapshot',
  'changes',
  'change-list',
  BUNDLE.name,
  'feed-snapshots',
  'feed-snapshots-json',
  ...LOG_ROUTES.map(({ name }) => name),
]);
export const isOwn = ({ name }: Pick<PublishedRoute, 'name'>): boolean => OWN.has(name);

/** Whether a route is one of the signed log. Its files have names that are no keys. */
export const isLog = ({ name }: Pick<PublishedRoute, 'name'>): boolean =>
  LOG_ROUTES.some((route) => route.name === name);

/** Whether a table has the log: then the chunks of documents are published. */
export const hasLog = (routes: readonly Pick<PublishedRoute, 'name'>[]): boolean => routes.some(isLog);

/** Begins the names of routes to assets of the previous snapshot (see former-assets.ts). */
export const FORMER = 'former-';
export const isFormer = ({ name }: Pick<PublishedRoute, 'name'>): boolean => name.startsWith(FORMER);

/** Whether a route has documents: files that the index lists. */
export const isRendered = (route: Pick<PublishedRoute, 'name' | 'requires'>): boolean =>
  hasFiles(route) && !isOwn(route) && !isFormer(route);

/** A route whose documents are compared with those of the previous snapshot. */
export interface ComparedRoute {
  readonly route: PublishedRoute;
  /** The name of its index in the previous snapshot, if files and URLs are the same there. */
  readonly index: string | undefined;
  /** Whether the next snapshot no longer has the route; then its name gets a prefix. */
  readonly isFormer: boolean;
  /** The paths of pages that are there only along with a document of the route. */
  readonly pages: readonly string[];
}

/** The routes of the next snapshot, and those that only the previous one has. */
export function comparedRoutes(
  previous: readonly PublishedRoute[],
  next: readonly PublishedRoute[],
): readonly ComparedRoute[] {
  const routes = next.filter(isRendered);
  const old = previous.filter(isRendered);
  const isSame = (one: PublishedRoute, other: PublishedRoute): boolean =>
    one.name === other.name && one.path === other.path && one.file === other.file;
  const pagesOf = ({ name }: PublishedRoute, table: readonly PublishedRoute[]): readonly string[] =>
    table.flatMap(({ requires, path }) => (requires === name ? [path] : []));
  return [
    ...routes.map((route) => {
      const index = old.some((other) => isSame(route, other)) ? route.name : undefined;
      return { route, index, isFormer: false, pages: pagesOf(route, next) };
    }),
    ...old
      .filter((route) => !routes.some((other) => isSame(route, other)))
      .map((route) => ({
        route: { ...route, name: FORMER + route.name },
        index: route.name,
        isFormer: true,
        pages: pagesOf(route, previous),
      })),
  ];
}
