/** Waits until files are on the disk. */
import { spawnSync } from 'node:child_process';
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { Failure, codeOf } from '../errors.js';
import { flushOne } from '../files.js';

/** Flushes everything below a folder: its file system, by one flush instead of one per file, if that can be. */
export function flush(folder: string): void {
  if (!flushFileSystem(folder)) flushEach(folder);
}

/**
 * Flushes a folder's file system, or all file systems if `sync` does not support `-f`. Node has no
 * syncfs(2); coreutils has.
 * HAZARD: the `sync` of macOS ignores `-f`, and ends before the data is on the disk, as POSIX lets it.
 * @returns false if the program is missing (a container without a shell, or Windows)
 */
export function flushFileSystem(folder: string): boolean {
  for (const options of [['-f', folder], []]) {
    const { status, error } = spawnSync('sync', options, { stdio: 'ignore' });
    if (status === 0) return true;
    if (codeOf(error) === 'ENOENT') return false;
  }
  throw Failure.environment(`the file system of "${folder}" can't be flushed`);
}

/** Flushes every file and folder below a folder, one by one. */
export function flushEach(folder: string): void {
  for (const entry of readdirSync(folder, { recursive: true, withFileTypes: true })) {
    if (entry.isFile() || entry.isDirectory()) flushOne(join(entry.parentPath, entry.name));
  }
  flushOne(folder);
}
