/** /changes/index.json: the newest snapshots, and the bundles that lead from one to the next. */
import { join } from 'node:path';
import * as z from 'zod';
import { readJson } from '../base/files.js';
import { PATHS } from '../routes/paths.js';
import { count, described, publishedFile, sha256, time, treeId } from './values.js';

const number = z.int().min(1);

/** Number of records of a kind, by its plural. */
const counts = z.record(z.string(), z.object({ added: count, changed: count, removed: count }));

const bundle = publishedFile('bundle', '/changes/118.ndjson.gz', 901_120);

/** One snapshot. If everything changed, as in the first of a tree, or too much, there is no bundle. */
const change = z.object({
  sequence: described(number, 'Number of the snapshot.', 118),
  from: described(
    number.nullable(),
    'Number of the snapshot before it; null if nothing leads from there.',
    118,
  ),
  from_digest: described(
    sha256.nullable(),
    'Digest of the snapshot before it; null if nothing leads from there.',
  ),
  digest: described(sha256, 'Digest of the snapshot.'),
  as_of: described(time.nullable(), 'Time of the newest measurement in it; null if it is empty.'),
  built_at: described(time, 'When the snapshot was built.', '2026-11-20T09:00:00Z'),
  counts,
  bundle: described(
    bundle.nullable(),
    'What it changed, with the bodies of documents; null if it is not kept: take the documents.',
  ),
});
export type Change = z.infer<typeof change>;

export const changeIndexSchema = described(
  z.object({
    tree: described(treeId, 'Identifies the tree. One that starts over has another.'),
    sequence: described(number, 'Number of the published snapshot.', 118),
    digest: described(sha256, 'Digest of the published snapshot.'),
    oldest: described(
      number,
      'Number of the oldest snapshot from which the bundles lead to this one. An older copy has to start over.',
      118,
    ),
    downloads: described(
      z
        .object({
          sequence: described(number, 'Number of that snapshot.', 118),
          digest: described(sha256, 'Digest of that snapshot.'),
        })
        .exactOptional(),
      'The snapshot that the bulk downloads belong to, which may be older.',
    ),
    changes: described(z.array(change), 'The snapshots, newest first.'),
  }),
  'The newest snapshots and what each of them changed.',
);
export type ChangeIndex = z.infer<typeof changeIndexSchema>;

/** The file of the bundle that leads to a snapshot. */
export const bundleFile = (sequence: number): string => `changes/${sequence}.ndjson.gz`;

export const INDEX_FILE = PATHS.changes.slice(1);

/** The published index; undefined if it is missing or unreadable. */
export const readChangeIndex = (tree: { readonly out: string }): ChangeIndex | undefined =>
  changeIndexSchema.safeParse(readJson(join(tree.out, INDEX_FILE))).data;
