/**
 * The signed log of a tree: each snapshot adds an entry, of which a checkpoint is signed. Entry and
 * checkpoint are staged with the commit. Once the journal is written, `KEY.last` is swapped; only
 * then anything becomes public, the checkpoint last of all.
 */
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import { Failure, messageOf } from '../errors.js';
import { HeldKey, readKey, swapKeys } from '../log/key-file.js';
import { append, entryAt, headOf, rootOf } from '../log/log-files.js';
import { consistencyProof } from '../log/merkle.js';
import { openNote, parseVerifier } from '../log/note.js';
import { base64Of, checkpointIn, checkpointText, entryText, parseEntry } from '../log/text.js';
import type { Checkpoint, SnapshotEntry } from '../log/text.js';
import { cosignUntilStop, sizeCosignedBy } from '../log/witness.js';
import type { Witness } from '../log/witness.js';
import type { Progress } from '../progress.js';
import type { Signing } from '../signing.js';
import { manifestHash } from '../tree/manifest-hash.js';
import { FileWriter, makeFolder, readText, replaceFile } from '../files.js';
import { logFolder } from './log-index.js';
import type { Plan } from './plan.js';
import { readManifest } from '../tree/manifest.js';
import type { Manifest } from '../tree/snapshot-json.js';
import type { ListWriter, StagePaths } from './stage.js';
import type { Tree } from '../tree/tree.js';

export const checkpointFile = (treeId: string): string => `${logFolder(treeId)}/checkpoint`;

/** The published checkpoint, as a note; undefined if the tree has no log. */
const publishedNote = ({ out }: Tree, treeId: string): string | undefined =>
  readText(join(out, checkpointFile(treeId)));

/** @throws Failure usage: the tree has a log, and there is no key */
export function requireKey({ out, manifest }: Tree, treeId: string, signing: Signing | undefined): void {
  // If the folder alone is lost, the tree must not forget that it had a log.
  if (signing !== undefined || (!existsSync(join(out, logFolder(treeId))) && !hadLog(manifest))) return;
  throw Failure.usage(
    `"${out}" has a signed log, and each snapshot must be in it: expected its key ` +
      '(--key, SNAPSHOT_KEY or "key" of the operator file)',
  );
}

function hadLog(manifest: string): boolean {
  try {
    return readManifest(manifest)?.log !== undefined;
  } catch (error) {
    // A repair says what is wrong with it.
    if (error instanceof Failure) return false;
    throw error;
  }
}

export class SignedLog {
  /** The newest entry; undefined if there is none. */
  readonly newest: SnapshotEntry | undefined;
  readonly #folder: string;
  readonly #tree: Tree;
  readonly #treeId: string;
  readonly #keys: readonly HeldKey[];
  readonly #witnesses: readonly Witness[];
  readonly #warn: (line: string) => void;
  /** What is published, and its note; without a note it is known from a key. */
  readonly #published: Checkpoint | undefined;
  readonly #note: string | undefined;
  /** The number of entries, with that which is staged. */
  size: number;
  /** Files of the next checkpoint that are not published yet. */
  #added: ReadonlyMap<string, Buffer> = new Map();

