/** What of a tree others can't read, though builds let them: files are 0644 and folders 0755, whatever the umask. */
import { chmodSync, lstatSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { writing } from '../errors.js';
import { ifExists } from '../files.js';
import { keepsModes } from '../modes.js';
import type { Tree } from '../tree/tree.js';

const READ_FILE = 0o444;
/** To list it, and to open what is in it. */
const READ_FOLDER = 0o555;
const OTHERS = 0o077;

export class ClosedFiles {
  readonly #tree: Tree;
  readonly #opens: boolean;
  /** The folder of the last file, and those above it. */
  #folder = '.';
  /** Known once something is closed: a file system without modes shows the same ones for everything. */
  #keepsModes: boolean | undefined;
  total = 0;
  /** A path below the tree. */
  example: string | null = null;

  /** @param opens whether to let others read it */
  constructor(tree: Tree, opens: boolean) {
    this.#tree = tree;
    this.#opens = opens;
  }

  /** Looks at a file, and at the folders that the file before was not in. Files come folder by folder. */
  look(file: string): void {
    this.#look(file);
    const last = `${this.#folder}/`;
    this.#folder = dirname(file);
    for (let at = this.#folder; at !== '.' && !last.startsWith(`${at}/`); at = dirname(at)) this.#look(at);
  }

  #look(name: string): void {
    const path = join(this.#tree.out, name);
    const found = ifExists(() => lstatSync(path));
    if (found?.isFile() !== true && found?.isDirectory() !== true) return;
    const wanted = found.isDirectory() ? READ_FOLDER : READ_FILE;
    if ((found.mode & wanted) === wanted) return;
    this.#keepsModes ??= keepsModes(this.#tree.state);
    if (!this.#keepsModes) return;
    this.total += 1;
    this.example ??= name;
    if (this.#opens) writing(`mode of "${path}"`, () => chmodSync(path, found.mode | wanted));
  }

  /** Looks at the tree's own folder. An operator may have closed it, but then what is in it is open. */
  finish(): void {
    if (this.total > 0 && (lstatSync(this.#tree.out).mode & OTHERS) === 0) this.#look('.');
  }
}
