/** Signing as a step: around each commit, where an unsigned snapshot is signed first, or on its own. */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import type { LogKeys, Signing } from '../../config/signing.js';
import { Failure, asFailure, unlessFailure } from '../../base/errors.js';
import { Lock } from '../../base/lock.js';
import { keyWarnings } from '../../base/keys.js';
import type { Progress } from '../../base/progress.js';
import { isStop, recover } from '../../publish/commit.js';
import { isCopy } from '../../state/published.js';
import type { AroundCommit } from '../../publish/plan.js';
import { readManifest } from '../../tree/manifest.js';
import type { Tree } from '../../tree/tree.js';
import { updateChunkIndex } from './chunk-index.js';
import { newestIn } from './log-files.js';
import { logFolder } from './log-paths.js';
import { publishedNote } from './publish-entry.js';
import { isBehind, recordOf } from './record.js';
import { SignedLog } from './signed-log.js';
import { checkpointIn } from './tlog/text.js';

/** What a builder gives the publisher, so that each commit is signed. */
export interface Signatures extends Required<AroundCommit> {
  /** The origin of the log and the number of its entries; null if nothing is signed here. */
  readonly summary: () => { readonly origin: string; readonly size: number } | null;
}

/**
 * Signs what some work commits: by what it is called with, before and after its commit.
 *
 * Without a key, what the operator declares to be in a log is left to `sign`. Warnings are of keys
 * that others may read, and of a snapshot that is left unsigned.
 */
export async function withLog<T>(
  { log: declared, signing }: { readonly log: LogKeys | undefined; readonly signing: Signing | undefined },
  { warn, progress }: { readonly warn: (line: string) => void; readonly progress: Progress },
  work: (signatures: Signatures) => Promise<T>,
): Promise<T> {
  let log: SignedLog | undefined;
  for (const line of keyWarnings(signing?.keys ?? [])) warn(line);
  const signatures: Signatures = {
    before: async (tree, treeId) => {
      if (signing === undefined) {
        requireKey(tree, treeId, declared !== undefined);
        return 0;
      }
      const taken = (log ??= SignedLog.take(tree, treeId, signing));
      await progress.blocking(() => taken.sign());
      return taken.sequence;
    },
    after: async (tree) => {
      try {
        if (log !== undefined || declared !== undefined) await publishing(tree, progress, () => log?.sign());
      } catch (error) {
        const failure = asFailure(error, `log of "${tree.out}"`);
        throw failure instanceof Failure
          ? failure.adding('the snapshot is published, and the next build or `sign` signs it')
          : error;
      }
      if (log === undefined && declared !== undefined)
        warn('the snapshot is not signed yet: `sign --key FILE` signs it');
    },
    summary: () => (log === undefined ? null : { origin: log.origin, size: log.size }),
  };
  try {
    return await work(signatures);
  } finally {
    log?.release();
  }
}

/**
 * Brings the published chunks of the digest up to a commit, and does what follows from them. A signal
 * ends the process at once meanwhile: the next step completes this one. One that came before does
 * not stop it.
 */
export async function publishing(tree: Tree, progress: Progress, then: () => void): Promise<void> {
  let isDone = false;
  const work = (): void => {
    updateChunkIndex(tree);
    then();
    isDone = true;
  };
  await isStop(progress.blocking(work, 'publishing the log'));
  if (!isDone) work();
}

/**
 * Requires the key of a tree that has a log.
 * @param isDeclared whether the operator says that there is a log: then one snapshot may be unsigned
 * @throws Failure usage: a snapshot would never be in the log without the key
 */
export function requireKey(tree: Tree, treeId: string, isDeclared: boolean): void {
  // If the folder alone is lost, the tree must not forget that it had a log.
  if (!existsSync(join(tree.out, logFolder(treeId))) && !hasLog(tree.manifest)) return;
  if (isDeclared && isNewestSigned(tree, treeId)) return;
  throw Failure.usage(
    `"${tree.out}" has a signed log, and each snapshot must be in it: expected its key ` +
      '(--key, SNAPSHOT_KEY or "key" of the operator file)',
  );
}

const hasLog = (manifest: string): boolean =>
  // A repair says what is wrong with it.
  unlessFailure(() => readManifest(manifest))?.log !== undefined;

/** Whether the log has an entry of what was committed last. */
function isNewestSigned(tree: Tree, treeId: string): boolean {
  const note = publishedNote(tree, treeId);
  if (note === undefined) return false;
  const { size } = checkpointIn(note);
  return size > 0 && !isBehind(newestIn(join(tree.out, logFolder(treeId)), size), recordOf(tree, treeId));
}

export interface SignedSnapshot {
  readonly origin: string;
  /** The number of the newest snapshot in the log, and how many are in it. */
  readonly sequence: number;
  readonly size: number;
  /** Whether it was signed just now. */
  readonly isNew: boolean;
}

/**
 * Signs the snapshot that was committed last, if it is not in the log yet.
 * @param warn called for each key that others may read
 * @throws Failure usage: the tree declares no log, or one of other keys; environment: it is a copy,
 * whose origin signs; invalid: snapshot.json is not what was committed, or to sign would fork the log
 */
export async function sign(
  tree: Tree,
  signing: Signing,
  warn: (line: string) => void,
  progress: Progress,
): Promise<SignedSnapshot> {
  tree.requirePublished();
  tree.requireNoLinks();
  for (const line of keyWarnings(signing.keys)) warn(line);
  if (isCopy(tree))
    throw Failure.environment(`"${tree.out}" is a copy: its origin signs its snapshots, expected that tree`);
  const lock = Lock.take(tree.lock);
  try {
    const manifest = await recover(tree, progress);
    const { tree: { id } = {}, log: declared } = manifest ?? {};
    if (id === undefined || declared === undefined)
      throw Failure.usage(
        `"${tree.out}" declares no log, expected "log" in the operator file, or a build with --key`,
      );
    const log = SignedLog.take(tree, id, signing);
    try {
      const isNew = await progress.blocking(() => log.sign(), 'signing');
      return { origin: log.origin, sequence: log.sequence, size: log.size, isNew };
    } finally {
      log.release();
    }
  } finally {
    lock.release();
  }
}
