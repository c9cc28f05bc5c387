import { createHash } from 'node:crypto';
import { LRUCache } from 'lru-cache';
import { posix } from 'node:path';
import { z } from 'zod';

import type { Disk } from './disk.js';
import { readChunks, shorten, type FileRead, type FileState, type ReadRequest } from './files.js';

/** The digests of files that are too large for memory: published ones, and those of what was read. */

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
const DATA_PACKAGE_MAX_BYTES = 4 * 1024 * 1024;

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
    const read = await disk.read({ root, path: DATA_PACKAGE, maxBytes: DATA_PACKAGE_MAX_BYTES });
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

/** More than a tree has large downloads. */
const MAX_DIGESTS = 200;

interface Digested {
  /** Of the file that was read. */
  readonly state: FileState;
  readonly digest: string;
}

/**
 * The digests of files that are too large for memory. They are kept apart from the files, since
 * making one reads the whole file, and are made one after the other.
 */
export class LargeDigests {
  readonly #disk: Disk;
  readonly #known = new LRUCache<string, Digested>({ max: MAX_DIGESTS });
  /** Files that are read, or wait to be, by identity. */
  readonly #reading = new Map<string, Promise<Digested | undefined>>();
  #last: Promise<unknown> = Promise.resolve();

  constructor(disk: Disk) {
    this.#disk = disk;
  }

  /**
   * The digest of a file; of what is in its place, if it was replaced meanwhile; undefined if there
   * is no file any more.
   *
   * @throws errors of the file system
   */
  of(file: Pick<ReadRequest, 'root' | 'path'>, identity: string): Promise<Digested | undefined> {
    const known = this.#known.get(identity);
    if (known !== undefined) return Promise.resolve(known);
    const present = this.#reading.get(identity);
    if (present !== undefined) return present;
    const reading = this.#last.then(() => this.#read(file)).finally(() => this.#reading.delete(identity));
    this.#last = reading.catch(() => undefined);
    this.#reading.set(identity, reading);
    return reading;
  }

  async #read(file: Pick<ReadRequest, 'root' | 'path'>): Promise<Digested | undefined> {
    const opened = await this.#disk.read({ ...file, maxBytes: 0, keepOpen: true });
    if (opened?.descriptor === undefined) return undefined;
    const hash = createHash('sha256');
    const range = { first: 0, last: opened.size - 1 };
    for await (const chunk of readChunks(opened.descriptor, range)) hash.update(chunk);
    const digested = { state: opened, digest: shorten(hash.digest('hex')) };
    this.#known.set(opened.identity, digested);
    return digested;
  }
}
