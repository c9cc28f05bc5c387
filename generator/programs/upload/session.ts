/** What an upload and a comparison have in common: a locked tree, and what a remote should hold. */
import { hash } from 'node:crypto';
import { readdirSync, rmSync, statSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { z } from 'zod';
import { Failure, writing } from '../../base/errors.js';
import { chunksOf, ifExists, liesIn, makeFolder, realPath } from '../../base/files.js';
import { Lock } from '../../base/lock.js';
import type { Progress } from '../../base/progress.js';
import { recover } from '../../publish/commit.js';
import { parseJson } from '../../base/portable.js';
import { State, snapshotIdSchema } from '../../state/state.js';
import { readManifest } from '../../tree/manifest.js';
import { FORMAT, type Manifest } from '../../tree/snapshot-json.js';
import type { Tree } from '../../tree/tree.js';
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
  /** The state of the tree. */
  readonly state: State;
  /** Replaces what is known, durably. */
  readonly remember: (known: KnownRemote) => void;
  readonly desired: DesiredFiles;
  readonly progress: Progress;
}

/** What every SQLite file begins with. */
const SQLITE_MAGIC = Buffer.from('SQLite format 3\0');

/** Whether a path is a file that begins as those of SQLite do, as a register does. */
function isDatabase(path: string): boolean {
  if (statSync(path, { throwIfNoEntry: false })?.isFile() !== true) return false;
  const [start] = chunksOf(path);
  return start?.subarray(0, SQLITE_MAGIC.length).equals(SQLITE_MAGIC) === true;
}

/**
 * HAZARD: a folder of this machine that is reached through the network, or a file system that is
 * mounted twice, is not recognized.
 * @throws Failure usage: an upload to the folder would mix with the tree or its state, or publish a database
 */
function requireApart({ out, state }: Tree, folder: string): void {
  const to = realPath(folder);
  const refused = (is: string, what: string): Failure =>
    Failure.usage(
      `the folder "${folder}" of --to ${is} ${what}, expected one apart from the tree, its state and the register`,
    );
  for (const [name, path] of [
    ['the tree', realPath(out)],
    ['the state of the tree', realPath(state)],
  ] as const) {
    const what = `${name} ("${path}")`;
    if (to === path) throw refused('is', what);
    if (liesIn(to, path)) throw refused('lies in', what);
    if (liesIn(path, to)) throw refused('holds', what);
  }
  writing(`the folder "${folder}" of --to`, () => {
    for (const name of ifExists(() => readdirSync(to)) ?? [])
      if (isDatabase(join(to, name))) throw refused('holds', `the database "${name}"`);
  });
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
  const scratch = tree.uploads;
  // The name of a remote is not stored: it may hold a password.
  const name = hash('sha256', to).slice(0, 16);
  const remote = connect(to, resolve(tree.out), scratch);
  const local = await remote.localFolder(progress);
  if (local !== undefined) requireApart(tree, local);
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
    using state = State.open(tree.database);
    const known = recordSchema.safeParse(parseJson(state.remote(name) ?? '')).data;
    const remember = (next: KnownRemote): void => state.rememberRemote(name, JSON.stringify(next));
    const desired = new DesiredFiles(tree, state, manifest, Object.keys(known?.sent ?? {}));
    return await work({ tree, state, manifest, remote, known, remember, desired, progress });
  } finally {
    try {
      rmSync(scratch, { recursive: true, force: true });
    } finally {
      lock.release();
    }
  }
}
