/** The folder of templates, styles and scripts, in the sources: the compiler does not copy them. */
import { existsSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

/** The folder with package.json, whether this module is compiled or not. */
function projectFolder(): string {
  let folder = dirname(fileURLToPath(import.meta.url));
  while (!existsSync(join(folder, 'package.json'))) {
    const parent = dirname(folder);
    if (parent === folder) throw new Error(`no package.json above "${import.meta.dirname}"`);
    folder = parent;
  }
  return folder;
}

const PROJECT_FOLDER = projectFolder();

export const PAGES_FOLDER = join(PROJECT_FOLDER, 'generator/outputs/pages');
export const COMPILED_FOLDER = join(PROJECT_FOLDER, 'build/generator/outputs/pages');
