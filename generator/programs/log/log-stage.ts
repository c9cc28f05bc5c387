/** The stage of what is published below `log/`: whatever needs disk space comes before anything is public. */
import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { linkOrCopy } from '../../base/files.js';
import { OwnFolder } from '../../base/links.js';
import { flush } from '../../publish/commit.js';
import { deleteFile, moveFile } from '../../publish/moves.js';
import { State } from '../../state/state.js';
import type { Tree } from '../../tree/tree.js';

interface Operation {
  /** Below the tree. */
  readonly file: string;
  /** A `new` file is put as well, but no cache can have another response. */
  readonly what: 'put' | 'new' | 'delete';
}

/** Files to be put and deleted, in this order. */
export class LogStage {
  readonly #tree: Tree;
  readonly #folder: string;
  readonly #operations: Operation[] = [];

  constructor(tree: Tree) {
    this.#tree = tree;
    this.#folder = join(tree.state, 'signing');
    this.discard();
    mkdirSync(this.#folder, { recursive: true });
  }

  /** Where the file of an operation is staged. */
  #staged = (index: number): string => join(this.#folder, String(index));

  /** @param file below the tree */
  put(file: string, content: string | Uint8Array, what: 'put' | 'new' = 'put'): void {
    writeFileSync(this.#staged(this.#operations.length), content);
    this.#operations.push({ file, what });
  }

  /** Puts another name of a file. */
  link(file: string, source: string): void {
    linkOrCopy(source, this.#staged(this.#operations.length));
    this.#operations.push({ file, what: 'put' });
  }

  delete(file: string): void {
    this.#operations.push({ file, what: 'delete' });
  }

  /**
   * Carries out the operations. If interrupted, all of them are to be staged again.
   * @param ready called between what needs disk space and what is public
   */
  publish(ready: () => void = () => undefined): void {
    if (this.#operations.length === 0) return;
    flush(this.#folder);
    this.#record();
    ready();
    const own = new OwnFolder(this.#tree.out);
    for (const [index, { file, what }] of this.#operations.entries()) {
      const path = own.pathOf(file);
      if (what === 'delete') deleteFile(this.#tree.out, file);
      else moveFile(this.#staged(index), path);
    }
  }

  #record(): void {
    using state = State.open(this.#tree.database);
    state.recordOwnFiles(
      this.#operations.map(({ file, what }) => ({
        name: file,
        isPut: what !== 'delete',
        isCached: what !== 'new',
      })),
    );
  }

  discard(): void {
    rmSync(this.#folder, { recursive: true, force: true });
  }
}
