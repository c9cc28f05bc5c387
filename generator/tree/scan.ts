/** Walks the files of a tree. */
import { opendirSync } from 'node:fs';
import { join } from 'node:path';
import { HARMLESS } from './tree.js';

/** The files below a folder of a tree, by their names below the tree. */
export function* filesBelow(root: string, folder: string): Generator<string, void, undefined> {
  const directory = opendirSync(join(root, folder));
  try {
    for (let entry = directory.readSync(); entry !== null; entry = directory.readSync()) {
      const path = folder === '' ? entry.name : `${folder}/${entry.name}`;
      if (folder === '' && HARMLESS.has(entry.name)) continue;
      if (entry.isDirectory()) yield* filesBelow(root, path);
      else yield path;
    }
  } finally {
    directory.closeSync();
  }
}
