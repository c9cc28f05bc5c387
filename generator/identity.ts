/** What a build's documents are made by and of, beside the rows of the register. */
import { createHash, hash } from 'node:crypto';
import { existsSync, readFileSync, readdirSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { BuildConfig } from './config.js';
import type { Hidden } from './register/open.js';

/**
 * SHA-256 over the code of the generator and the list of the packages it uses, in hex: another code may render the
 * same rows in another way, whatever its version is called.
 */
export function codeIdentity(): string {
  const folder = dirname(fileURLToPath(import.meta.url));
  const digest = createHash('sha256');
  const files = readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name))
    .toSorted();
  // Beside the sources, and beside the folder of what is compiled.
  const lists = ['../package-lock.json', '../../package-lock.json'].map((list) => join(folder, list));
  for (const file of [...files, ...lists.filter((list) => existsSync(list))]) {
    const content = readFileSync(file);
    digest.update(`${file.slice(folder.length)}\n${content.length}\n`).update(content);
  }
  return digest.digest('hex');
}

/** SHA-256 over all that goes into documents beside the rows, in hex. @param code identifies the code and its runtime */
export function madeOf(code: string, { operator, layout }: BuildConfig, hidden: Hidden): string {
  return hash('sha256', JSON.stringify([code, operator, layout, hidden], exact));
}

/** Ids that break the contract may be integers beyond what JSON has. */
const exact = (_: string, value: unknown): unknown => (typeof value === 'bigint' ? `${value}n` : value);
