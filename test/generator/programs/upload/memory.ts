/** A remote in memory, which can die at any point. A path is a file or a folder there, never both. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'vitest';
import { Failure } from '../../../../generator/base/errors.js';
import type { Headers } from '../../../../generator/routes/headers.js';
import type { RemoteState, Remote } from '../../../../generator/programs/upload/remote.js';
import { Tree } from '../../../../generator/tree/tree.js';
import { verifyRemote } from '../../../../generator/programs/upload/compare.js';
import { upload } from '../../../../generator/programs/upload/upload.js';
import { quiet } from '../../../support/build.js';
import { differing, isSibling } from '../../../support/tree.js';
import { Killed } from '../../publish/faults.js';
import { hashesOf, sha256 } from '../../publish/support.js';

export interface Stored {
  readonly hash: string;
  readonly headers: Headers;
}

export class MemoryRemote implements Remote {
  readonly name = 'memory:bucket';
  readonly lingersMs = 0;
  readonly #out: string;
  readonly files = new Map<string, Stored>();
  /** `put a/1.json`, in order. */
  readonly calls: string[] = [];
  /** How many files it still takes or deletes before it dies. */
  lives = Number.POSITIVE_INFINITY;
  /** Files that it neither takes nor deletes. */
  refused: readonly string[] = [];

  constructor(out: string) {
    this.#out = out;
  }

  get isDead(): boolean {
    return this.lives < 0;
  }

  #live(call: string): void {
    this.lives -= 1;
    if (this.isDead) throw new Killed(`dead at ${call}`);
    this.calls.push(call);
  }

  #hash(file: string): string {
    return sha256(readFileSync(join(this.#out, file)));
  }

  async localFolder(): Promise<undefined> {
    return undefined;
  }

  async put(files: readonly string[], headers: Headers): Promise<void> {
    for (const file of files) {
      this.#live(`put ${file}`);
      const isTaken = [...this.files.keys()].some(
        (other) => other.startsWith(`${file}/`) || file.startsWith(`${other}/`),
      );
      if (isTaken || this.refused.includes(file)) throw Failure.environment(`can't write ${file}`);
      this.files.set(file, { hash: this.#hash(file), headers });
    }
  }

  async delete(files: readonly string[]): Promise<void> {
    if (files.length === 0) throw new Error('an empty list of files may stand for all');
    for (const file of files) {
      this.#live(`delete ${file}`);
      if (this.refused.includes(file)) throw Failure.environment(`can't delete ${file}`);
      this.files.delete(file);
    }
  }

  async compare(found: (what: RemoteState, file: string) => void): Promise<void> {
    const local = hashesOf(this.#out);
    for (const file of Object.keys(local)) {
      const there = this.files.get(file);
      found(there === undefined ? 'missing' : there.hash === local[file] ? 'same' : 'different', file);
    }
    for (const file of this.files.keys()) if (local[file] === undefined) found('extra', file);
  }
}

/** A tree, and its uploads to memory. */
export function memorySite(out: string) {
  const [tree, remote] = [new Tree(out), new MemoryRemote(out)];
  const run = () => upload(tree, 'memory:bucket', quiet(), () => remote);
  /** What is wrong on the remote. */
  const wrong = (): string[] => {
    const found = Object.fromEntries([...remote.files].map(([file, { hash }]) => [file, hash]));
    const files = Object.entries(hashesOf(out)).filter(([file]) => !isSibling(file));
    return differing(found, Object.fromEntries(files));
  };
  return {
    out,
    remote,
    upload: run,
    verify: () => verifyRemote(tree, 'memory:bucket', quiet(), () => remote),
    wrong,
    /** An upload after which nothing is wrong. */
    sync: async () => {
      const result = await run();
      expect(wrong()).toEqual([]);
      return result;
    },
    /** The calls since the last look at them, with `LOG` for the folder of the log. */
    calls: (): string[] => remote.calls.splice(0).map((call) => call.replace(/log\/[0-9a-f]{16}/, 'LOG')),
  };
}
