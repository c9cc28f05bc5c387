/** What a build's documents are made by and of, beside the rows of the register. */
import { createHash } from 'node:crypto';
import { existsSync, readFileSync, readdirSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { BuildConfig } from './config.js';
import type { Hidden } from './register/open.js';
import { sqliteVersion } from './sqlite/index.js';

/**
 * SHA-256 over the code of the generator and the versions of what it uses, in hex: another code may render the same rows
 * in another way, whatever its version is called.
 */
export function codeIdentity(): string {
  const folder = dirname(fileURLToPath(import.meta.url));
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

/**
 * SHA-256 over all that goes into documents besides the rows, in hex.
 *
 * @param code identifies the code and its runtime
 * @param schema the SQL that made the tables: a collation decides what is equal
 */
export function madeOf(
  code: string,
  { operator, layout }: BuildConfig,
  schema: readonly string[],
  hidden: Hidden,
): string {
  const digest = createHash('sha256').update(JSON.stringify([code, operator, layout, schema]));
  // Row by row: of a broken register, nearly all of it may be left out.
  for (const [table, rows] of Object.entries(hidden)) {
    for (const row of rows) digest.update(JSON.stringify([table, row], exact));
  }
  return digest.digest('hex');
}

/** Ids that break the contract may be integers beyond what JSON has. */
const exact = (_: string, value: unknown): unknown => (typeof value === 'bigint' ? `${value}n` : value);
