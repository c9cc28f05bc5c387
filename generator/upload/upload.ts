/**
 * Brings a remote up to the published tree, in an order in which nothing names what isn't there
 * yet. What changed since the snapshot that it held as a whole is known from the lists of the
 * commits since then; without them everything there is compared.
 */
import { setTimeout } from 'node:timers/promises';
import { Failure, isInterrupt } from '../errors.js';
import { follow } from '../progress.js';
import type { Progress } from '../progress.js';
import { changedFilesBetween, filesListed, listedBytes, snapshotIdOf } from '../publish/changed-files.js';
import type { SnapshotId } from '../publish/changed-files.js';
import type { Tree } from '../tree/tree.js';
import { filler } from '../routes/index.js';
import { compare } from './compare.js';
import type { Untracked } from './compare.js';
import { isSingle } from './desired.js';
import type { Location } from './desired.js';
import { isCheckpoint } from './log-files.js';
import { remoteOf } from './remote.js';
import { inSession } from './session.js';
import type { Session } from './session.js';
import { countOf, transfer } from './transfer.js';
import type { Plan } from './transfer.js';

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
export const upload = (tree: Tree, to: string, progress: Progress, connect = remoteOf): Promise<Uploaded> =>
  inSession(tree, to, progress, connect, async (session) => {
    const { manifest, remote, known, desired } = session;
    if (known !== undefined && known.begun !== null) {
      // If the command was killed, the program that it ran may not have ended yet.
      progress.start('waiting for the end of an interrupted upload', remote.lingersMs, 'ms');
      await follow(setTimeout(remote.lingersMs), () => 0, progress);
      progress.finish();
    }
    const changed = changedFilesIn(session);
    const touched = new Touched();
    const untracked = changed ? null : await compare(session, (_what, _file, where) => touched.add(where));
    for (const file of changed ?? []) {
      const location = desired.locate(file);
      // What was never uploaded needs no deletion.
      if (location !== undefined && (location.isDesired || known?.sent[location.template] !== undefined))
        touched.add(location);
    }
    for (const template of resentOf(session)) {
      for (const [key] of desired.of(template)?.contents.entries() ?? []) touched.add({ template, key });
    }
    const { bytes, ...plan } = planOf(session, touched);
    const [written, deleted] = [countOf(plan.puts), countOf(plan.deletes)];
    const isWhole = known?.begun === null && known.held !== null;
    if (written + deleted > 0 || !isWhole) await carryOut(session, plan, untracked !== null);
    return {
      remote: remote.name,
      sequence: manifest.sequence,
      compared: untracked !== null,
      written,
      deleted,
      unchanged: desired.total - written,
      bytes,
      unknownHeaders: remote.hasHeaders && known === undefined ? desired.total - written : 0,
      untracked,
    };
  });

/** The files that may differ from those of a remote; undefined if that isn't known. */
function changedFilesIn(session: Session): Iterable<string> | undefined {
  const { tree, manifest, known, desired } = session;
  if (known === undefined || known.held === null) return undefined;
  const { held, begun } = known;
  const before = changedFilesBetween(tree, held, begun ?? held);
  const since = changedFilesBetween(tree, begun ?? held, snapshotIdOf(manifest));
  // The publisher's own, and files in whose place there is a folder now: no commit lists them.
  const others = resentOf(session).filter(isSingle);
  // Nor the files of a log that is gone.
  if (others.some((file) => isCheckpoint(file) && desired.of(file) === undefined)) return undefined;
  return before && since && inTurn(before, since, others, signedSince(tree, held, known.listed));
}

/** The files of the log, if the snapshot was signed since it was uploaded. */
function* signedSince(tree: Tree, held: SnapshotId, listed: number): Generator<string> {
  if (listedBytes(tree, held) <= listed) return;
  for (const file of filesListed(tree, held)) if (file.startsWith('log/')) yield file;
}

function* inTurn(...all: readonly Iterable<string>[]): Generator<string> {
  for (const each of all) yield* each;
}

/** Templates of files that are to be sent again, and names of the publisher's own files that are. */
function resentOf({ known, remote, desired }: Session): readonly string[] {
  return Object.keys({ ...known?.sent, ...desired.sent }).filter((name) => {
    const before = known?.sent[name];
    if (before !== undefined) return before !== desired.sent[name];
    // Of what was there before, the headers are unknown; single files are few, so written again.
    return remote.hasHeaders && isSingle(name) && desired.of(name) !== undefined;
  });
}

/** Keys of files that may have to be written or deleted, by template. */
class Touched {
  readonly #keys = new Map<string, number[]>();

  add({ template, key }: Pick<Location, 'template' | 'key'>): void {
    const keys = this.#keys.get(template);
    if (keys === undefined) this.#keys.set(template, [key]);
    else keys.push(key);
  }

  /** Ascending keys, each once. */
  *sorted(): Generator<[template: string, keys: Float64Array]> {
    for (const [template, keys] of this.#keys) {
      const ascending = Float64Array.from(keys).toSorted();
      yield [template, ascending.filter((key, index) => key !== ascending[index - 1])];
    }
  }
}

/** @throws Failure invalid: a file to write is missing or damaged */
function planOf({ desired }: Session, touched: Touched): Plan & { readonly bytes: number } {
  const [puts, deletes] = [new Map<string, number[]>(), new Map<string, number[]>()];
  let bytes = 0;
  for (const [template, keys] of touched.sorted()) {
    const [files, fileOf] = [desired.of(template), filler(template)];
    const [put, gone]: [number[], number[]] = [[], []];
    for (const key of keys) {
      const size = files && desired.sizeOf(files, key, fileOf(key));
      bytes += size ?? 0;
      (size === undefined ? gone : put).push(key);
    }
    puts.set(template, put);
    deletes.set(template, gone);
  }
  return { puts, deletes, bytes };
}

/** Makes the remote hold the snapshot, and records that. */
async function carryOut(session: Session, plan: Plan, isCompared: boolean): Promise<void> {
  const { manifest, record, known, desired } = session;
  const [now, { sent }] = [snapshotIdOf(manifest), desired];
  const pending = Object.fromEntries(resentOf(session).map((name) => [name, '']));
  record.write({
    held: isCompared ? null : (known?.held ?? null),
    listed: known?.listed ?? 0,
    begun: now,
    sent: { ...known?.sent, ...sent, ...pending },
  });
  try {
    await transfer(session, plan);
  } catch (error) {
    const isStopped = error instanceof Failure && isInterrupt(error);
    throw isStopped ? error.adding('the next upload continues from here') : error;
  }
  record.write({ held: now, listed: listedBytes(session.tree, now), begun: null, sent });
}
