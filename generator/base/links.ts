/** Symbolic links in a tree and its state. */
import { lstatSync } from 'node:fs';
import { Failure } from './errors.js';
import { ifExists } from './files.js';

/** @throws Failure environment: there is a symbolic link at a path */
export function requireNoLink(path: string): void {
  if (ifExists(() => lstatSync(path))?.isSymbolicLink() !== true) return;
  throw Failure.environment(
    `"${path}" is a symbolic link, and nothing in a tree or its state is read or written through one: ` +
      'put what it leads to in its place, or remove it and run "verify --repair"',
  );
}
