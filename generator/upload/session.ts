/** What an upload and a comparison have in common: a locked tree, and what a remote should hold. */
import { resolve } from 'node:path';
import { Failure } from '../errors.js';
import type { Progress } from '../progress.js';
import { Lock } from '../lock.js';
import { recover } from '../publish/recover.js';
import { readManifest } from '../tree/manifest.js';
import { FORMAT } from '../tree/snapshot-json.js';
import type { Manifest } from '../tree/snapshot-json.js';
import type { Tree } from '../tree/tree.js';
import { DesiredFiles } from './desired.js';
import { RemoteRecord } from './record.js';
import type { Known } from './record.js';
import type { Connect, Remote } from './remote.js';

export interface Session {
  readonly tree: Tree;
  readonly manifest: Manifest;
  readonly remote: Remote;
  readonly record: RemoteRecord;
  /** What the record said at the start. */
  readonly known: Known | undefined;
  readonly desired: DesiredFiles;
  readonly progress: Progress;
}

/**
 * Does some work on a locked tree: a build in between would mix two snapshots.
 * @throws Failure usage: `to` is no remote; busy; environment; invalid: the tree is damaged
 */
export async function inSession<T>(
  tree: Tree,
  to: string,
  progress: Progress,
  connect: Connect,
  work: (session: Session) => Promise<T>,
): Promise<T> {
  tree.requirePublished();
  const record = new RemoteRecord(tree.uploads, to);
  const remote = connect(to, resolve(tree.out), record.scratch);
  tree.prepareState();
  const lock = Lock.take(tree.lock);
  try {
    const manifest = await recover(tree, progress);
    if (manifest?.format !== FORMAT || manifest.digest !== readManifest(tree.manifest)?.digest) {
      throw Failure.invalid(
        `"${tree.out}" is not the tree that its snapshot.json describes, so nothing was uploaded: ` +
          'build, or "npm run snapshot -- verify --repair", first',
      );
    }
    record.prepare();
    const known = record.read();
    const desired = new DesiredFiles(tree, manifest, remote.hasHeaders, Object.keys(known?.sent ?? {}));
    try {
      return await work({ tree, manifest, remote, record, known, desired, progress });
    } finally {
      desired.close();
    }
  } finally {
    try {
      record.tidyUp();
    } finally {
      lock.release();
    }
  }
}
