/** Folders of a test file, gone when it is done. */
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll } from 'vitest';

export { PROJECT } from './project.js';

/** Call it at the top of a test file: the function it returns names a new path at each call, with nothing there. */
export function temporary(): (name: string) => string {
  const folder = mkdtempSync(join(tmpdir(), 'register-test-'));
  let count = 0;
  afterAll(() => rmSync(folder, { recursive: true, force: true }));
  return (name) => join(folder, `${(count += 1)}-${name}`);
}

/** Makes a folder. @returns its path */
export function newFolder(folder: string): string {
  mkdirSync(folder);
  return folder;
}
