/** The package of this program. */
import { existsSync, readFileSync, realpathSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import * as z from 'zod';

/** The folder with package.json, whether this module is compiled or not. */
export const PROJECT_FOLDER = ((): string => {
  let folder = dirname(fileURLToPath(import.meta.url));
  while (!existsSync(join(folder, 'package.json'))) {
    const parent = dirname(folder);
    if (parent === folder) throw new Error(`no package.json above "${import.meta.url}"`);
    folder = parent;
  }
  return folder;
})();

const schema = z.object({ name: z.string(), version: z.string() });

/** Reads package.json, and says in which folder it is. */
export function readPackage() {
  const root = realpathSync(PROJECT_FOLDER);
  return { root, ...schema.parse(JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'))) };
}
