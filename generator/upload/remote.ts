/** Where a tree is uploaded to. */
import { Failure } from '../errors.js';
import type { Progress } from '../progress.js';
import type { Headers } from '../routes/headers.js';
import { Rclone } from './rclone.js';
import { Rsync } from './rsync.js';

/** How a file of the tree compares with the remote's; `extra` is there alone, ours or not. */
export type RemoteState = 'same' | 'missing' | 'different' | 'extra';

export interface Remote {
  /** As on the command line, for messages. */
  readonly name: string;
  /**
   * Whether its objects have headers. If so, it can't choose between compressed forms, and the
   * siblings are not uploaded.
   */
  readonly hasHeaders: boolean;
  /** For how long a program goes on whose parent was killed. */
  readonly lingersMs: number;
  /** Its folder on this machine, without links of its own followed; undefined if it is elsewhere. */
  localFolder(progress: Progress): Promise<string | undefined>;
  /** Writes files whatever is there. @throws Failure environment */
  put(files: readonly string[], headers: Headers, progress: Progress): Promise<void>;
  /** Deletes files, at least one, whether or not they are there. @throws Failure environment */
  delete(files: readonly string[], progress: Progress): Promise<void>;
  /**
   * Compares all files by content, and by time if the remote keeps times. A remote with headers
   * reports those that are the same, too.
   */
  compare(found: (what: RemoteState, file: string) => void, progress: Progress): Promise<void>;
}

/** Makes a remote of an argument. */
export type Connect = (text: string, out: string, scratch: string) => Remote;

/**
 * @param text `rsync:DEST`, or a remote of rclone's configuration with a path
 * @param out the folder of the tree
 * @param scratch a folder for temporary files
 * @throws Failure usage
 */
export function remoteOf(text: string, out: string, scratch: string): Remote {
  const [, destination] = /^rsync:(.*)$/s.exec(text) ?? [];
  if (destination !== undefined && /^[^-\s]/.test(destination))
    return new Rsync(text, destination, out, scratch);
  if (destination === undefined && /^\w[\w.+@ -]*:[^\r\n]*$/.test(text))
    return new Rclone(text, out, scratch);
  // It is not quoted: a connection string of rclone's may hold a password.
  throw Failure.usage(
    'invalid value of --to, expected NAME:BUCKET/PREFIX, where NAME is a remote of the configuration of rclone, ' +
      'or rsync:FOLDER, or rsync:HOST:FOLDER',
  );
}