  private constructor(
    tree: Tree,
    treeId: string,
    keys: readonly HeldKey[],
    witnesses: readonly Witness[],
    warn: (line: string) => void,
  ) {
    this.#tree = tree;
    this.#treeId = treeId;
    this.#keys = keys;
    this.#witnesses = witnesses;
    this.#warn = warn;
    this.#folder = join(tree.out, logFolder(treeId));
    const note = publishedNote(tree, treeId);
    const published = note === undefined ? undefined : checkpointIn(note);
    const unpublished = this.#unpublished(published?.size ?? 0);
    this.#published = unpublished ?? published;
    this.#note = unpublished === undefined ? note : undefined;
    const size = this.#published?.size ?? 0;
    this.size = size;
    this.newest = size === 0 ? undefined : parseEntry(entryAt(this.#folder, size, size - 1).toString());
  }

  /** The name of the keys. */
  get origin(): string {
    return this.#keys[0]?.signer.name ?? '';
  }

  /**
   * Takes the keys, which must have signed what is published and nothing else.
   * @throws Failure usage: the tree has a log, and there is no key, or one of another name; invalid:
   * a key has signed what is not published; busy: another process uses a key
   */
  static open(
    tree: Tree,
    treeId: string,
    signing: Signing | undefined,
    warn: (line: string) => void,
  ): SignedLog | undefined {
    requireKey(tree, treeId, signing);
    if (signing === undefined) return undefined;
    const keys: HeldKey[] = [];
    const release = (): void => {
      for (const key of keys) key.release();
    };
    try {
      for (const path of signing.keys) keys.push(HeldKey.take(readKey(path)));
      const log = new SignedLog(tree, treeId, keys, signing.witnesses, warn);
      for (const key of keys) log.#requireSame(key);
      log.#requireSigned();
      return log;
    } catch (error) {
      release();
      throw error;
    }
  }

  /**
   * The checkpoint that a key has signed last, if it is newer than the published one and its tiles are
   * there: the file was lost, or a commit that was interrupted.
   */
  #unpublished(size: number): Checkpoint | undefined {
    const [last] = this.#keys.map((key) => key.last).toSorted((a, b) => b.size - a.size);
    return last !== undefined && last.size > size && this.#isRoot(last) ? last : undefined;
  }

  #isRoot({ size, root }: Checkpoint): boolean {
    try {
      return base64Of(rootOf(this.#folder, size)) === root;
    } catch (error) {
      if (error instanceof Failure) return false;
      throw error;
    }
  }

  /** @throws Failure: the log must not be continued with this key */
  #requireSame({ path, signer, last }: HeldKey): void {
    const { origin, size, root } = this.#published ?? { origin: signer.name, size: 0, root: last.root };
    if (origin !== signer.name) {
      throw Failure.usage(
        `key "${path}" is named "${signer.name}", expected "${origin}", the origin of the log`,
      );
    }
    if (size > 0 && base64Of(rootOf(this.#folder, size)) !== root) {
      throw Failure.invalid(
        `the log in "${this.#folder}" is damaged: its tiles are not of its checkpoint (see docs/signed-log.md)`,
      );
    }
    if (last.size === 0) return;
    const isSame = last.size <= size && base64Of(rootOf(this.#folder, last.size)) === last.root;
    if (isSame) return;
    throw Failure.invalid(
      `the key "${path}" has signed a log of ${last.size} snapshots, and "${this.#tree.out}" has ` +
        `${last.size <= size ? 'other ones' : size === 0 ? 'none of them' : `only ${size} of them`}: ` +
        'to go on would sign a second history. Restore the newest tree, or begin a new log with a new key ' +
        '(see docs/signed-log.md)',
    );
  }

  /**
   * Whoever can write to the tree could have added entries, which the next checkpoint would sign. If
   * all keys are new, since the old one was lost, what is published is taken as it is.
   * @throws Failure invalid: none of the keys has signed what is published
   */
  #requireSigned(): void {
    const isNew = this.#keys.every(({ last }) => last.size === 0);
    const isLast = this.#keys.some(({ last }) => last.root === this.#published?.root);
    if (this.#published === undefined || isNew || isLast) return;
    try {
      openNote(
        this.#note ?? '',
        this.#keys.map(({ signer }) => parseVerifier(signer.vkey)),
      );
    } catch (error) {
      throw Failure.invalid(
        `none of the keys has signed the checkpoint in "${this.#folder}": ${messageOf(error)}; ` +
          'restore what they have signed (see docs/signed-log.md)',
      );
    }
  }

  /** Whether a snapshot is the newest in the log, and names the keys that sign now. */
  isNewest(manifest: Manifest | undefined): boolean {
    const { sequence, digest, log } = manifest ?? {};
    const keys = this.#keys.map(({ signer }) => signer.vkey);
    return (
      this.newest?.sequence === sequence &&
      this.newest?.digest === digest &&
      isDeepStrictEqual(log?.keys, keys)
    );
  }

  /** Stages the entry of a snapshot, and a checkpoint that the keys have signed. */
  stage(
    { tree, signed, keys, manifest }: StagePaths,
    lists: ListWriter,
    { sequence, digest, files: documents }: Plan,
  ): void {
    const size = this.#published?.size ?? 0;
    const asOf = readManifest(manifest)?.as_of ?? null;
    const entry = Buffer.from(
      entryText({
        tree: this.#treeId,
        sequence,
        asOf,
        documents,
        digest,
        manifest: manifestHash(readFileSync(manifest)),
      }),
    );
    const { files, removed, root } = append(this.#folder, size, entry);
    this.#added = files;
    const writer = new FileWriter(tree);
    const name = (path: string): string => `${logFolder(this.#treeId)}/${path}`;
    for (const [file, content] of files) {
      writer.write(name(file), content);
      lists.file(name(file));
    }
    for (const file of removed) {
      lists.remove(name(file));
      lists.url(`/${name(file)}`);
    }
    this.size = size + 1;
    const checkpoint = { origin: this.origin, size: this.size, root: base64Of(root) };
    const swaps = this.#keys.map((key) => key.prepare(checkpoint));
    writeFileSync(keys, JSON.stringify(swaps));
    const note = this.#noteOf(checkpoint);
    new FileWriter(signed).write(checkpointFile(this.#treeId), Buffer.from(note));
    lists.file(name('checkpoint'));
    lists.url(`/${name('checkpoint')}`);
  }

  #noteOf(checkpoint: Checkpoint): string {
    const text = checkpointText(checkpoint);
    return `${text}\n${this.#keys.map(({ signer }) => signer.sign(text)).join('')}`;
  }

  /** Once the journal is written: swaps KEY.last, and adds the cosignatures of witnesses. */
  async confirm(paths: StagePaths, progress: Progress): Promise<void> {
    swapKeys(paths.keys, true);
    const file = join(paths.signed, checkpointFile(this.#treeId));
    try {
      await this.#cosign(readFileSync(file, 'utf8'), file, progress);
    } catch (error) {
      this.#warn(`no cosignature could be added: ${messageOf(error)}`);
    }
  }

  /** If no snapshot was added: restores a checkpoint that was lost, and asks witnesses once more. */
  async renew(progress: Progress): Promise<void> {
    if (this.#published === undefined) return;
    const note = this.#note ?? this.#noteOf(this.#published);
    const file = join(this.#tree.out, checkpointFile(this.#treeId));
    if (this.#note === undefined) this.#replace(file, note);
    await this.#cosign(note, file, progress);
  }

  /** Adds cosignatures to a note and its file. Neither a witness that is down nor a signal stops a snapshot. */
  async #cosign(note: string, file: string, progress: Progress): Promise<void> {
    const { size } = checkpointIn(note);
    const heads = headOf(this.#folder, size, this.#added);
    const consistencyFrom = (old: number): readonly string[] =>
      consistencyProof(old, size, heads).map((each) => base64Of(each));
    const witnesses = this.#witnesses.filter((witness) => sizeCosignedBy(note, witness) === 0);
    if (witnesses.length === 0) return;
    const previous = this.#note === undefined ? {} : { previous: this.#note };
    const cosigned = await cosignUntilStop(note, witnesses, consistencyFrom, previous, progress);
    for (const { url, reason } of cosigned.missing) this.#warn(`witness ${url} has not cosigned: ${reason}`);
    if (cosigned.note !== note) this.#replace(file, cosigned.note);
  }

  #replace(file: string, note: string): void {
    makeFolder(dirname(file));
    replaceFile(file, note, join(this.#tree.state, 'checkpoint.partial'));
  }

  release(): void {
    for (const key of this.#keys) key.release();
  }
}
