/** The files that a run has fetched, by the hash of their content: none is fetched twice. */
import { closeSync, existsSync, ftruncateSync, openSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { makeFolder } from '../files.js';
import { Lock } from '../lock.js';
import type { Progress } from '../progress.js';
import type { Bucket } from '../routes/index.js';
import { measure } from '../tree/measure.js';
import type { HashedContent } from '../tree/hash-file.js';
import type { Tree } from '../tree/tree.js';
import { MovedOn } from './client.js';
import type { Client, OriginResponse } from './client.js';

/** What the attempts of a run have in common. */
export interface Run {
  readonly tree: Tree;
  readonly client: Client;
  readonly files: FetchedFiles;
  readonly progress: Progress;
}

/** A file of the origin. */
export interface Wanted {
  readonly path: string;
  readonly bucket: Bucket;
  readonly bytes: number;
  /** Undefined if nothing says it; then `bytes` is the most that it can be. */
  readonly sha256: string | undefined;
  /** Whether it is the page that a browser gets with a 404. */
  readonly isOfNotFound?: boolean;
}

export interface Fetched extends HashedContent {
  readonly file: string;
}

/** The folder of all that a run fetches and computes; it is deleted as the run ends. */
export const fetchedIn = ({ mirror }: Tree): string => join(mirror, 'files');

export class FetchedFiles {
  readonly #folder: string;
  readonly #client: Client;
  readonly #fetched = new Map<string, Fetched>();

  constructor(tree: Tree, client: Client) {
    this.#folder = fetchedIn(tree);
    this.#client = client;
  }

  /** A file that the run has fetched. Another run may have deleted it, while this one waited. */
  known({ sha256 = '' }: Wanted): Fetched | undefined {
    const known = this.#fetched.get(sha256);
    return known !== undefined && existsSync(known.file) ? known : undefined;
  }

  /** Fetches a file, unless the run has it. @throws MovedOn: it is not there, or has another content */
  async fetch(wanted: Wanted): Promise<Fetched> {
    const known = this.known(wanted);
    if (known !== undefined) return known;
    const { path, bytes, sha256 } = wanted;
    makeFolder(this.#folder);
    const partial = join(this.#folder, 'partial');
    await this.#receive(wanted, partial);
    const received = measure(partial);
    const hex = received.hash.toString('hex');
    if (sha256 !== undefined && (hex !== sha256 || received.bytes !== bytes))
      throw new MovedOn(`${path} has SHA-256 ${hex}, expected ${sha256}`);
    const fetched = { ...received, file: join(this.#folder, hex) };
    renameSync(partial, fetched.file);
    this.#fetched.set(hex, fetched);
    return fetched;
  }

  /** Writes what is received. If the connection breaks, only the rest is asked for, where that is safe. */
  async #receive(
    { path, bucket, bytes, sha256, isOfNotFound = false }: Wanted,
    partial: string,
  ): Promise<void> {
    rmSync(partial, { force: true });
    const descriptor = openSync(partial, 'a', 0o600);
    let received = 0;
    let tag: string | undefined;
    const next = () => {
      const start = tag === undefined ? 0 : received;
      const cost = this.#client.limits.costOf(bytes - start, bytes);
      const headers = {
        ...(start > 0 && tag !== undefined && { 'If-Range': tag }),
        ...(isOfNotFound && { Accept: 'text/html' }),
      };
      return { path, bucket, cost, start, headers };
    };
    try {
      await this.#client.get(next, async (response) => {
        if (!isRest(response, received, bytes)) {
          const isThere = response.status === 200 || (isOfNotFound && response.status === 404);
          if (!isThere) throw new MovedOn(`${path} is not there (${response.status})`);
          ftruncateSync(descriptor);
          received = 0;
          const { etag } = response.headers;
          // A weak tag permits no ranges (RFC 9110, section 13.1.5), and only a hash shows a mixture.
          tag = sha256 !== undefined && etag?.startsWith('"') === true ? etag : undefined;
        }
        for await (const chunk of response.chunks) {
          received += chunk.length;
          if (received > bytes) throw new MovedOn(`${path} has more than ${bytes} bytes`);
          writeFileSync(descriptor, chunk);
        }
      });
    } finally {
      closeSync(descriptor);
    }
  }
}

/** Whether a response has the bytes that follow those received. */
function isRest({ status, headers }: OriginResponse, received: number, bytes: number): boolean {
  const [, from, size] = /^bytes (\d+)-\d+\/(\d+)$/.exec(headers['content-range'] ?? '') ?? [];
  return status === 206 && received > 0 && Number(from) === received && Number(size) === bytes;
}

/**
 * Deletes what was fetched, of this run or of one that was killed: it may be withheld one day. If
 * another run is at work, it is left to that.
 */
export function deleteFetched(tree: Tree): void {
  const folder = fetchedIn(tree);
  const lock = existsSync(folder) ? Lock.takeIfFree(tree.lock) : undefined;
  if (lock === undefined) return;
  try {
    rmSync(folder, { recursive: true, force: true });
  } finally {
    lock.release();
  }
}
