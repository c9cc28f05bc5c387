/** The files that a run has fetched, by the hash of their content: none is fetched twice. */
import { closeSync, existsSync, ftruncateSync, openSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { makeFolder } from '../../base/files.js';
import { Lock } from '../../base/lock.js';
import type { Progress } from '../../base/progress.js';
import { measure, type HashedContent } from '../../tree/measure.js';
import type { Tree } from '../../tree/tree.js';
import { MovedOn, type Client, type Wanted } from './client.js';

/** What the attempts of a run have in common. */
export interface Run {
  readonly tree: Tree;
  readonly client: Client;
  readonly files: FetchedFiles;
  readonly progress: Progress;
  /** Whether the copy is to have no files of the bulk downloads. */
  readonly withoutDownloads: boolean;
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

  /**
   * Fetches a file, unless the run has it.
   * @param made its content, if that is made of another file instead
   * @throws NotThere; MovedOn: it has another content
   */
  async fetch(wanted: Wanted, made?: AsyncIterable<Buffer>): Promise<Fetched> {
    const known = this.known(wanted);
    if (known !== undefined) return known;
    const { path, bytes, sha256 } = wanted;
    makeFolder(this.#folder);
    const partial = join(this.#folder, 'partial');
    rmSync(partial, { force: true });
    // Others may read it once it is published; they can't enter the state, in which it waits.
    const descriptor = openSync(partial, 'a');
    const write = (chunk: Buffer): void => writeFileSync(descriptor, chunk);
    try {
      if (made === undefined)
        await this.#client.receive(wanted, { restart: () => ftruncateSync(descriptor), write });
      else for await (const chunk of made) write(chunk);
    } finally {
      closeSync(descriptor);
    }
    const received = measure(partial);
    const hex = received.hash.toString('hex');
    if (sha256 !== undefined && (hex !== sha256 || received.bytes !== bytes))
      throw new MovedOn(`${path} has SHA-256 ${hex}, expected ${sha256}`);
    const fetched = { ...received, file: join(this.#folder, hex) };
    renameSync(partial, fetched.file);
    this.#fetched.set(hex, fetched);
    return fetched;
  }
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
