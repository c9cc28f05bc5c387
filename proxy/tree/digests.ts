import { posix } from 'node:path';
import { z } from 'zod';

import { shortenDigest, type Disk, type FileRead } from './read.js';

/**
 * The published digests of files that are too large for memory, so that they have a strong ETag
 * without being read: those of the newest downloads and bundles of changes.
 */
export interface PublishedDigests {
  /** What changed later is of another snapshot. Milliseconds since 1970, by the file system's clock. */
  readonly changedMs: number;
  /** By the file's path, relative to the tree's root. */
  readonly files: ReadonlyMap<string, PublishedDigest>;
}

interface PublishedDigest {
  readonly bytes: number;
  readonly digest: string;
}

/** Both are relative to the tree's root. */
const DATA_PACKAGE = 'downloads/datapackage.json';
const CHANGES = 'changes/index.json';
/** A larger one is not read. 4 MiB. */
const LIST_MAX_BYTES = 4 * 1024 * 1024;

const sha256 = /^[0-9a-f]{64}$/;
const bytes = z.int().min(0);
const dataPackage = z.object({
  resources: z.array(z.object({ path: z.string(), bytes, hash: z.string().startsWith('sha256:') })),
});
const bundle = z.object({ file: z.string(), bytes, sha256: z.string() });
/** Null for a bundle that is not kept. */
const changeIndex = z.object({ changes: z.array(z.object({ bundle: bundle.nullable() })) });

/**
 * Reads the digests that a tree publishes; a list that is missing or malformed has none.
 *
 * @param document snapshot.json as read
 */
export async function readPublishedDigests(document: FileRead, disk: Disk): Promise<PublishedDigests> {
  const files = new Map<string, PublishedDigest>();
  const add = (path: string, bytes: number, hash: string): void => {
    if (sha256.test(hash)) files.set(path, { bytes, digest: shortenDigest(hash) });
  };
  const readList = async (path: string, addAll: (list: unknown) => void): Promise<void> => {
    try {
      const read = await disk.read({ root: document.root, path, maxBytes: LIST_MAX_BYTES });
      if (read?.bytes === undefined || read.changedMs > document.changedMs) return;
      addAll(JSON.parse(read.bytes.toString('utf8')));
    } catch {
      // Its files then have weak ETags.
    }
  };
  await readList(DATA_PACKAGE, (list) => {
    for (const { path, bytes, hash } of dataPackage.parse(list).resources)
      add(posix.join(posix.dirname(DATA_PACKAGE), path), bytes, hash.slice('sha256:'.length));
  });
  await readList(CHANGES, (list) => {
    for (const { bundle } of changeIndex.parse(list).changes)
      if (bundle !== null) add(bundle.file.slice(1), bundle.bytes, bundle.sha256);
  });
  return { changedMs: document.changedMs, files };
}

/**
 * The published digest of a file. The files of a commit are renamed one after the other, and
 * snapshot.json last: one that changed after it may have other content, and has none here.
 */
export function publishedDigest(
  path: string,
  { size, changedMs }: Pick<FileRead, 'size' | 'changedMs'>,
  digests: PublishedDigests,
): string | undefined {
  const published = digests.files.get(path);
  return published?.bytes === size && changedMs <= digests.changedMs ? published.digest : undefined;
}
