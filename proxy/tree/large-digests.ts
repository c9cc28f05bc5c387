import { createHash } from 'node:crypto';
import { LRUCache } from 'lru-cache';

import { openFile, readChunks, shorten, type FileState } from './files.js';

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
  readonly #known = new LRUCache<string, Digested>({ max: MAX_DIGESTS });
  /** Files that are read, or wait to be, by identity. */
  readonly #reading = new Map<string, Promise<Digested | undefined>>();
  #last: Promise<unknown> = Promise.resolve();

  /**
   * The digest of a file; of what is in its place, if it was replaced meanwhile; undefined if there
   * is no file any more.
   *
   * @throws errors of the file system
   */
  of(path: string, identity: string): Promise<Digested | undefined> {
    const known = this.#known.get(identity);
    if (known !== undefined) return Promise.resolve(known);
    const present = this.#reading.get(identity);
    if (present !== undefined) return present;
    const reading = this.#last.then(() => this.#read(path)).finally(() => this.#reading.delete(identity));
    this.#last = reading.catch(() => undefined);
    this.#reading.set(identity, reading);
    return reading;
  }

  async #read(path: string): Promise<Digested | undefined> {
    const opened = await openFile(path);
    if (opened === undefined) return undefined;
    const { handle, ...state } = opened;
    try {
      const hash = createHash('sha256');
      for await (const chunk of readChunks(opened)) hash.update(chunk);
      const digested = { state, digest: shorten(hash.digest('hex')) };
      this.#known.set(state.identity, digested);
      return digested;
    } finally {
      await handle.close();
    }
  }
}
