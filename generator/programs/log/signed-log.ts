/**
 * Signing, as a step after each commit. A commit records in the private state what the snapshot is;
 * the step adds an entry with that to the log, and signs the log's new head. What lies in the public
 * folder is never signed: whoever can write there could have changed it.
 *
 * The order of the step: everything that needs disk space is written to the state; `KEY.last` is
 * replaced; tiles are moved into the tree; the checkpoint follows. The entry depends on the record
 * alone, and nothing is committed while a snapshot is unsigned. So wherever the process dies, the
 * next one continues with the same entry, and no key signs two heads of one size.
 */
import { join } from 'node:path';
import { Failure, messageOf, unlessFailure } from '../../base/errors.js';
import { parseVerifier, type Signer } from '../../base/keys.js';
import type { Signing } from '../../config/signing.js';
import { logFolder } from './log-paths.js';
import { EMPTY_HEAD } from './tlog/merkle.js';
import type { Tree } from '../../tree/tree.js';
import { updateChunkIndex } from './chunk-index.js';
import { HeldKey } from './key-file.js';
import { append, newestIn, rootOf, type Appended } from './log-files.js';
import { noteOf, openNote } from './tlog/note.js';
import { publishEntry, publishedNote, replaceCheckpoint } from './publish-entry.js';
import { declaredKeys, isBehind, recordOf } from './record.js';
import { checkpointIn, checkpointText, entryText, type Checkpoint, type SnapshotEntry } from './tlog/text.js';

/** What is known of a log. */
interface Known {
  /** Of size 0 if it has no entry yet. */
  readonly checkpoint: Checkpoint;
  /** The published note; undefined if there is none, or if keys have signed more than it says. */
  readonly note: string | undefined;
  readonly newest: SnapshotEntry | undefined;
}

/** The log of one tree, and the keys that sign it, held until `release`. */
export class SignedLog {
  readonly #tree: Tree;
  readonly #treeId: string;
  readonly #folder: string;
  readonly #keys: readonly HeldKey[];
  /** The name of the keys. */
  readonly origin: string;
  /** The number of entries, and the number of the snapshot that the newest is of. */
  size = 0;
  sequence = 0;

  private constructor(tree: Tree, treeId: string, keys: readonly HeldKey[], origin: string) {
    this.#tree = tree;
    this.#treeId = treeId;
    this.#folder = join(tree.out, logFolder(treeId));
    this.#keys = keys;
    this.origin = origin;
  }

  /**
   * Takes the keys.
   * @throws Failure busy: another process uses a key; environment: KEY.last is missing; invalid: it
   * is damaged
   */
  static take(tree: Tree, treeId: string, signing: Signing): SignedLog {
    const keys: HeldKey[] = [];
    try {
      for (const key of signing.keys) keys.push(HeldKey.take(key));
      return new SignedLog(tree, treeId, keys, signing.origin);
    } catch (error) {
      for (const key of keys) key.release();
      throw error;
    }
  }

