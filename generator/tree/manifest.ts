/** Reads the snapshot.json of a tree, of this format or an earlier one. */
import { z } from 'zod';
import { Failure } from '../errors.js';
import { readText } from '../files.js';
import { parseJson } from '../portable.js';
import { FORMAT, locatedRoute } from './snapshot-json.js';

/** Formats the publisher can read: an older tree is upgraded, and its sequence continues. */
const READABLE = [1, 2, 3, FORMAT] as const;

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
  const content = readText(file);
  if (content === undefined) return undefined;
  const value = parseJson(content);
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
