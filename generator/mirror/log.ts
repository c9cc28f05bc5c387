/**
 * The origin's signed log of snapshots: its checkpoint and entries are fetched, and checked against
 * the keys, the checkpoint that was seen last and the snapshot. Tiles of hashes are computed.
 */
import { Failure, messageOf } from '../errors.js';
import { openNote } from '../log/note.js';
import { parseVerifier } from '../keys.js';
import type { OpenedNote } from '../log/note.js';
import type { Verifier } from '../keys.js';
import { parseCheckpoint } from '../log/text.js';
import type { Checkpoint, SnapshotEntry } from '../log/text.js';
import type { CopiedFiles } from '../log/publish-entry.js';
import type { Tree } from '../tree/tree.js';
import { manifestHash } from '../tree/manifest-hash.js';
import { forgetSeen } from '../log/seen.js';
import type { Client } from './client.js';
import { fetchEntries, outdated } from './log-entries.js';
import { keepContradiction, knownLogFile, readKnownLog, writeKnownLog } from './log-state.js';
import { MovedOn, fetchBuffer } from './origin.js';
import type { Origin, Snapshot } from './origin.js';

/** Much more than a checkpoint with a hundred signatures has: 64 KiB. */
const CHECKPOINT_BYTES = 64 * 1024;
/** A snapshot every minute for 31 years makes fewer: 2^24. */
const MOST_ENTRIES = 2 ** 24;

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
  /** Whether that entry covers snapshot.json as well: those of the first version don't. */
  readonly coversManifest: boolean;
}

export interface CopiedLog {
  /** Null if the tree is not signed. */
  readonly report: LogReport | null;
  readonly files: CopiedFiles;
}

/** A checkpoint of the origin that is signed by a trusted key. */
export interface SignedCheckpoint {
  readonly note: Buffer;
  readonly checkpoint: Checkpoint;
  readonly trusted: readonly Verifier[];
  readonly report: Omit<LogReport, 'isSigned' | 'coversManifest'>;
  /** The one that was seen last. */
  readonly seen: Checkpoint | undefined;
}

/**
 * Fetches the checkpoint of an origin's log.
 * @param keys those that the operator gave; without any, those of the first copy are trusted
 * @returns undefined if the origin has no log
 * @throws MovedOn; Failure invalid: it can't be trusted, or contradicts the one that was seen last
 */
export async function fetchCheckpoint(
  tree: Tree,
  client: Client,
  { log }: Origin,
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
  const options = { bucket: 'page', most: CHECKPOINT_BYTES } as const;
  const { content: note } = await fetchBuffer(client, `${log.path}/checkpoint`, options);
  // The keys in snapshot.json, which nobody has signed, are believed the first time only.
  const trusted = keys.length > 0 ? keys : (known?.keys ?? logKeys(log.keys));
  const opened = openTrusted(note, trusted, keys.length === 0 && known !== undefined);
  const checkpoint = checkpointOf(opened, log.origin);
  const seen = known?.checkpoint;
  requireSuccession(tree, note, checkpoint, seen);
  const isTrusted = ({ vkey }: Verifier): boolean => trusted.some((key) => key.vkey === vkey);
  const report = {
    origin: checkpoint.origin,
    size: checkpoint.size,
    signedBy: opened.verified.map(({ vkey }) => vkey),
    unknownKeys: logKeys(log.keys).flatMap((key) => (isTrusted(key) ? [] : [key.vkey])),
  };
  return { note, checkpoint, trusted, report, seen };
}

/**
 * Fetches the log of a snapshot. What was seen is remembered.
 * @param signed undefined if the tree is not signed
 * @param acceptsUnsigned whether a snapshot may be one newer than the log
 * @throws NotSignedYet, MovedOn; Failure invalid: it shows another history than before
 */
