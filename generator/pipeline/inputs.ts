/** What a snapshot is made from, as hashes: where they are those of the last one, nothing needs to be rendered. */
import { execFile } from 'node:child_process';
import { createHash, hash } from 'node:crypto';
import { existsSync, readFileSync, readdirSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { execPath } from 'node:process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { ASSETS_FOLDER } from '../base/assets.js';
import { sqliteVersion } from '../base/sqlite/sqlite.js';
import type { BuildConfig } from '../config/config.js';
import { contentOf } from '../config/site-files.js';
import { TEMPLATES_FOLDER } from '../outputs/pages/render.js';

/** The folder of the compiled generator. */
const GENERATOR = dirname(dirname(fileURLToPath(import.meta.url)));

/**
 * SHA-256, in hex, over the generator's code and the versions of its dependencies. The package's
 * own version is not enough: different code may render the same rows differently.
 */
export function codeIdentity(): string {
  const digest = createHash('sha256');
  for (const folder of [GENERATOR, TEMPLATES_FOLDER, ASSETS_FOLDER]) {
    const files = readdirSync(folder, { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile())
      .map((entry) => join(entry.parentPath, entry.name))
      .toSorted();
    for (const file of files) {
      const content = readFileSync(file);
      digest.update(`${file.slice(folder.length)}\n${content.length}\n`).update(content);
    }
  }
  return digest.update(JSON.stringify([sqliteVersion(), ...packages(GENERATOR)])).digest('hex');
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

/**
 * SHA-256, in hex, of what documents are made from besides the register.
 * @param code identifies the code and its runtime (see `codeIdentity`)
 */
export function programHash(code: string, config: BuildConfig): string {
  const { operator, limits, notMeasured, skipInvalid, brand, files } = config;
  const { timeZone } = Intl.DateTimeFormat().resolvedOptions();
  const contents = files.map((file) => [file.route.path, hash('sha256', contentOf(file))]);
  return hash(
    'sha256',
    JSON.stringify([code, timeZone, operator, limits, notMeasured, skipInvalid, brand, contents]),
  );
}

/** Hashes the files that are named, as far as they exist. */
const HASH_FILES = `
  const digest = require('node:crypto').createHash('sha256');
  const { openSync, readSync } = require('node:fs');
  const chunk = Buffer.alloc(1 << 20);
  for (const file of process.argv.slice(1)) {
    let descriptor;
    try { descriptor = openSync(file); } catch (error) { if (error.code !== 'ENOENT') throw error; continue; }
    let bytes = 0;
    for (let read; (read = readSync(descriptor, chunk)) > 0; bytes += read) digest.update(chunk.subarray(0, read));
    digest.update('\\n' + bytes + '\\n');
  }
  process.stdout.write(digest.digest('hex'));
`;

/**
 * SHA-256, in hex, of a register's bytes, with its -wal. Another process reads them: POSIX drops all locks
 * of a process when it closes any descriptor of a file (fcntl(2)), and a writer could then change what an
 * open read transaction of this one reads.
 * @returns null if they can't be read
 */
export async function registerHash(file: string): Promise<string | null> {
  try {
    const { stdout } = await promisify(execFile)(execPath, ['-e', HASH_FILES, file, `${file}-wal`]);
    return stdout;
  } catch {
    return null;
  }
}
