/** The stage of what is published below `log/`: whatever needs disk space comes before anything is public. */
import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { linkOrCopy } from '../files.js';
import { OwnFolder } from '../links.js';
import { addChangedFiles } from '../publish/changed-files.js';
import { isCopy } from '../publish/copied.js';
import { flush } from '../publish/flush.js';
import { deleteFile, moveFile } from '../publish/moves.js';
import { ListWriter } from '../publish/stage.js';
import type { Tree } from '../tree/tree.js';

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
   * @param sequence the snapshot whose lists name what changes
   * @param part names it in the lists for operators
   * @param ready called between what needs disk space and what is public
   */
  publish(sequence: number, part: string, ready: () => void = () => undefined): void {
    if (this.#operations.length === 0) return;
    flush(this.#folder);
    // Nobody asks a copy for its lists.
    if (!isCopy(this.#tree)) this.#list(new ListWriter(this.#tree.unreported(sequence), part));
    const files = this.#operations.map(({ file }) => file);
    addChangedFiles(this.#tree, sequence, files);
    ready();
    const own = new OwnFolder(this.#tree.out);
    for (const [index, { file, what }] of this.#operations.entries()) {
      const path = own.pathOf(file);
      if (what === 'delete') deleteFile(this.#tree.out, file);
      else moveFile(this.#staged(index), path);
    }
  }

  #list(lists: ListWriter): void {
    for (const { file, what } of this.#operations) {
      if (what === 'delete') lists.add('removed', file);
      else lists.add('files', file);
      if (what !== 'new') lists.add('urls', `/${file}`);
    }
    lists.finish();
  }

  discard(): void {
    rmSync(this.#folder, { recursive: true, force: true });
  }
}
