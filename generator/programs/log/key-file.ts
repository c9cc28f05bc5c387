/**
 * Keys on disk. `KEY` holds the secret, `KEY.pub` the verifier key, and `KEY.last` the last
 * checkpoint that the key has signed: it is replaced before a checkpoint is published, so no state
 * that is deleted or restored can make the key sign a second history.
 */
import { existsSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { Failure, messageOf, reading, writing } from '../../base/errors.js';
import { flushOne, readText, replaceFileDurably } from '../../base/files.js';
import { generateSigner, parseSigner, parseVerifier, type KeyFile, type Signer } from '../../base/keys.js';
import { Lock } from '../../base/lock.js';
import { EMPTY_HEAD } from './tlog/merkle.js';
import { noteOf, openNote } from './tlog/note.js';
import { checkpointText, parseCheckpoint, type Checkpoint } from './tlog/text.js';

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
  writing(`"${path}"`, () => {
    // The secret last: without KEY.last it could not be used.
    replaceFileDurably(lastFile(path), signed(signer, none));
    replaceFileDurably(publicFile(path), `${signer.vkey}\n`);
    writeFileSync(path, `${secret}\n`, { mode: 0o600, flag: 'wx', flush: true });
    flushOne(dirname(path));
  });
  return signer.vkey;
}

/** A checkpoint as a note that one key has signed. */
export const signed = (signer: Signer, checkpoint: Checkpoint): string =>
  noteOf(checkpointText(checkpoint), [signer]);

/** A key that no other process can use meanwhile. */
export class HeldKey {
  readonly path: string;
  readonly signer: Signer;
  /** The last checkpoint that it has signed. */
  #last: Checkpoint;
  readonly #lock: Lock;

  private constructor({ path, signer }: KeyFile, lock: Lock) {
    this.path = path;
    this.signer = signer;
    this.#last = readLast(path, signer);
    this.#lock = lock;
  }

  /**
   * @throws Failure busy: another process signs with it; environment: KEY.last is missing; invalid:
   * KEY.last is damaged
   */
  static take(key: KeyFile): HeldKey {
    const lock = Lock.take(`${key.path}.lock`, `uses the key "${key.path}"`);
    try {
      return new HeldKey(key, lock);
    } catch (error) {
      lock.release();
      throw error;
    }
  }

  get last(): Checkpoint {
    return this.#last;
  }

  /**
   * Writes what KEY.last is to become next to it.
   * @returns replaces KEY.last by it, which needs no space. From then on the key has signed that
   * checkpoint
   */
  prepare(checkpoint: Checkpoint): () => void {
    const file = lastFile(this.path);
    writing(`"${file}"`, () =>
      writeFileSync(partialOf(file), signed(this.signer, checkpoint), { flush: true }),
    );
    return () => {
      writing(`"${file}"`, () => {
        renameSync(partialOf(file), file);
        flushOne(dirname(file));
      });
      this.#last = checkpoint;
    };
  }

  release(): void {
    try {
      // Of a commit that was given up; after a replacement it is gone.
      rmSync(partialOf(lastFile(this.path)), { force: true });
    } catch {
      // The next build overwrites it.
    } finally {
      this.#lock.release();
    }
  }
}

const partialOf = (file: string): string => `${file}.partial`;

function readLast(path: string, signer: Signer): Checkpoint {
  const file = lastFile(path);
  const note = reading(`"${file}"`, () => readText(file));
  if (note === undefined)
    throw Failure.environment(
      `"${file}" is missing: expected the last checkpoint that the key has signed, ` +
        'which is the newest that its log has published (see docs/signed-log.md)',
    );
  try {
    return parseCheckpoint(openNote(note, [parseVerifier(signer.vkey)]).text);
  } catch (error) {
    throw Failure.invalid(`"${file}" is damaged: ${messageOf(error)}`);
  }
}
