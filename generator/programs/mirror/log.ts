/**
 * The origin's signed log of snapshots: its checkpoint and entries are fetched, and checked against
 * the keys, the checkpoint that was seen last and the snapshot. Tiles of hashes are computed.
 */
import { existsSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { Failure, messageOf } from '../../base/errors.js';
import { FileWriter, ifExists } from '../../base/files.js';
import { logKeys, type Verifier } from '../../base/keys.js';
import { checkLog, headOf, newestIn } from '../log/log-files.js';
import { headAt } from '../log/tlog/merkle.js';
import { checkpointFile, logFolder } from '../log/log-paths.js';
import { openNote } from '../log/tlog/note.js';
import type { CopiedFiles } from '../log/publish-entry.js';
import { forgetSeen } from '../log/record.js';
import { MAX_ENTRY_BYTES, parseCheckpoint, type Checkpoint, type SnapshotEntry } from '../log/tlog/text.js';
import { TILE_WIDTH, entriesPath } from '../log/tlog/tiles.js';
import { manifestHash } from '../../tree/manifest.js';
import { filesBelow } from '../../tree/scan.js';
import type { Tree } from '../../tree/tree.js';
import { MovedOn } from './client.js';
import { fetchedIn, type Run } from './files.js';
import { keepContradiction, knownLogFile, readKnownLog, writeKnownLog } from './log-state.js';
import type { Origin, OriginSnapshot } from './origin.js';

/** Much more than a checkpoint with a hundred signatures has: 64 KiB. */
const CHECKPOINT_BYTES = 64 * 1024;
/** A snapshot every minute for 31 years makes fewer: 2^24. */
const MOST_ENTRIES = 2 ** 24;
/** The most bytes of entries: 1 GiB, in which there is room for 5,000,000 snapshots. */
const LOG_BYTES = 1024 ** 3;

/** The snapshot isn't in the log yet: signing comes after publishing. */
export class NotSignedYet extends MovedOn {}

/** What a copy says of its log. */
export interface LogReport {
  /** The name of the log and of its keys. */
  readonly origin: string;
  /** Number of entries. */
  readonly size: number;
  /** The trusted keys whose signatures hold. */
  readonly signedBy: readonly string[];
  /** Keys that the origin names and that are not trusted: perhaps it is about to change its key. */
  readonly unknownKeys: readonly string[];
  /** Whether the newest entry is that of the snapshot, and not of the one before. */
  readonly isSigned: boolean;
}

/** A checkpoint of the origin that is signed by a trusted key. */
export interface SignedCheckpoint {
  readonly note: Buffer;
  readonly checkpoint: Checkpoint;
  readonly trusted: readonly Verifier[];
  readonly report: Omit<LogReport, 'isSigned'>;
  /** The one that was seen last. */
  readonly seen: Checkpoint | undefined;
  /** Whether the copy has it, and all files of the log that it needs. */
  readonly isHeld: boolean;
}

/**
 * Fetches the checkpoint of an origin's log.
 * @param keys those that the operator gave; without any, those of the first copy are trusted
 * @returns undefined if the origin has no log
 * @throws MovedOn; Failure invalid: it can't be trusted, or contradicts the one that was seen last
 */
export async function fetchCheckpoint(
  { tree, client, progress }: Run,
  { log, tree: { id } }: Origin,
  keys: readonly Verifier[],
): Promise<SignedCheckpoint | undefined> {
  const known = readKnownLog(tree);
  if (log === undefined) {
    if (known === undefined && keys.length === 0) return undefined;
    throw Failure.invalid(
      known === undefined
        ? 'the origin has no signed log, expected one by the given key'
        : 'the origin has no signed log any more: if its operator confirms that, ' +
            `delete "${knownLogFile(tree)}" to copy it without`,
    );
  }
  const file = { path: `${log.path}/checkpoint`, bucket: 'page', bytes: CHECKPOINT_BYTES } as const;
  const { content: note } = await client.read(file);
  // The keys in snapshot.json, which nobody has signed, are believed the first time only.
  const trusted = keys.length > 0 ? keys : (known?.keys ?? logKeys(log.keys));
  const signed = openTrusted(note, log.origin, trusted, keys.length === 0 && known !== undefined);
  const seen = known?.checkpoint;
  if (seen !== undefined) requireSuccession(tree, note, signed.checkpoint, seen);
  const isTrusted = (key: Verifier): boolean => trusted.some(({ vkey }) => vkey === key.vkey);
  const unknownKeys = logKeys(log.keys).flatMap((key) => (isTrusted(key) ? [] : [key.vkey]));
  const { checkpoint, signedBy } = signed;
  const { origin, size } = checkpoint;
  const published = ifExists(() => readFileSync(join(tree.out, checkpointFile(id))));
  const isHeld =
    published?.equals(note) === true &&
    (await progress.blocking(() => checkLog(copied(tree, id), rooted(checkpoint)).next().done === true));
  return { note, checkpoint, trusted, report: { origin, size, signedBy, unknownKeys }, seen, isHeld };
}

/** The folder of the copy's log. */
const copied = ({ out }: Tree, treeId: string): string => join(out, logFolder(treeId));

const rooted = ({ size, root }: Checkpoint) => ({ size, root: Buffer.from(root, 'base64') });

/**
 * Fetches what the copy lacks of the log of a snapshot. What was seen is remembered.
 * @param signed undefined if the tree is not signed
 * @param acceptsUnsigned whether a snapshot may be one newer than the log
 * @returns also the report; null if the tree is not signed
 * @throws NotSignedYet, MovedOn; Failure invalid: it shows another history than before
 */
export async function fetchLog(
  run: Run,
  snapshot: OriginSnapshot,
  signed: SignedCheckpoint | undefined,
  acceptsUnsigned: boolean,
): Promise<{ readonly report: LogReport | null; readonly files: CopiedFiles }> {
  const { tree } = run;
  const { id } = snapshot.origin.tree;
  const staged = join(fetchedIn(tree), 'log');
  if (signed?.seen === undefined) forgetSeen(tree);
  if (signed === undefined) {
    const removed = [...outdated(tree, undefined, staged)];
    return { report: null, files: { staged, removed, checkpoint: undefined } };
  }
  const { note, checkpoint, trusted, report, seen, isHeld } = signed;
  if (!isHeld) await stageLog(run, id, checkpoint, staged);
  const folder = isHeld ? copied(tree, id) : join(staged, logFolder(id));
  // The log of that size has other partial tiles; the ones here have its hashes as well.
  const rootAt = (size: number): string => headAt(size, headOf(folder, checkpoint.size)).toString('base64');
  const isSuccessor = seen === undefined || rootAt(seen.size) === seen.root;
  if (!isSuccessor) throw contradiction(tree, note, checkpoint, seen);
  writeKnownLog(tree, trusted, note.toString());
  const isSigned = isSnapshotSigned(newestIn(folder, checkpoint.size), snapshot);
  if (!isSigned && !acceptsUnsigned)
    throw new NotSignedYet(`snapshot ${snapshot.origin.sequence} is not in the signed log yet`);
  for (const file of isHeld ? [] : [...filesBelow(staged, 'log')])
    if (ifExists(() => readFileSync(join(tree.out, file)))?.equals(readFileSync(join(staged, file))) === true)
      rmSync(join(staged, file));
  const removed = [...outdated(tree, id, staged)];
  return { report: { ...report, isSigned }, files: { staged, removed, checkpoint: note } };
}

/**
 * Stages the entries of a log, and the tiles that are computed from them.
 * @param staged a folder, in which they have their names below the tree
 * @throws MovedOn: they don't have the root of the checkpoint
 */
async function stageLog(
  { tree, client, progress }: Run,
  treeId: string,
  checkpoint: Checkpoint,
  staged: string,
): Promise<void> {
  const folder = logFolder(treeId);
  let left = LOG_BYTES;
  // Entries that the copy has may be damaged, or those of another history.
  for (const reuses of [true, false]) {
    rmSync(staged, { recursive: true, force: true });
    const writer = new FileWriter(staged);
    for (let at = 0; at < checkpoint.size; at += TILE_WIDTH) {
      const width = Math.min(TILE_WIDTH, checkpoint.size - at);
      const file = `${folder}/${entriesPath(at / TILE_WIDTH, width)}`;
      const bytes = Math.min(width * (2 + MAX_ENTRY_BYTES), left);
      const held = reuses ? ifExists(() => readFileSync(join(tree.out, file))) : undefined;
      const bundle = held ?? (await client.read({ path: `/${file}`, bucket: 'page', bytes })).content;
      if (held === undefined) left -= bundle.length;
      writer.write(file, bundle);
      await progress.advance(0);
    }
    const isWhole = await progress.blocking(() => {
      for (const { file, content } of checkLog(join(staged, folder), rooted(checkpoint))) {
        // Only tiles are missing, unless the entries lead to another root.
        if (content === undefined) return false;
        writer.write(`${folder}/${file}`, content);
      }
      return true;
    });
    if (isWhole) return;
  }
  throw new MovedOn('the entries of the log are not those of its checkpoint');
}

/** The files of logs, and of them partial tiles. No documents are there: see `areSafe`. */
const LOG_FILE = /^log\/([0-9a-f]{16})\/(?:checkpoint$|tile\/|index\/)/;
const PARTIAL = /^(log\/\w+\/tile\/.*)\.p\/\d+$/;

/**
 * What a copy no longer needs: partial tiles that a full one replaces, and other logs.
 * @param treeId undefined if the copy is to have no log
 * @param staged where the tiles are that it gets
 */
function* outdated({ out }: Tree, treeId: string | undefined, staged: string): Generator<string> {
  if (!existsSync(join(out, 'log'))) return;
  for (const name of filesBelow(out, 'log')) {
    const [, id] = LOG_FILE.exec(name) ?? [];
    const [, full] = PARTIAL.exec(name) ?? [];
    const isReplaced = full !== undefined && [staged, out].some((folder) => existsSync(join(folder, full)));
    if (id !== undefined && (id !== treeId || isReplaced)) yield name;
  }
}

/**
 * Reads a checkpoint.
 * @param named the name of the log
 * @param isKnown whether the keys are those of an earlier copy
 * @throws Failure invalid: none of the trusted keys has signed it, or it is of another log than they are
 */
function openTrusted(
  note: Buffer,
  named: string,
  trusted: readonly Verifier[],
  isKnown: boolean,
): { readonly checkpoint: Checkpoint; readonly signedBy: readonly string[] } {
  let opened: ReturnType<typeof openNote>;
  try {
    opened = openNote(note, trusted);
  } catch (error) {
    const advice = '; if its operator confirms that the key has changed, give the new one with --key';
    throw Failure.invalid(`the origin's log can't be trusted: ${messageOf(error)}${isKnown ? advice : ''}`);
  }
  const checkpoint = parseCheckpoint(opened.text);
  const { size, origin } = checkpoint;
  const names = new Set([named, origin, ...opened.verified.map(({ name }) => name)]);
  if (names.size === 1 && size > 0 && size <= MOST_ENTRIES)
    return { checkpoint, signedBy: opened.verified.map(({ vkey }) => vkey) };
  throw Failure.invalid(
    `the checkpoint of the origin's log is of "${origin}" and of ${size} entries, ` +
      `expected "${named}" as in its keys, and 1 to ${MOST_ENTRIES} entries`,
  );
}

/** @throws MovedOn: it is older; Failure invalid: another log, or another of the same size */
function requireSuccession(tree: Tree, note: Buffer, checkpoint: Checkpoint, seen: Checkpoint): void {
  if (seen.origin !== checkpoint.origin) {
    throw Failure.invalid(
      `the origin's log is "${checkpoint.origin}" now and was "${seen.origin}": if its operator confirms ` +
        `that it is a new one, delete "${knownLogFile(tree)}" to follow it`,
    );
  }
  if (checkpoint.size === seen.size && checkpoint.root !== seen.root)
    throw contradiction(tree, note, checkpoint, seen);
  if (checkpoint.size < seen.size) {
    throw new MovedOn(
      `the origin's log has ${checkpoint.size} entries and had ${seen.size} before: it shows an older state, or another history`,
    );
  }
}

/** Both checkpoints are signed, which proves that there are two histories. */
function contradiction(tree: Tree, note: Buffer, { size }: Checkpoint, seen: Checkpoint): Failure {
  const file = keepContradiction(tree, note.toString());
  return Failure.invalid(
    `the origin's log shows another history than before: its ${size} entries don't begin with the ` +
      `${seen.size} that were seen, which "${knownLogFile(tree)}" and "${file}" prove by two signed checkpoints`,
  );
}

/** Whether the newest entry signs a snapshot. @throws MovedOn: it is of another than that and the one before */
function isSnapshotSigned(entry: SnapshotEntry | undefined, { origin, content }: OriginSnapshot): boolean {
  const { sequence, digest, as_of: asOf, tree } = origin;
  const isOfTree = entry?.tree === tree.id;
  if (isOfTree && entry.sequence + 1 === sequence) return false;
  if (!isOfTree || entry.sequence !== sequence || entry.digest !== digest || entry.asOf !== asOf) {
    throw new MovedOn(
      `the newest entry of the log is of snapshot ${entry?.sequence} of tree ${entry?.tree} with digest ${entry?.digest}, ` +
        `expected snapshot ${sequence} of tree ${tree.id} with digest ${digest}`,
    );
  }
  if (entry.manifest === manifestHash(content)) return true;
  throw new MovedOn(
    `/snapshot.json is not the one that the newest entry of the log covers: its headers, limits, types or routes are others`,
  );
}
