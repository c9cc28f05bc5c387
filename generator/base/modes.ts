/** Modes of files: private files are closed to other users. Published ones are not: program.ts sets the umask. */
import { randomUUID } from 'node:crypto';
import { chmodSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { codeOf } from './errors.js';

/** Closes a folder, or a file in it, to other users, unless the file system keeps no modes (FAT, some of networks). */
export function makePrivate(folder: string, file?: string): void {
  try {
    if (file === undefined) chmodSync(folder, 0o700);
    else chmodSync(file, 0o600);
  } catch (error) {
    if (!['EPERM', 'ENOTSUP', 'ENOSYS'].includes(codeOf(error) ?? '') || keepsModes(folder)) throw error;
  }
}

/** Whether the file system of a folder keeps modes. True also if no file can be made there to try it with. */
function keepsModes(folder: string): boolean {
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

/** Whether the mode of a file lets other users read, write or run it. */
const isOpen = (path: string): boolean => (statSync(path).mode & 0o077) !== 0;
