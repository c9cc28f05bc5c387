/** Small file systems to fill, where the machine lets this process mount them. */
import { spawnSync } from 'node:child_process';
import { closeSync, mkdirSync, openSync, rmSync, statfsSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll } from 'vitest';

/** Runs a system tool; whether it did what it should. */
export const did = (command: string, ...args: string[]): boolean =>
  spawnSync(command, args, { stdio: 'ignore' }).status === 0;

const mounted: string[] = [];

/** To be called at the top of a test file, after `temporary()`: whatever it mounts is unmounted at its end. */
export function unmountAfterwards(): void {
  afterAll(() => {
    for (const folder of mounted.splice(0)) did('umount', '-l', folder);
  });
}

/** Mounts something on a new folder; undefined where that is not permitted. */
export function mountAt(folder: string, ...args: string[]): string | undefined {
  mkdirSync(folder, { recursive: true });
  if (!did('mount', ...args, folder)) return undefined;
  mounted.push(folder);
  return folder;
}

/** Whether this process may mount at all. */
export function mayMount(folder: string): boolean {
  mkdirSync(folder, { recursive: true });
  return did('mount', '-t', 'tmpfs', 'tmpfs', folder) && did('umount', folder);
}

/** An ext4 of so many kilobytes in a file; undefined where that is not possible. */
export function mountExt4(
  image: string,
  folder: string,
  kilobytes: number,
  block = 1024,
): string | undefined {
  const made =
    did('truncate', '-s', `${kilobytes}k`, image) &&
    did('mkfs.ext4', '-q', '-F', '-b', String(block), '-m', '0', '-N', '3000', '-O', '^has_journal', image);
  return made ? mountAt(folder, '-o', 'loop', image) : undefined;
}

/** Fills a disk until so many blocks are free; what filled it before is deleted first. */
export function fillUpTo(folder: string, free: number): void {
  const file = join(folder, 'filler');
  rmSync(file, { force: true });
  const { bsize } = statfsSync(folder);
  const block = Buffer.alloc(bsize, 'x');
  const descriptor = openSync(file, 'w');
  try {
    while (statfsSync(folder).bavail > free) writeSync(descriptor, block);
  } catch {
    // Full is full.
  } finally {
    closeSync(descriptor);
  }
}

/** Some file systems give room back only when the deletion itself is on the disk. */
export const flush = (folder: string): boolean => did('sync', '-f', folder);

export function empty(folder: string): void {
  rmSync(join(folder, 'filler'), { force: true });
  flush(folder);
}
