/** What edge servers need to know of a published tree; all of it is in its snapshot.json. */
import { basename } from 'node:path/posix';
import { z } from 'zod';
import { Failure } from '../errors.js';
import {
  FORMAT,
  describedRoute,
  headersByClass,
  readManifest,
  servicePath,
} from '../publish/snapshot-json.js';
import type { Tree } from '../publish/tree.js';
import { BUCKETS } from '../routes/index.js';

const headers = z.record(z.string(), z.string());
const limit = z.object({ tokens: z.int().min(1), refill_seconds: z.number().positive() });

const schema = z
  .object({
    format: z.literal(FORMAT),
    sequence: z.int(),
    service: z.object({ base_url: z.string(), docs: z.string() }),
    limits: z.record(z.enum(BUCKETS), limit),
    headers: z.object({
      all: headers,
      options: headers,
      not_found: headers,
      error: headers,
      content: headersByClass,
    }),
    errors: z.record(
      z.string(),
      z.object({
        status: z.int(),
        title: z.string(),
        detail: z.string(),
        page: servicePath.exactOptional(),
      }),
    ),
    problems_below: z.array(servicePath).default([]),
    routes: z.array(
      describedRoute.extend({
        path: servicePath,
        bucket: z.enum(BUCKETS),
        headers,
        absent: z.string().exactOptional(),
      }),
    ),
    redirects: z.array(z.object({ path: servicePath, to: servicePath })).default([]),
  })
  .refine(({ headers: { content }, routes }) => routes.every((route) => route.class in content), {
    path: ['headers', 'content'],
  });

/** A limit as it is published: `tokens` at once, and one back every `refill_seconds`. */
export type EdgeLimit = z.infer<typeof limit>;
export type Published = z.infer<typeof schema>;
export type EdgeRoute = Published['routes'][number];

/**
 * Reads the tree's snapshot.json.
 * @throws Failure invalid: this version did not write it; environment: there is no tree
 */
export function readPublished(tree: Tree): Published {
  tree.requirePublished();
  const result = schema.safeParse(readManifest(tree.manifest));
  if (!result.success) {
    const place = result.error.issues[0]?.path.join('.');
    throw Failure.invalid(
      `"${tree.manifest}" lacks "${place}", which edge servers need: build the tree again`,
    );
  }
  return result.data;
}

/**
 * The route whose document must be there as well; undefined if the route requires none.
 * @throws Failure invalid: the tree has no such route
 */
export function requiredBy({ routes }: Published, { requires }: EdgeRoute): EdgeRoute | undefined {
  if (requires === undefined) return undefined;
  const required = routes.find(({ name }) => name === requires);
  if (required === undefined)
    throw Failure.invalid(`snapshot.json has no route "${requires}": build the tree again`);
  return required;
}

/** The value of the header Link by which a page names the document that it requires. */
export const alternateLink = ({ path, type }: EdgeRoute): string =>
  `<${path}>; rel="alternate"; type="${type.replace(/;.*/, '')}"`;

/**
 * The headers of a route's 200 and 206, besides those of its class. The name of a download has no
 * date here: that changes with each snapshot, and a configuration shouldn't.
 */
export function contentHeaders({ headers, attachment, path }: EdgeRoute): Readonly<Record<string, string>> {
  if (attachment === undefined) return headers;
  return { ...headers, 'Content-Disposition': `attachment; filename="${basename(path)}"` };
}

/**
 * An error as problem details (RFC 9457), without `instance`: edge servers can't escape what a
 * client sent.
 */
export function problemOf({ errors, service }: Published, code: string, detail?: string) {
  const declared = errors[code];
  if (declared === undefined)
    throw Failure.invalid(`snapshot.json has no error "${code}": build the tree again`);
  const { status, title } = declared;
  const type = `${service.base_url.replace(/\/$/, '')}${service.docs}#error-${code}`;
  return { status, problem: { type, title, status, detail: detail ?? declared.detail, error: code } };
}
