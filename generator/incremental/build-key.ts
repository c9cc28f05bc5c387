/** What documents are made from besides the rows of the register: where it is the same, so are documents of the same rows. */
import { createHash, hash } from 'node:crypto';
import { existsSync, readFileSync, readdirSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Operator } from '../config.js';
import { sqliteVersion } from '../sqlite/index.js';

/**
 * SHA-256 over the code of the generator and the versions of what it uses, in hex: another code may render the same rows
 * in another way, whatever its version is called.
 */
export function codeIdentity(): string {
  // The folder above this one, compiled.
  const folder = dirname(dirname(fileURLToPath(import.meta.url)));
  const digest = createHash('sha256');
  const files = readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name))
    .toSorted();
  for (const file of files) {
    const content = readFileSync(file);
    digest.update(`${file.slice(folder.length)}\n${content.length}\n`).update(content);
  }
  return digest.update(JSON.stringify([sqliteVersion(), ...packages(folder)])).digest('hex');
}

/** The package.json of each package in the nearest node_modules; a package that is bundled with the code is part of it. */
function packages(folder: string): readonly string[] {
  const installed = join(folder, 'node_modules');
  const parent = dirname(folder);
  if (!existsSync(installed)) return parent === folder ? [] : packages(parent);
  return readdirSync(installed)
    .flatMap((name) =>
      name.startsWith('@') ? readdirSync(join(installed, name)).map((part) => join(name, part)) : [name],
    )
    .map((name) => join(installed, name, 'package.json'))
    .filter((file) => existsSync(file))
    .toSorted()
    .map((file) => readFileSync(file, 'utf8'));
}

/** Hashes of all that documents are made from besides the rows. */
export interface BuildKey {
  readonly code: string;
  readonly schema: string;
  readonly operator: string;
}

/**
 * @param code identifies the code and its runtime
 * @param schema the SQL that made the tables: a collation decides what is equal
 */
export const buildKeyOf = (code: string, schema: readonly string[], operator: Operator): BuildKey => ({
  code,
  schema: hash('sha256', JSON.stringify(schema)),
  operator: hash('sha256', JSON.stringify(operator)),
});
