/** The entries of the origin's log, from which the copy's tiles are computed. */
import { existsSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { leafHash } from '../tree/merkle.js';
import { MAX_ENTRY_BYTES, parseEntry, splitEntries } from '../log/text.js';
import { TILE_WIDTH, entriesPath } from '../routes/tile-keys.js';
import type { Checkpoint, SnapshotEntry } from '../log/text.js';
import { TileWriter } from './tile-writer.js';
import { FileWriter, ifExists } from '../files.js';
import { logFolder } from '../log/log-paths.js';
import { filesBelow } from '../tree/scan.js';
import type { Tree } from '../tree/tree.js';
import type { Client } from './client.js';
import { fetchedIn } from './files.js';
import { fetchBuffer } from './origin.js';
import type { Origin } from './origin.js';

/** The most bytes of entries: 1 GiB, in which there is room for 5,000,000 snapshots. */
const LOG_BYTES = 1024 ** 3;

export interface Entries {
  readonly newest: SnapshotEntry;
  /** Whether the log begins with the entries that were seen before. */
  readonly isSuccessor: boolean;
  /** What the copy lacks, by name below the tree, each with a file that has the content. */
  readonly files: ReadonlyMap<string, string>;
}

const folderOf = ({ tree }: Origin): string => logFolder(tree.id);

/** A file of the copy's log. */
const published = (tree: Tree, origin: Origin, path: string): Buffer | undefined =>
  ifExists(() => readFileSync(join(tree.out, folderOf(origin), path)));

/** Whether the copy has a checkpoint, and all files of the log that it needs. */
export async function holdsLog(
  tree: Tree,
  client: Client,
  origin: Origin,
  checkpoint: Checkpoint,
  note: Buffer,
): Promise<boolean> {
  if (published(tree, origin, 'checkpoint')?.equals(note) !== true) return false;
  let isWhole = true;
  const bundleOf = async (path: string): Promise<Buffer> => published(tree, origin, path) ?? Buffer.alloc(0);
  const read = await readEntries(client, checkpoint, undefined, bundleOf, (path, content) => {
    isWhole &&= published(tree, origin, path)?.equals(content) === true;
  });
  return isWhole && read !== undefined;
}

/**
 * Reads all entries of a log, and fetches those that the copy lacks.
 * @param seen the checkpoint before
 * @returns undefined if they don't have the root of the checkpoint
 */
export async function fetchEntries(
  tree: Tree,
  client: Client,
  origin: Origin,
  checkpoint: Checkpoint,
  seen: Checkpoint | undefined,
): Promise<Entries | undefined> {
  let left = LOG_BYTES;
  const staged = join(fetchedIn(tree), 'log');
  // Entries that the copy has may be damaged, or those of another history.
  for (const reuses of [true, false]) {
    const [files, writer] = [new Map<string, string>(), new FileWriter(staged)];
    const put = (path: string, content: Buffer): void => {
      if (published(tree, origin, path)?.equals(content) === true) return;
      // Not before: another run may be at work, if this one has nothing to write.
      if (files.size === 0) rmSync(staged, { recursive: true, force: true });
      writer.write(path, content);
      files.set(`${folderOf(origin)}/${path}`, join(staged, path));
    };
    const bundleOf = async (path: string, width: number): Promise<Buffer> => {
      const held = reuses ? published(tree, origin, path) : undefined;
      if (held !== undefined) return held;
      const most = Math.min(width * (2 + MAX_ENTRY_BYTES), left);
      const { content } = await fetchBuffer(client, `/${folderOf(origin)}/${path}`, { bucket: 'page', most });
      left -= content.length;
      return content;
    };
    const read = await readEntries(client, checkpoint, seen, bundleOf, put);
    if (read !== undefined) return { ...read, files };
  }
  return undefined;
}

/**
 * @param bundleOf gives a bundle of so many entries, by its path below the log
 * @param put called with all bundles and tiles
 */
async function readEntries(
  client: Client,
  { size, root }: Checkpoint,
  seen: Checkpoint | undefined,
  bundleOf: (path: string, width: number) => Promise<Buffer>,
  put: (path: string, content: Buffer) => void,
): Promise<Omit<Entries, 'files'> | undefined> {
  const tiles = new TileWriter(put);
  let count = 0;
  let isSuccessor = true;
  let newest: Uint8Array | undefined;
  for (let n = 0; count < size; n += 1) {
    const width = Math.min(TILE_WIDTH, size - count);
    const path = entriesPath(n, width);
    const bundle = await bundleOf(path, width);
    const entries = entriesIn(bundle);
    if (entries.length !== width) return undefined;
    for (const entry of entries) {
      tiles.add(leafHash(entry));
      count += 1;
      if (count === seen?.size) isSuccessor = tiles.root().toString('base64') === seen.root;
      newest = entry;
    }
    put(path, bundle);
    // The bundles that the copy has are read without a request.
    await client.pause();
  }
  tiles.finish();
  if (newest === undefined || tiles.root().toString('base64') !== root) return undefined;
  return { newest: parseEntry(Buffer.from(newest).toString()), isSuccessor };
}

/** None if the bundle is malformed. */
function entriesIn(bundle: Buffer): readonly Uint8Array[] {
  try {
    return splitEntries(bundle);
  } catch {
    return [];
  }
}

/** The files of logs, and of them partial tiles. No documents are there: see `areSafe`. */
const LOG_FILE = /^log\/([0-9a-f]{16})\/(?:checkpoint$|tile\/|index\/)/;
const PARTIAL = /^(log\/\w+\/tile\/.*)\.p\/\d+$/;

/**
 * What a copy no longer needs: partial tiles that a full one replaces, and other logs.
 * @param treeId undefined if the copy is to have no log
 * @param files tiles that the copy gets
 */
export function* outdated(
  { out }: Tree,
  treeId: string | undefined,
  files: ReadonlyMap<string, string>,
): Generator<string> {
  if (!existsSync(join(out, 'log'))) return;
  for (const name of filesBelow(out, 'log')) {
    const [, id] = LOG_FILE.exec(name) ?? [];
    const [, full] = PARTIAL.exec(name) ?? [];
    const isReplaced = full !== undefined && (files.has(full) || existsSync(join(out, full)));
    if (id !== undefined && (id !== treeId || isReplaced)) yield name;
  }
}
