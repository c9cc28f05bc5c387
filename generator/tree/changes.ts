/** /changes/index.json: the newest snapshots, and the bundles that lead from one to the next. */
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { z } from 'zod';
import { ifExists, readJson } from '../base/files.js';
import { PATHS } from '../routes/paths.js';
import { count, described, publishedFile, sha256, time, treeId, type PublishedFile } from './values.js';

const number = z.int().min(1);

/** Number of records of a kind, by its plural. */
const counts = z.record(z.string(), z.object({ added: count, changed: count, removed: count }));

const bundle = publishedFile('bundle', '/changes/118.ndjson.gz', 901_120);
export type Bundle = PublishedFile;

/** One snapshot. If it changed everything, as the first of a tree does, or too much, it has no bundle. */
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

/** Named after the snapshot that it leads to. */
export const bundleFile = (sequence: number): string => `changes/${sequence}.ndjson.gz`;

export const INDEX_FILE = PATHS.changes.slice(1);

/** The published index; undefined if it is missing or unreadable. */
export const readChangeIndex = (tree: { readonly out: string }): ChangeIndex | undefined =>
  changeIndexSchema.safeParse(readJson(join(tree.out, INDEX_FILE))).data;

/** All bundles of some changes. */
export const bundlesIn = (changes: readonly Change[]): readonly Bundle[] =>
  changes.flatMap(({ bundle }) => bundle ?? []);

/** Files below /changes that none of the changes has. */
export function untrackedFiles(tree: { readonly out: string }, changes: readonly Change[]): string[] {
  const named = new Set(bundlesIn(changes).map(({ file }) => file.slice(1)));
  const found = ifExists(() => readdirSync(join(tree.out, 'changes'), { encoding: 'utf8', recursive: true }));
  return (found ?? [])
    .toSorted()
    .map((file) => `changes/${file}`)
    .filter((file) => /\/\d+\.ndjson\.gz$/.test(file) && !named.has(file));
}
