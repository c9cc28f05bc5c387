/** What an upload and a comparison have in common: a locked tree, and what a remote should hold. */
import { hash } from 'node:crypto';
import { rmSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { z } from 'zod';
import { Failure } from '../errors.js';
import { makeFolder, readJson, replaceFileDurably } from '../files.js';
import { Lock } from '../lock.js';
import type { Progress } from '../progress.js';
import { snapshotIdSchema } from '../publish/changed-files.js';
import { recover } from '../publish/recover.js';
import { readManifest } from '../tree/manifest.js';
import { FORMAT } from '../tree/snapshot-json.js';
import type { Manifest } from '../tree/snapshot-json.js';
import type { Tree } from '../tree/tree.js';
import { DesiredFiles } from './desired.js';
import type { Connect, Remote } from './remote.js';

/** What a remote is known to hold. */
const recordSchema = z.object({
  /** The snapshot that it held as a whole, but for files that uploads after that have changed. */
  held: snapshotIdSchema.nullable(),
  /** The snapshot of the last upload that began and has not ended well. */
  begun: snapshotIdSchema.nullable(),
  /**
   * The marks of what was sent, by group (see `FileSet`); empty while it is sent again. What the
   * tree no longer has stays until an upload has ended well.
   */
  sent: z.record(z.string(), z.string()),
});
type KnownRemote = z.infer<typeof recordSchema>;

export interface UploadSession {
  readonly tree: Tree;
  readonly manifest: Manifest;
  readonly remote: Remote;
  /** What was known at the start; undefined if that is nothing. */
  readonly known: KnownRemote | undefined;
  /** Replaces what is known, atomically and durably. */
  readonly remember: (known: KnownRemote) => void;
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
  work: (session: UploadSession) => Promise<T>,
): Promise<T> {
  tree.requirePublished();
  // The name of a remote is not stored.
  const folder = join(tree.uploads, hash('sha256', to).slice(0, 16));
  const [file, scratch] = [join(folder, 'record.json'), join(folder, 'scratch')];
  const remote = connect(to, resolve(tree.out), scratch);
  tree.prepareState();
  const lock = Lock.take(tree.lock);
  try {
    const manifest = await recover(tree, progress);
    if (manifest?.format !== FORMAT || manifest.digest !== readManifest(tree.manifest)?.digest) {
      throw Failure.invalid(
        `"${tree.out}" is not the tree that its snapshot.json describes, so nothing was uploaded: ` +
          'build, or "verify --repair", first',
      );
    }
    rmSync(scratch, { recursive: true, force: true });
    makeFolder(scratch);
    const known = recordSchema.safeParse(readJson(file)).data;
    const remember = (next: KnownRemote): void =>
      replaceFileDurably(file, JSON.stringify(next), join(scratch, 'record.json'));
    const desired = new DesiredFiles(tree, manifest, remote.hasHeaders, Object.keys(known?.sent ?? {}));
    try {
      return await work({ tree, manifest, remote, known, remember, desired, progress });
    } finally {
      desired.close();
    }
  } finally {
    try {
      rmSync(scratch, { recursive: true, force: true });
    } finally {
      lock.release();
    }
  }
}
