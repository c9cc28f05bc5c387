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
import { Failure, messageOf } from '../errors.js';
import { parseVerifier } from '../keys.js';
import type { Signer } from '../keys.js';
import type { Progress } from '../progress.js';
import type { Signing } from '../config/signing.js';
import { logFolder } from '../tree/log-paths.js';
import type { Tree } from '../tree/tree.js';
import { HeldKey } from './key-file.js';
import { append, entryAt, headOf, rootOf } from './log-files.js';
import type { Appended } from './log-files.js';
import { consistencyProof } from './merkle.js';
import { noteOf, openNote } from './note.js';
import { publishEntry, publishedNote, replaceCheckpoint } from './publish-entry.js';
import { declaredKeys, recordOf } from './record.js';
import { base64Of } from '../tree/chunk-text.js';
import { checkpointIn, checkpointText, entryText, parseEntry } from './text.js';
import type { Checkpoint, SnapshotEntry } from './text.js';
import { cosignUntilStop, sizeCosignedBy } from './witness.js';

/** Whether a log has no entry of a snapshot. @param newest of the log, if it has any */
export const isBehind = (newest: SnapshotEntry | undefined, snapshot: SnapshotEntry | undefined): boolean =>
  snapshot !== undefined && (newest === undefined || newest.sequence < snapshot.sequence);

export const newestIn = (folder: string, size: number): SnapshotEntry =>
  parseEntry(entryAt(folder, size, size - 1).toString());

/** What is known of a log. */
interface Known {
  /** Undefined if it has no entry yet. */
  readonly checkpoint: Checkpoint | undefined;
  /** The published note; undefined if there is none, or if keys have signed more than it says. */
  readonly note: string | undefined;
  readonly newest: SnapshotEntry | undefined;
}

/** Keys that sign the log of one tree, held until `release`. */
export class SignedLog {
  readonly #keys: readonly HeldKey[];
  readonly #signing: Signing;
  readonly #warn: (line: string) => void;
  /** What was published before this step signed. */
  #before: string | undefined;
  /** The number of entries, and the number of the snapshot that the newest is of. */
  size = 0;
  sequence = 0;

  private constructor(keys: readonly HeldKey[], signing: Signing, warn: (line: string) => void) {
    this.#keys = keys;
    this.#signing = signing;
    this.#warn = warn;
  }

  /**
   * Takes the keys.
   * @param warn called for each witness that does not cosign
   * @throws Failure busy: another process uses a key; environment: KEY.last is missing
   */
  static take(signing: Signing, warn: (line: string) => void): SignedLog {
    const keys: HeldKey[] = [];
    try {
      for (const key of signing.keys) keys.push(HeldKey.take(key));
      return new SignedLog(keys, signing, warn);
    } catch (error) {
      for (const key of keys) key.release();
      throw error;
    }
  }

