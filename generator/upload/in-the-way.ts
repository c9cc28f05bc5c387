/** Paths that change between file and folder: a file that is gone may be in the way of another. */
import { statSync } from 'node:fs';
import { dirname, join } from 'node:path/posix';
import { codeOf } from '../errors.js';

/** Whether a file that is gone has to be deleted before others can be written. */
export const isInTheWay = (out: string, file: string): boolean =>
  isFolder(join(out, file)) === true || fileAbove(out, file) !== undefined;

/** What was a folder above a file that is gone, and is a file of the tree now. */
export function fileAbove(out: string, file: string): string | undefined {
  for (let folder = dirname(file); folder !== '.'; folder = dirname(folder))
    if (isFolder(join(out, folder)) === false) return folder;
  return undefined;
}

/** @returns false for a file, undefined if there is neither */
export function isFolder(path: string): boolean | undefined {
  try {
    return statSync(path).isDirectory();
  } catch (error) {
    if (codeOf(error) === 'ENOENT' || codeOf(error) === 'ENOTDIR') return undefined;
    throw error;
  }
}
