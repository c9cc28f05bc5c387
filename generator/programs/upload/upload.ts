/**
 * Brings a remote up to the published tree, in an order in which nothing names what isn't there
 * yet. What changed since the snapshot that it held as a whole is known from the lists of the
 * commits since then; without them everything there is compared.
 */
import { setTimeout } from 'node:timers/promises';
import { Failure, isInterrupt } from '../../base/errors.js';
import { follow, type Progress } from '../../base/progress.js';
import { changedFilesBetween, filesListed, snapshotIdOf } from '../../publish/changed-files.js';
import { filler } from '../../routes/route.js';
import type { Tree } from '../../tree/tree.js';
import { compare, type Untracked } from './compare.js';
import { isCheckpoint, isSingle, type FileSet, type Location } from './desired.js';
import { connectRclone } from './rclone.js';
import { inSession, type UploadSession } from './session.js';
import { countOf, isTile, transfer, type TransferPlan } from './transfer.js';

export interface Uploaded {
  readonly remote: string;
  readonly sequence: number;
  /** Whether the whole remote was compared, since it was not known what it holds. */
  readonly compared: boolean;
  /** Numbers of files. */
  readonly written: number;
  readonly deleted: number;
  readonly unchanged: number;
  /** The size of the written files. */
  readonly bytes: number;
  /** How many files were there with the right content, but perhaps with other headers. */
  readonly unknownHeaders: number;
  /** Null if nothing was compared. */
  readonly untracked: Untracked | null;
}

/** @throws see `inSession`; Failure environment: a program is missing, or has failed */
export const upload = (
  tree: Tree,
  to: string,
  progress: Progress,
  connect = connectRclone,
): Promise<Uploaded> =>
  inSession(tree, to, progress, connect, async (session) => {
    const { manifest, remote, known, desired } = session;
    if (known !== undefined && known.begun !== null) {
      // If the command was killed, the program that it ran may not have ended yet.
      progress.start('waiting for the end of an interrupted upload', remote.lingersMs, 'ms');
      await follow(setTimeout(remote.lingersMs), () => 0, progress);
      progress.finish();
    }
    // Downloads that a copy got back are named by no commit, as its snapshot is the same.
    const resent = desired.sets.filter(({ template, group, mark }) => {
      const sent = known?.sent[group];
      return sent === undefined ? known !== undefined && isSingle(template) : sent !== mark;
    });
    const touched = new Map<string, number[]>();
    const touch = ({ template, key }: Pick<Location, 'template' | 'key'>): void => {
      const keys = touched.get(template);
      if (keys === undefined) touched.set(template, [key]);
      else keys.push(key);
    };
    const changed = changedFiles(session, resent);
    const untracked = changed ? null : await compare(session, (_what, _file, where) => touch(where));
    for (const file of changed ?? []) {
      const location = desired.locate(file);
      // What was never uploaded, such as compressed siblings, needs no deletion.
      if (location && (location.isDesired || known?.sent[location.group] !== undefined)) touch(location);
    }
    for (const { template, keys } of resent) for (const key of keys()) touch({ template, key });
    for (const template of desired.missing) touch({ template, key: 0 });
    const plan = planOf(session, touched);
    const [written, deleted] = [countOf(plan.puts), countOf(plan.deletes)];
    const isWhole = known?.begun === null && known.held !== null;
    if (written + deleted > 0 || !isWhole) await carryOut(session, plan, resent, untracked !== null);
    return {
      remote: remote.name,
      sequence: manifest.sequence,
      compared: untracked !== null,
      written,
      deleted,
      unchanged: desired.total - written,
      bytes: plan.bytes,
      unknownHeaders: known === undefined ? desired.total - written : 0,
      untracked,
    };
  });

/** The files, besides `resent`, that may differ on the remote; undefined if that isn't known. */
function changedFiles(
  { state, manifest, known, desired }: UploadSession,
  resent: readonly FileSet[],
): Iterable<string> | undefined {
  if (known === undefined || known.held === null) return undefined;
  const { held, begun, sent } = known;
  // No commit lists the files of a log that is gone.
  if (Object.keys(sent).some((file) => isCheckpoint(file) && desired.setOf(file) === undefined))
    return undefined;
  const before = changedFilesBetween(state, held, begun ?? held);
  const since = changedFilesBetween(state, begun ?? held, snapshotIdOf(manifest));
  // The snapshot may have been signed since it was uploaded.
  const isSigned = resent.some(({ template }) => isCheckpoint(template));
  const tiles = isSigned ? filesListed(state, held) : [];
  // Files in whose place there is a folder now: no commit lists them.
  const gone = Object.keys(sent).filter((name) => isSingle(name) && desired.setOf(name) === undefined);
  return before && since && tiles && inTurn(before, since, tilesIn(tiles), gone);
}

function* inTurn(...all: readonly Iterable<string>[]): Generator<string> {
  for (const each of all) yield* each;
}

function* tilesIn(files: Iterable<string>): Generator<string> {
  for (const file of files) if (isTile(file)) yield file;
}

/**
 * What to do with files that may have to be written or deleted.
 * @param touched their keys, by template, in any order; some several times
 */
function planOf(
  { desired }: UploadSession,
  touched: ReadonlyMap<string, readonly number[]>,
): TransferPlan & { readonly bytes: number } {
  const [puts, deletes] = [new Map<FileSet, readonly number[]>(), new Map<string, readonly number[]>()];
  let bytes = 0;
  let damage: Failure | undefined;
  for (const [template, keys] of touched) {
    const [set, nameOf] = [desired.setOf(template), filler(template)];
    const [put, gone]: [number[], number[]] = [[], []];
    const ascending = Float64Array.from(keys).toSorted();
    for (const [index, key] of ascending.entries()) {
      if (key === ascending[index - 1]) continue;
      if (set?.has(key) === true) {
        put.push(key);
        try {
          bytes += set.bytesOf(key, nameOf(key));
        } catch (error) {
          if (!(error instanceof Failure)) throw error;
          damage ??= error;
        }
      } else gone.push(key);
    }
    if (set !== undefined) puts.set(set, put);
    deletes.set(template, gone);
  }
  return { puts, deletes, bytes, damage };
}

/** Makes the remote hold the snapshot, and records that. */
async function carryOut(
  session: UploadSession,
  plan: TransferPlan,
  resent: readonly FileSet[],
  isCompared: boolean,
): Promise<void> {
  const { manifest, remember, known, desired } = session;
  const now = snapshotIdOf(manifest);
  const pending = Object.fromEntries(resent.map(({ group }) => [group, '']));
  remember({
    held: isCompared ? null : (known?.held ?? null),
    begun: now,
    sent: { ...known?.sent, ...desired.marks, ...pending },
  });
  try {
    await transfer(session, plan);
  } catch (error) {
    const isStopped = error instanceof Failure && isInterrupt(error);
    throw isStopped ? error.adding('the next upload continues from here') : error;
  }
  remember({ held: now, begun: null, sent: desired.marks });
}
