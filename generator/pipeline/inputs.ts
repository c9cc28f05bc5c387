/** What a snapshot is made from, as hashes: where they are those of the last one, nothing needs to be rendered. */
import { createHash, hash } from 'node:crypto';
import { closeSync, existsSync, openSync, readFileSync, readdirSync, realpathSync, statSync } from 'node:fs';
import { join, relative } from 'node:path';
import { ASSETS_FOLDER } from '../base/assets.js';
import { PROJECT_FOLDER } from '../base/package.js';
import { chunksIn, chunksOf } from '../base/files.js';
import { sqliteVersion } from '../base/sqlite/sqlite.js';
import type { BuildConfig } from '../config/config.js';
import { contentOf } from '../config/site-files.js';
import { TEMPLATES_FOLDER } from '../outputs/pages/render.js';

/** The program and its threads (see bundle.ts). All that they import is in files that are named by their content. */
const PROGRAMS = ['program.js', 'pipeline/worker.js'].map((file) =>
  join(PROJECT_FOLDER, 'build/generator', file),
);

/**
 * SHA-256, in hex, over the generator's code, that of its dependencies included. The package's own version is
 * not enough: different code may render the same rows differently.
 */
export function codeIdentity(): string {
  const digest = createHash('sha256');
  const read = [TEMPLATES_FOLDER, ASSETS_FOLDER].flatMap((folder) =>
    readdirSync(folder, { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile())
      .map((entry) => join(entry.parentPath, entry.name))
      .toSorted(),
  );
  for (const file of [...PROGRAMS, ...read]) {
    const content = readFileSync(file);
    digest.update(`${relative(PROJECT_FOLDER, file)}\n${content.length}\n`).update(content);
  }
  return digest.update(sqliteVersion()).digest('hex');
}

/**
 * SHA-256, in hex, of what documents are made from besides the register.
 * @param code identifies the code and its runtime (see `codeIdentity`)
 */
export function programHash(code: string, config: BuildConfig): string {
  const { operator, limits, notMeasured, skipInvalid, brand, files } = config;
  // Views may convert to local time. Intl would take 15 ms to name its zone.
  const offsets = Array.from({ length: 1200 }, (_, month) => new Date(1970, month).getTimezoneOffset());
  const contents = files.map((file) => [file.route.path, hash('sha256', contentOf(file))]);
  return hash(
    'sha256',
    JSON.stringify([code, offsets, operator, limits, notMeasured, skipInvalid, brand, contents]),
  );
}

/**
 * The bytes of a register. POSIX drops all locks of a process when it closes any descriptor of a file
 * (fcntl(2)), and a writer could then change what an open read transaction reads: this one is opened before
 * the first connection to the register, and closed after the last.
 */
export class RegisterBytes {
  readonly #file: string;
  readonly #descriptor: number | undefined;

  /** If the file can't be opened, there is no hash: the connection says what is wrong. A pipe would never open. */
  constructor(file: string) {
    this.#file = file;
    try {
      this.#descriptor = statSync(file).isFile() ? openSync(file, 'r') : undefined;
    } catch {
      this.#descriptor = undefined;
    }
  }

  /** SHA-256, in hex, with the -wal, which no locks are on. @returns null if they can't be read */
  hash(): string | null {
    if (this.#descriptor === undefined) return null;
    const digest = createHash('sha256');
    const add = (chunks: Iterable<Buffer>): void => {
      let bytes = 0;
      for (const chunk of chunks) {
        digest.update(chunk);
        bytes += chunk.length;
      }
      digest.update(`\n${bytes}\n`);
    };
    try {
      add(chunksIn(this.#descriptor));
      // Next to the file itself, whatever leads to it.
      const wal = `${realpathSync(this.#file)}-wal`;
      if (existsSync(wal)) add(chunksOf(wal));
      return digest.digest('hex');
    } catch {
      return null;
    }
  }

  close(): void {
    if (this.#descriptor !== undefined) closeSync(this.#descriptor);
  }
}
