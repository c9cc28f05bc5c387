/** Symbolic links in a tree and its state, none of which is followed. */
import { lstatSync, type Stats } from 'node:fs';
import { join } from 'node:path';
import { Failure } from './errors.js';
import { ifExists } from './files.js';

/** How many folders are remembered at most. */
const FOLDERS_KNOWN = 1024;

/** @returns what is at a path; undefined if nothing is. @throws Failure environment: a symbolic link */
export function requireNoLink(path: string): Stats | undefined {
  const found = ifExists(() => lstatSync(path, { throwIfNoEntry: false }));
  if (found?.isSymbolicLink() === true)
    throw Failure.environment(
      `"${path}" is a symbolic link, and nothing in a tree or its state is read or written through one: ` +
        'put what it leads to in its place, or remove it and run "verify --repair"',
    );
  return found;
}

/**
 * The paths below a folder of ours, in which no symbolic link is followed: through one, a build would
 * publish, overwrite or delete files elsewhere. The folder itself may be reached by links. Each folder
 * in it is looked at once.
 *
 * HAZARD: whoever may write there can place a link between the look and the use, since Node has no
 * openat(2).
 */
export class OwnFolder {
  readonly #root: string;
  /** Whether folders that were looked at are there. */
  readonly #known = new Map<string, boolean>();

  constructor(root: string) {
    this.#root = root;
  }

  /**
   * The path of a file, which may be a link itself: it can be replaced and deleted, but not read.
   * @throws Failure environment: a folder in the path is a symbolic link
   */
  pathOf(file: string): string {
    this.hasFolderOf(file);
    return join(this.#root, file);
  }

  /** Whether the folder of a file is there. @throws Failure environment: a folder in the path is a symbolic link */
  hasFolderOf(file: string): boolean {
    const end = file.lastIndexOf('/');
    return end <= 0 || this.#isFolder(file.slice(0, end));
  }

  /** The path of a file that is to be read. @throws Failure environment: it, or a folder, is a symbolic link */
  readable(file: string): string {
    const path = this.pathOf(file);
    requireNoLink(path);
    return path;
  }

  #isFolder(folder: string): boolean {
    const known = this.#known.get(folder);
    if (known !== undefined) return known;
    const end = folder.lastIndexOf('/');
    // Nothing is below a folder that is not there.
    const isAbove = end <= 0 || this.#isFolder(folder.slice(0, end));
    const isFolder = isAbove && requireNoLink(join(this.#root, folder))?.isDirectory() === true;
    if (this.#known.size === FOLDERS_KNOWN) this.#known.clear();
    this.#known.set(folder, isFolder);
    return isFolder;
  }
}
