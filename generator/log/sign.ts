/** Signs the last snapshot of a tree on its own, for keys that lie where nothing is built. */
import { Failure } from '../errors.js';
import { Lock } from '../lock.js';
import type { Progress } from '../progress.js';
import { isCopy } from '../publish/copied.js';
import { recover } from '../publish/recover.js';
import type { Signing } from '../config/signing.js';
import type { Tree } from '../tree/tree.js';
import { SignedLog } from './signed-log.js';

export interface SignedSnapshot {
  readonly origin: string;
  /** The number of the newest snapshot in the log, and how many are in it. */
  readonly sequence: number;
  readonly size: number;
  /** Whether it was signed just now. */
  readonly isNew: boolean;
}

/**
 * Signs the snapshot that was committed last, if it is not in the log yet, and asks witnesses that
 * have not cosigned it.
 * @param warn called for each witness that does not cosign
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
      await log.cosign(warn, progress);
      return { origin: log.origin, sequence: log.sequence, size: log.size, isNew };
    } finally {
      log.release();
    }
  } finally {
    lock.release();
  }
}
