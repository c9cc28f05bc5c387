import { posix } from 'node:path';
import { z } from 'zod';

import type { Disk } from './disk.js';
import { shorten, type FileRead } from './files.js';

/** Digests of large downloads that the generator has published, so that they need not be read whole. */
export interface PublishedDigests {
  /** What changed later is of another snapshot. Milliseconds since 1970, by the file system's clock. */
  readonly changedMs: number;
  /** By the file's path, relative to the tree's root. */
  readonly files: ReadonlyMap<string, { readonly bytes: number; readonly digest: string }>;
}

export const NO_DIGESTS: PublishedDigests = { changedMs: 0, files: new Map() };

/** Relative to the tree's root. */
export const DATA_PACKAGE = 'downloads/datapackage.json';
/** 4 MiB. */
const MAX_BYTES = 4 * 1024 * 1024;

const schema = z.object({
  resources: z.array(
    z.object({
      path: z.string(),
      bytes: z.int().min(0),
      hash: z.string().regex(/^sha256:[0-9a-f]{64}$/),
    }),
  ),
});

/**
 * Reads the digests in datapackage.json; none if it is missing or malformed.
 *
 * @param document snapshot.json as read
 */
export async function readPublishedDigests(
  { root, changedMs }: FileRead,
  disk: Disk,
): Promise<PublishedDigests> {
  try {
    const read = await disk.read({ root, path: DATA_PACKAGE, maxBytes: MAX_BYTES });
    if (read?.bytes === undefined || read.changedMs > changedMs) return NO_DIGESTS;
    const { resources } = schema.parse(JSON.parse(Buffer.from(read.bytes).toString('utf8')));
    const folder = posix.dirname(DATA_PACKAGE);
    const entries = resources.map(
      ({ path, bytes, hash }) =>
        [posix.join(folder, path), { bytes, digest: shorten(hash.slice('sha256:'.length)) }] as const,
    );
    return { changedMs, files: new Map(entries) };
  } catch {
    return NO_DIGESTS;
  }
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
