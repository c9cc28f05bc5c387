/** The build key: the inputs of documents besides the register's rows. It must match for reuse. */
import { createHash, hash } from 'node:crypto';
import { existsSync, readFileSync, readdirSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { SiteConfig } from '../../config/config.js';
import { sqliteVersion } from '../../base/sqlite/sqlite.js';

/**
 * SHA-256, in hex, over the generator's code and the versions of its dependencies. The package's
 * own version is not enough: different code may render the same rows differently.
 */
export function codeIdentity(): string {
  // The folder of the compiled generator.
  const folder = dirname(dirname(dirname(fileURLToPath(import.meta.url))));
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

/** The package.json files in the nearest node_modules; a bundled package is part of the code. */
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

export interface BuildKey {
  readonly code: string;
  readonly schema: string;
  readonly operator: string;
}

/**
 * @param code identifies the code and its runtime
 * @param schema the tables' CREATE statements: a collation decides which values are equal
 */
export const buildKeyOf = (
  code: string,
  schema: readonly string[],
  { operator }: Pick<SiteConfig, 'operator'>,
): BuildKey => ({
  code,
  schema: hash('sha256', JSON.stringify(schema)),
  operator: hash('sha256', JSON.stringify(operator)),
});
