import { z } from 'zod';

import { CACHE_CLASSES } from './headers.js';
import { compileRoutes, type RouteDeclaration, type RouteTable } from './routes.js';

/** snapshot.json, the contract between the generator and this proxy, as far as the proxy reads it. Pure. */

/** Relative to the tree's root; written last, so everything it names is there. */
export const SNAPSHOT_FILE = 'snapshot.json';

/**
 * The format this proxy reads. Keys it does not know are left alone; a change of meaning comes with a new
 * number.
 */
export const SNAPSHOT_FORMAT = 1;

/** A snapshot.json that can't be served by. The message is one line for the operator. */
export class SnapshotError extends Error {
  override name = 'SnapshotError';
}

/** Values end up in headers, where anything else would break or split the answer. */
const printable = z.string().regex(/^[ -~]+$/, 'expected printable ASCII');
const urlCharacters = /^[!#-;=?-Z_a-z~]+$/;
const httpUrl = z
  .string()
  .regex(urlCharacters)
  .regex(/^https?:\/\/[^/]/, 'expected a http or https URL');
const urlPath = z
  .string()
  .regex(urlCharacters)
  .regex(/^\/(?!\/)/, 'expected a path that starts with one "/"');

const limit = z.object({
  tokens: z.int().min(1).max(1_000_000),
  /** Whole milliseconds of it count; the limiter's sums are integers. */
  refill_seconds: z.number().min(0.001).max(86_400),
});

const parameter = z.discriminatedUnion('in', [
  z.object({ in: z.literal('path'), name: z.string(), type: z.enum(['id', 'month']) }),
  z
    .object({
      in: z.literal('query'),
      name: z.string(),
      type: z.literal('integer'),
      minimum: z.int().min(0),
      maximum: z.int(),
      default: z.int(),
    })
    .refine((query) => query.minimum <= query.default && query.default <= query.maximum, {
      error: 'expected minimum <= default <= maximum',
    }),
]);

const route = z.object({
  name: z.string(),
  path: z.string(),
  file: z.string(),
  class: z.enum(CACHE_CLASSES),
  type: printable,
  /** What a browser shall save it as. */
  attachment: z
    .string()
    .regex(/^[\w.-]+$/, 'expected a plain file name')
    .optional(),
  parameters: z.array(parameter).default([]),
  example: z.string().optional(),
});

const snapshot = z.object({
  sequence: z.int().min(0),
  as_of: z.string().nullable(),
  built_at: z.iso.datetime(),
  service: z.object({
    // With or without a slash at its end; paths are appended to it.
    base_url: httpUrl.transform((url) => url.replace(/\/$/, '')),
    docs: urlPath,
    description: urlPath,
    licence: z.object({ url: httpUrl }),
  }),
  limits: z.object({ api: limit, download: limit }),
  compressed_from: z.int().min(0).optional(),
  routes: z.array(route).min(1),
});

/** A snapshot, checked, with its routes ready for use. */
export interface Snapshot {
  /** Counts the snapshots published. */
  readonly sequence: number;
  /** Time of the newest reading in it; null for an empty register. */
  readonly as_of: string | null;
  /** When it was published. */
  readonly built_at: string;
  readonly service: {
    /** Absolute, without a slash at its end. */
    readonly base_url: string;
    /** Paths of the page for developers and of the OpenAPI document. */
    readonly docs: string;
    readonly description: string;
    readonly licence: { readonly url: string };
  };
  readonly limits: Readonly<
    Record<'api' | 'download', { readonly tokens: number; readonly refill_seconds: number }>
  >;
  /**
   * A file of at least so many bytes, unless it is a download, has compressed siblings; undefined if none
   * has.
   */
  readonly compressed_from?: number | undefined;
  readonly routes: readonly RouteDeclaration[];
  readonly table: RouteTable;
}

/**
 * @param text the content of snapshot.json
 * @throws SnapshotError if it is of another format, or malformed, or could name a file outside the tree
 */
export function parseSnapshot(text: string): Snapshot {
  let json: unknown;
  try {
    json = JSON.parse(text);
  } catch {
    throw new SnapshotError(`${SNAPSHOT_FILE} is no JSON`);
  }
  const format = z.object({ format: z.int() }).safeParse(json);
  if (!format.success)
    throw new SnapshotError(`${SNAPSHOT_FILE} has no format number: expected one at "format"`);
  if (format.data.format !== SNAPSHOT_FORMAT) {
    throw new SnapshotError(
      `tree is of format ${format.data.format}, this proxy reads format ${SNAPSHOT_FORMAT}`,
    );
  }
  const parsed = snapshot.safeParse(json);
  if (!parsed.success) {
    const [issue] = parsed.error.issues;
    throw new SnapshotError(`${SNAPSHOT_FILE} is malformed at ${issue?.path.join('.')}: ${issue?.message}`);
  }
  try {
    return { ...parsed.data, table: compileRoutes(parsed.data.routes) };
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error);
    throw new SnapshotError(`${SNAPSHOT_FILE} is malformed: ${message}`, { cause: error });
  }
}
