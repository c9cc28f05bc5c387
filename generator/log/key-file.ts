/**
 * Keys on disk. `KEY` holds the secret, `KEY.pub` the verifier key, and `KEY.last` the last
 * checkpoint that the key has signed: it is replaced before a checkpoint is published, so no state
 * that is deleted or restored can make the key sign a second history.
 */
import { existsSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { Failure, codeOf, messageOf } from '../errors.js';
import { flushOne, replaceFile } from '../files.js';
import { generateSigner, parseSigner, parseVerifier } from '../keys.js';
import type { KeyFile, Signer } from '../keys.js';
import { Lock } from '../lock.js';
import { EMPTY_HEAD } from '../tree/merkle.js';
import { noteOf, openNote } from './note.js';
import { checkpointText, parseCheckpoint } from './text.js';
import type { Checkpoint } from './text.js';

const lastFile = (path: string): string => `${path}.last`;
const publicFile = (path: string): string => `${path}.pub`;

/**
 * Makes a key that has signed nothing yet.
 * @param name the origin of its log, such as `register.example/log`
 * @returns the verifier key
 * @throws Failure usage: a name that no key can have; environment: a file exists or can't be written
 */
export function createKey(name: string, path: string): string {
  const secret = generateSigner(name);
  const signer = parseSigner(secret);
  const taken = [path, publicFile(path), lastFile(path)].find((file) => existsSync(file));
  if (taken !== undefined)
    throw Failure.environment(`"${taken}" exists, and a key is never replaced: choose another --write`);
  const none = { origin: name, size: 0, root: EMPTY_HEAD.toString('base64') };
  try {
    // The secret last: without KEY.last it could not be used.
    replaceFile(lastFile(path), signed(signer, none));
    replaceFile(publicFile(path), `${signer.vkey}\n`);
    flushOne(dirname(path));
    writeFileSync(path, `${secret}\n`, { mode: 0o600, flag: 'wx', flush: true });
  } catch (error) {
    throw unwritable(path, error);
  }
  return signer.vkey;
}

/** A checkpoint as a note that one key has signed. */
export const signed = (signer: Signer, checkpoint: Checkpoint): string =>
  noteOf(checkpointText(checkpoint), [signer]);

/** A key that no other process can use meanwhile. */
export class HeldKey {
  readonly path: string;
  readonly signer: Signer;
  readonly #lock: Lock;
  /** The content of KEY.last, and what it is to become. */
  #last: string;
  #next: string | undefined;

  private constructor({ path, signer }: KeyFile, lock: Lock, last: string) {
    this.path = path;
    this.signer = signer;
    this.#lock = lock;
    this.#last = last;
  }

  /** @throws Failure busy: another process signs with it; environment: KEY.last is missing */
  static take(key: KeyFile): HeldKey {
    const lock = lockOf(key.path);
    try {
      return new HeldKey(key, lock, readLast(key.path));
    } catch (error) {
      lock.release();
      throw error;
    }
  }

  /** The last checkpoint that it has signed. @throws Failure invalid: KEY.last is damaged */
  get last(): Checkpoint {
    try {
      const { text } = openNote(this.#last, [parseVerifier(this.signer.vkey)]);
      return parseCheckpoint(text);
    } catch (error) {
      throw Failure.invalid(`"${lastFile(this.path)}" is damaged: ${messageOf(error)}`);
    }
  }

  /** Writes what KEY.last is to become next to it, so that the swap needs no space. */
  prepare(checkpoint: Checkpoint): void {
    const next = signed(this.signer, checkpoint);
    try {
      writeFileSync(partialOf(this.path), next, { flush: true });
    } catch (error) {
      throw unwritable(lastFile(this.path), error);
    }
    this.#next = next;
  }

  /** Replaces KEY.last by what was prepared. From here on the key has signed that checkpoint. */
  swap(): void {
    if (this.#next === undefined) throw new TypeError('nothing was prepared to be signed');
    try {
      renameSync(partialOf(this.path), lastFile(this.path));
      flushOne(dirname(this.path));
    } catch (error) {
      throw unwritable(lastFile(this.path), error);
    }
    this.#last = this.#next;
  }

  release(): void {
    try {
      // Of a commit that was given up; after a swap it is gone.
      rmSync(partialOf(this.path), { force: true });
    } catch {
      // The next build overwrites it.
    } finally {
      this.#lock.release();
    }
  }
}

const partialOf = (key: string): string => `${lastFile(key)}.partial`;

const lockOf = (key: string): Lock => Lock.take(`${key}.lock`, `uses the key "${key}"`);

function readLast(key: string): string {
  try {
    return readFileSync(lastFile(key), 'utf8');
  } catch (error) {
    if (codeOf(error) !== 'ENOENT') throw unwritable(lastFile(key), error);
    throw Failure.environment(
      `"${lastFile(key)}" is missing: expected the last checkpoint that the key has signed, ` +
        'which is the newest that its log has published (see docs/signed-log.md)',
    );
  }
}

function unwritable(file: string, error: unknown): unknown {
  if (error instanceof Failure || codeOf(error) === undefined) return error;
  return Failure.environment(`"${file}" can't be written: ${messageOf(error)}`);
}
