/** Files and folders of the tree: written into the stage, moved into place, deleted with their emptied folders. */
import {
  closeSync,
  mkdirSync,
  openSync,
  readdirSync,
  renameSync,
  rmdirSync,
  unlinkSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { codeOf } from '../errors.js';

/** Writes files below a folder, making their folders as it goes. */
export class FileWriter {
  readonly #root: string;
  /** Folders come in runs; the last one of each depth is most often the next one, too. */
  readonly #made = new Map<string, string>();

  constructor(root: string) {
    this.#root = root;
  }

  /** @param series files of one series (a route) share their folders, or have one each */
  write(series: string, file: string, body: string): void {
    const path = join(this.#root, file);
    const folder = dirname(path);
    if (this.#made.get(series) !== folder) {
      mkdirSync(folder, { recursive: true });
      this.#made.set(series, folder);
    }
    writeFileSync(path, body);
  }
}

/** Moves everything below one folder to another. A folder that is not there yet moves whole, by one rename. */
export function moveInto(from: string, to: string): void {
  for (const entry of readdirSync(from, { withFileTypes: true })) {
    const source = join(from, entry.name);
    const target = join(to, entry.name);
    if (!entry.isDirectory()) renameSync(source, target);
    else if (!moveWhole(source, target)) moveInto(source, target);
  }
}

/** rename(2) puts a folder in the place of a missing or empty one, and of no other. */
function moveWhole(source: string, target: string): boolean {
  try {
    renameSync(source, target);
    return true;
  } catch (error) {
    const code = codeOf(error);
    if (code === 'ENOTEMPTY' || code === 'EEXIST') return false;
    throw error;
  }
}

/** Deletes a file that may be gone already, and the folders that are empty without it, up to the root. */
export function deleteFile(root: string, file: string): void {
  try {
    unlinkSync(join(root, file));
  } catch (error) {
    if (codeOf(error) !== 'ENOENT') throw error;
  }
  for (let folder = dirname(file); folder !== '.'; folder = dirname(folder)) {
    try {
      rmdirSync(join(root, folder));
    } catch (error) {
      const code = codeOf(error);
      if (code === 'ENOENT') continue;
      if (code === 'ENOTEMPTY' || code === 'EEXIST') return;
      throw error;
    }
  }
}

/** Collects lines in a file, many in one write. */
export class LineWriter {
  readonly #descriptor: number;
  #lines: string[] = [];

  constructor(file: string) {
    this.#descriptor = openSync(file, 'w');
  }

  write(line: string): void {
    this.#lines.push(line);
    if (this.#lines.length >= LINES_AT_ONCE) this.#flush();
  }

  #flush(): void {
    if (this.#lines.length > 0) writeFileSync(this.#descriptor, `${this.#lines.join('\n')}\n`);
    this.#lines = [];
  }

  close(): void {
    try {
      this.#flush();
    } finally {
      closeSync(this.#descriptor);
    }
  }
}

const LINES_AT_ONCE = 1000;