  get #signers(): readonly Signer[] {
    return this.#keys.map(({ signer }) => signer);
  }

  /**
   * Signs the last snapshot if that was not done, and restores a checkpoint that was lost. Requires
   * the lock of the tree.
   * @returns whether there was anything to sign
   * @throws Failure usage, invalid: the keys must not sign this log, or this snapshot; environment:
   * nothing was signed, since something can't be written
   */
  sign(): boolean {
    const known = this.#known();
    const { checkpoint } = known;
    const record = recordOf(this.#tree, this.#treeId);
    const snapshot = isBehind(known.newest, record) ? record : undefined;
    const declared = snapshot === undefined ? [] : declaredKeys(this.#tree, snapshot);
    const next =
      snapshot === undefined || declared.length === 0
        ? undefined
        : append(this.#folder, checkpoint.size, Buffer.from(entryText(snapshot)));
    this.#requireSame(checkpoint, next);
    this.#requireSigned(known);
    this.size = next?.size ?? checkpoint.size;
    this.sequence = snapshot?.sequence ?? known.newest?.sequence ?? 0;
    if (snapshot === undefined || next === undefined) {
      if (known.note === undefined && checkpoint.size > 0)
        replaceCheckpoint(this.#tree, this.#treeId, noteOf(checkpointText(checkpoint), this.#signers));
      return false;
    }
    const signers = this.#signersOf(snapshot.sequence, declared);
    const signed = { origin: this.origin, size: next.size, root: next.root.toString('base64') };
    const note = noteOf(checkpointText(signed), signers);
    updateChunkIndex(this.#tree);
    publishEntry(this.#tree, snapshot, next, this.#keys, signed, note);
    return true;
  }

  #known(): Known {
    const note = publishedNote(this.#tree, this.#treeId);
    const published =
      note === undefined
        ? { origin: this.origin, size: 0, root: EMPTY_HEAD.toString('base64') }
        : checkpointIn(note);
    // What a key has signed last may be newer, and its tiles be there: the checkpoint was lost, or
    // the process died before it could be published.
    const [last] = this.#keys.map((key) => key.last).toSorted((a, b) => b.size - a.size);
    const isLost =
      last !== undefined &&
      last.size > published.size &&
      unlessFailure(() => this.#isRoot(last.size, last.root)) === true;
    const checkpoint = isLost ? last : published;
    return {
      checkpoint,
      note: isLost ? undefined : note,
      newest: newestIn(this.#folder, checkpoint.size),
    };
  }

  /** Whether the tiles lead to a root. @throws Failure invalid: one is missing or altered */
  #isRoot(size: number, root: string): boolean {
    return rootOf(this.#folder, size).toString('base64') === root;
  }

  /**
   * @param next the log with the snapshot that is not signed yet, which a key may have signed already
   * @throws Failure: the log must not be continued with these keys
   */
  #requireSame({ origin, size, root }: Checkpoint, next: Appended | undefined): void {
    for (const { path, signer, last } of this.#keys) {
      if (origin !== signer.name)
        throw Failure.usage(
          `key "${path}" is named "${signer.name}", expected "${origin}", the origin of the log`,
        );
      if (!this.#isRoot(size, root))
        throw Failure.invalid(
          `the log in "${this.#folder}" is damaged: its tiles are not of its checkpoint (see docs/signed-log.md)`,
        );
      const isNext = next?.size === last.size && next.root.toString('base64') === last.root;
      if (isNext || (last.size <= size && this.#isRoot(last.size, last.root))) continue;
      throw Failure.invalid(
        `the key "${path}" has signed a log of ${last.size} snapshots, and "${this.#tree.out}" has ` +
          `${last.size <= size ? 'other ones' : size === 0 ? 'none of them' : `only ${size} of them`}: ` +
          'to go on would sign a second history. Restore the newest tree, or begin a new log with a new key ' +
          '(see docs/signed-log.md)',
      );
    }
  }

  /**
   * Whoever can write to the tree could have added entries, which the next checkpoint would sign. If
   * all keys are new, since the old one was lost, what is published is taken as it is.
   * @throws Failure invalid: none of the keys has signed what is published
   */
  #requireSigned({ checkpoint: { size, root }, note = '' }: Known): void {
    const isNew = this.#keys.every(({ last }) => last.size === 0);
    if (size === 0 || isNew || this.#keys.some(({ last }) => last.root === root)) return;
    try {
      openNote(
        note,
        this.#signers.map(({ vkey }) => parseVerifier(vkey)),
      );
    } catch (error) {
      throw Failure.invalid(
        `none of the keys has signed the checkpoint in "${this.#folder}": ${messageOf(error)}; ` +
          'restore what they have signed (see docs/signed-log.md)',
      );
    }
  }

  /** The keys that a snapshot names. @throws Failure usage: there is none among them */
  #signersOf(sequence: number, declared: readonly string[]): readonly Signer[] {
    const signers = this.#signers.filter(({ vkey }) => declared.includes(vkey));
    if (signers.length > 0) return signers;
    throw Failure.usage(
      `snapshot ${sequence} is not signed yet, and names other keys: expected that of ${declared.join(' or ')}`,
    );
  }

  release(): void {
    for (const key of this.#keys) key.release();
  }
}