export async function fetchLog(
  tree: Tree,
  client: Client,
  snapshot: Snapshot,
  signed: SignedCheckpoint | undefined,
  acceptsUnsigned: boolean,
): Promise<CopiedLog> {
  if (signed?.seen === undefined) forgetSeen(tree);
  if (signed === undefined) {
    const removed = [...outdated(tree, undefined, new Map())];
    return { report: null, files: { put: new Map(), removed, checkpoint: undefined } };
  }
  const { origin } = snapshot;
  const { note, checkpoint, trusted, report, seen } = signed;
  const read = await fetchEntries(tree, client, origin, checkpoint, seen);
  if (read === undefined) throw new MovedOn('the entries of the log are not those of its checkpoint');
  if (seen !== undefined && !read.isSuccessor) throw contradiction(tree, note, checkpoint, seen);
  writeKnownLog(tree, trusted, note.toString());
  const ofEntry = signedBy(read.newest, snapshot);
  if (!ofEntry.isSigned && !acceptsUnsigned)
    throw new NotSignedYet(`snapshot ${origin.sequence} is not in the signed log yet`);
  const removed = [...outdated(tree, origin.tree.id, read.files)];
  return {
    report: { ...report, ...ofEntry },
    files: { put: read.files, removed, checkpoint: note },
  };
}

/** Those that are keys of logs; others may be of a kind that a later version knows. */
const logKeys = (vkeys: readonly string[]): readonly Verifier[] =>
  vkeys.flatMap((vkey) => {
    try {
      const key = parseVerifier(vkey);
      return key.type === 'note' ? [key] : [];
    } catch {
      return [];
    }
  });

/** @throws Failure invalid: none of the trusted keys has signed it */
function openTrusted(note: Buffer, trusted: readonly Verifier[], isKnown: boolean): OpenedNote {
  try {
    return openNote(note, trusted);
  } catch (error) {
    const advice = '; if its operator confirms that the key has changed, give the new one with --key';
    throw Failure.invalid(`the origin's log can't be trusted: ${messageOf(error)}${isKnown ? advice : ''}`);
  }
}

/** @throws Failure invalid: it is of another log than its keys */
function checkpointOf({ text, verified }: OpenedNote, named: string): Checkpoint {
  const checkpoint = parseCheckpoint(text);
  const names = new Set([named, checkpoint.origin, ...verified.map(({ name }) => name)]);
  const { size, origin } = checkpoint;
  if (names.size === 1 && size > 0 && size <= MOST_ENTRIES) return checkpoint;
  throw Failure.invalid(
    `the checkpoint of the origin's log is of "${origin}" and of ${size} entries, ` +
      `expected "${named}" as in its keys, and 1 to ${MOST_ENTRIES} entries`,
  );
}

/** @throws MovedOn: it is older; Failure invalid: another log, or another of the same size */
function requireSuccession(
  tree: Tree,
  note: Buffer,
  checkpoint: Checkpoint,
  seen: Checkpoint | undefined,
): void {
  if (seen === undefined) return;
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

/** What the newest entry signs of a snapshot. @throws MovedOn: it is of another than that and the one before */
function signedBy(
  entry: SnapshotEntry,
  { origin, content }: Snapshot,
): Pick<LogReport, 'isSigned' | 'coversManifest'> {
  const { sequence, digest, as_of: asOf, tree } = origin;
  if (entry.tree === tree.id && entry.sequence + 1 === sequence)
    return { isSigned: false, coversManifest: false };
  const isSame =
    entry.tree === tree.id && entry.sequence === sequence && entry.digest === digest && entry.asOf === asOf;
  if (!isSame) {
    throw new MovedOn(
      `the newest entry of the log is of snapshot ${entry.sequence} of tree ${entry.tree} with digest ${entry.digest}, ` +
        `expected snapshot ${sequence} of tree ${tree.id} with digest ${digest}`,
    );
  }
  if (entry.manifest === undefined || entry.manifest === manifestHash(content))
    return { isSigned: true, coversManifest: entry.manifest !== undefined };
  throw new MovedOn(
    `/snapshot.json is not the one that the newest entry of the log covers: its headers, limits, types or routes are others`,
  );
}
