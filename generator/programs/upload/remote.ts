/** Where a tree is uploaded to. */
import type { Progress } from '../../base/progress.js';
import type { Headers } from '../../routes/headers.js';
import { statSync } from 'node:fs';
import { dirname, join } from 'node:path/posix';
import { ifExists } from '../../base/files.js';

/** How a file of the tree compares with the remote's; `extra` is there alone, ours or not. */
export type RemoteState = 'same' | 'missing' | 'different' | 'extra';

export interface Remote {
  /** As on the command line, for messages. */
  readonly name: string;
  /** For how long a program goes on whose parent was killed. */
  readonly lingersMs: number;
  /** Its folder on this machine, without links of its own followed; undefined if it is elsewhere. */
  localFolder(progress: Progress): Promise<string | undefined>;
  /**
   * Writes files, whatever is there.
   * @param headers for storage that keeps any with its objects
   * @throws Failure environment
   */
  put(files: readonly string[], headers: Headers, progress: Progress): Promise<void>;
  /** Deletes files, at least one, whether or not they are there. @throws Failure environment */
  delete(files: readonly string[], progress: Progress): Promise<void>;
  /** Reports how the content of every file here and there compares. @throws Failure environment */
  compare(found: (what: RemoteState, file: string) => void, progress: Progress): Promise<void>;
}

/**
 * Makes a remote of an argument.
 * @param text the argument of `--to`
 * @param out the folder of the tree
 * @param scratch a folder for temporary files
 * @throws Failure usage
 */
export type Connect = (text: string, out: string, scratch: string) => Remote;

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
const isFolder = (path: string): boolean | undefined => ifExists(() => statSync(path).isDirectory());
