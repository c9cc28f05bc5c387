/** Operator files that say more than that of the golden trees. */
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { OPERATOR } from './build.js';
import { fields } from './values.js';

export type Files = Readonly<Record<string, string | Buffer>>;

/** Writes files below a folder, which is made if it is not there. */
export function writeFiles(folder: string, files: Files): void {
  mkdirSync(folder, { recursive: true });
  for (const [name, content] of Object.entries(files)) {
    mkdirSync(dirname(join(folder, name)), { recursive: true });
    writeFileSync(join(folder, name), content);
  }
}

/**
 * Writes operator.json into a folder.
 * @param keys in place of what it says, or along with it
 * @param files of the operator, in the folder `site` next to it
 * @returns its path
 */
export function writeOperator(folder: string, keys: object, files: Files = {}): string {
  writeFiles(join(folder, 'site'), files);
  const operator = join(folder, 'operator.json');
  const content = { ...fields(JSON.parse(readFileSync(OPERATOR, 'utf8'))), ...keys };
  writeFileSync(operator, JSON.stringify(content, null, 2));
  return operator;
}