  get #signers(): readonly Signer[] {
    return this.#keys.map(({ signer }) => signer);
  }

  /** The name of the keys. */
  get origin(): string {
    return this.#signing.origin;
  }

  /**
   * Signs the last snapshot if that was not done. Requires the lock of the tree.
   * @returns whether there was anything to sign
   * @throws Failure usage, invalid: the keys must not sign this log, or this snapshot; environment:
   * nothing was signed, since something can't be written
   */
  sign(tree: Tree, treeId: string): boolean {
    const folder = join(tree.out, logFolder(treeId));
    const known = this.#known(tree, treeId);
    const size = known.checkpoint?.size ?? 0;
    const record = recordOf(tree, treeId);
    const snapshot = isBehind(known.newest, record) ? record : undefined;
    const declared = snapshot === undefined ? [] : declaredKeys(tree, snapshot);
    const next =
      snapshot === undefined || declared.length === 0
        ? undefined
        : append(folder, size, Buffer.from(entryText(snapshot)));
    for (const key of this.#keys) requireSame(tree, treeId, key, known, next);
    this.#requireSigned(folder, known);
    this.size = next?.size ?? size;
    this.sequence = snapshot?.sequence ?? known.newest?.sequence ?? 0;
    if (snapshot === undefined || next === undefined) return false;
    const signers = this.#signersOf(snapshot.sequence, declared);
    const checkpoint = { origin: this.origin, size: next.size, root: base64Of(next.root) };
    publishEntry(tree, snapshot, next, {
      keys: this.#keys,
      checkpoint,
      note: noteOf(checkpointText(checkpoint), signers),
    });
    this.#before = known.note;
    return true;
  }

  /**
   * Restores a checkpoint that was lost, and asks the witnesses that have not cosigned yet. Requires
   * the lock of the tree. Neither a witness that is down nor a signal is a failure.
   */
  async cosign(tree: Tree, treeId: string, progress: Progress): Promise<void> {
    const { checkpoint, note: published } = this.#known(tree, treeId);
    if (checkpoint === undefined) return;
    const note = published ?? noteOf(checkpointText(checkpoint), this.#signers);
    if (published === undefined) replaceCheckpoint(tree, treeId, note);
    try {
      await this.#cosign(tree, treeId, note, progress);
    } catch (error) {
      this.#warn(`no cosignature could be added: ${messageOf(error)}`);
    }
  }

  #known(tree: Tree, treeId: string): Known {
    const folder = join(tree.out, logFolder(treeId));
    const published = publishedNote(tree, treeId);
    const publishedCheckpoint = published === undefined ? undefined : checkpointIn(published);
    const unpublished = this.#unpublished(folder, publishedCheckpoint?.size ?? 0);
    const checkpoint = unpublished ?? publishedCheckpoint;
    const size = checkpoint?.size ?? 0;
    return {
      checkpoint,
      note: unpublished === undefined ? published : undefined,
      newest: size === 0 ? undefined : newestIn(folder, size),
    };
  }

  /**
   * What a key has signed last, if that is newer than the published checkpoint and its tiles are
   * there: the checkpoint was lost, or the process died before it could be published.
   */
  #unpublished(folder: string, size: number): Checkpoint | undefined {
    const [last] = this.#keys.map((key) => key.last).toSorted((a, b) => b.size - a.size);
    return last !== undefined && last.size > size && isRoot(folder, last) ? last : undefined;
  }

  /**
   * Whoever can write to the tree could have added entries, which the next checkpoint would sign. If
   * all keys are new, since the old one was lost, what is published is taken as it is.
   * @throws Failure invalid: none of the keys has signed what is published
   */
  #requireSigned(folder: string, { checkpoint, note }: Known): void {
    const isNew = this.#keys.every(({ last }) => last.size === 0);
    const isLast = this.#keys.some(({ last }) => last.root === checkpoint?.root);
    if (checkpoint === undefined || isNew || isLast) return;
    try {
      openNote(
        note ?? '',
        this.#keys.map(({ signer }) => parseVerifier(signer.vkey)),
      );
    } catch (error) {
      throw Failure.invalid(
        `none of the keys has signed the checkpoint in "${folder}": ${messageOf(error)}; ` +
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

  /** Adds cosignatures to the published note. */
  async #cosign(tree: Tree, treeId: string, note: string, progress: Progress): Promise<void> {
    const witnesses = this.#signing.witnesses.filter((witness) => sizeCosignedBy(note, witness) === 0);
    if (witnesses.length === 0) return;
    const { size } = checkpointIn(note);
    const heads = headOf(join(tree.out, logFolder(treeId)), size);
    const previous = this.#before === undefined ? {} : { previous: this.#before };
    const consistencyFrom = (old: number): readonly string[] =>
      consistencyProof(old, size, heads).map((each) => base64Of(each));
    const cosigned = await cosignUntilStop(note, witnesses, consistencyFrom, previous, progress);
    for (const { url, reason } of cosigned.missing) this.#warn(`witness ${url} has not cosigned: ${reason}`);
    if (cosigned.note !== note) replaceCheckpoint(tree, treeId, cosigned.note);
  }

  release(): void {
    for (const key of this.#keys) key.release();
  }
}

function isRoot(folder: string, { size, root }: Checkpoint): boolean {
  try {
    return base64Of(rootOf(folder, size)) === root;
  } catch (error) {
    if (error instanceof Failure) return false;
    throw error;
  }
}

/**
 * @param next the log with the snapshot that is not signed yet, which the key may have signed already
 * @throws Failure: the log must not be continued with this key
 */
function requireSame(
  tree: Tree,
  treeId: string,
  { path, signer, last }: HeldKey,
  { checkpoint }: Known,
  next: Appended | undefined,
): void {
  const folder = join(tree.out, logFolder(treeId));
  const { origin, size, root } = checkpoint ?? { origin: signer.name, size: 0, root: last.root };
  if (origin !== signer.name)
    throw Failure.usage(
      `key "${path}" is named "${signer.name}", expected "${origin}", the origin of the log`,
    );
  if (size > 0 && base64Of(rootOf(folder, size)) !== root)
    throw Failure.invalid(
      `the log in "${folder}" is damaged: its tiles are not of its checkpoint (see docs/signed-log.md)`,
    );
  if (last.size === 0) return;
  const isNext = next !== undefined && last.size === next.size && last.root === base64Of(next.root);
  if (isNext || (last.size <= size && base64Of(rootOf(folder, last.size)) === last.root)) return;
  throw Failure.invalid(
    `the key "${path}" has signed a log of ${last.size} snapshots, and "${tree.out}" has ` +
      `${last.size <= size ? 'other ones' : size === 0 ? 'none of them' : `only ${size} of them`}: ` +
      'to go on would sign a second history. Restore the newest tree, or begin a new log with a new key ' +
      '(see docs/signed-log.md)',
  );
}
