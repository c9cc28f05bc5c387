/** Modes of files: what is private is closed to others. What is published is not: program.ts sets the umask. */
import { randomUUID } from 'node:crypto';
import { chmodSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { codeOf } from './errors.js';

/** Closes a folder to others, unless its file system keeps no modes (FAT, Windows, some network ones). */
export function makePrivate(folder: string): void {
  try {
    chmodSync(folder, 0o700);
  } catch (error) {
    if (!['EPERM', 'ENOTSUP', 'ENOSYS'].includes(codeOf(error) ?? '') || keepsModes(folder)) throw error;
  }
}

/**
 * Whether a new file in a folder can be closed to others, and opened to them. A folder in which none
 * can be made is said to keep modes.
 */
export function keepsModes(folder: string): boolean {
  const probe = join(folder, `.mode-${randomUUID()}`);
  try {
    writeFileSync(probe, '', { mode: 0o600, flag: 'wx' });
  } catch {
    return true;
  }
  try {
    if (isOpen(probe)) return false;
    chmodSync(probe, 0o644);
    return isOpen(probe);
  } catch {
    return false;
  } finally {
    rmSync(probe, { force: true });
  }
}

/** Whether its mode lets others read, write or enter it. */
const isOpen = (path: string): boolean => (statSync(path).mode & 0o077) !== 0;
