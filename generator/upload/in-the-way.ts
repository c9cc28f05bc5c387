/** Paths that change between file and folder: a file that is gone may be in the way of another. */
import { statSync } from 'node:fs';
import { dirname, join } from 'node:path/posix';
import { ifExists } from '../files.js';

/** Whether a file that is gone has to be deleted before others can be written. */
export const isInTheWay = (out: string, file: string): boolean =>
  isFolder(join(out, file)) === true || fileAbove(out, file) !== undefined;

/** What was a folder above a file that is gone, and is a file of the tree now. */
export function fileAbove(out: string, file: string): string | undefined {
  for (let folder = dirname(file); folder !== '.'; folder = dirname(folder))
    if (isFolder(join(out, folder)) === false) return folder;
  return undefined;
}

/** @returns undefined if there is nothing */
export const isFolder = (path: string): boolean | undefined => ifExists(() => statSync(path).isDirectory());
