/** The entries of the origin's log, from which the copy's tiles are computed. */
import { existsSync, readFileSync, readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { leafHash } from '../tree/merkle.js';
import { MAX_ENTRY_BYTES, parseEntry, splitEntries } from '../log/text.js';
import { TILE_WIDTH, entriesPath } from '../routes/tile-keys.js';
import type { Checkpoint, SnapshotEntry } from '../log/text.js';
import { TileWriter } from './tile-writer.js';
import { FileWriter } from '../files.js';
import { logFolder } from '../tree/log-paths.js';
import { filesBelow } from '../tree/scan.js';
import type { Tree } from '../tree/tree.js';
import type { Client } from './client.js';
import { MovedOn, fetchBuffer } from './origin.js';
import type { Origin } from './origin.js';

/** The most bytes of entries: 1 GiB, in which there is room for 5,000,000 snapshots. */
const LOG_BYTES = 1024 ** 3;

/** Fetches a file of the log. @throws MovedOn: it is not there; Failure invalid: it has more bytes */
export async function fetchFile(client: Client, path: string, most: number): Promise<Buffer> {
  const response = await fetchBuffer(client, path, { bucket: 'page', most });
  if (response === undefined) throw new MovedOn(`${path} has no content`);
  return response.content;
}

export interface Entries {
  readonly newest: SnapshotEntry;
  /** Whether the log begins with the entries that were seen before. */
  readonly isSuccessor: boolean;
  /** What the copy lacks, by name below the tree, each with a file that has the content. */
  readonly files: ReadonlyMap<string, string>;
}

/** Gives a bundle of so many entries, by its path below the log. */
type BundleOf = (path: string, width: number) => Buffer | undefined | Promise<Buffer>;

const folderOf = ({ tree }: Origin): string => logFolder(tree.id);

/** A file of the copy's log. */
function published(tree: Tree, origin: Origin, path: string): Buffer | undefined {
  const file = join(tree.out, folderOf(origin), path);
  return existsSync(file) ? readFileSync(file) : undefined;
}

/** The newest entry of the copy, if it has all files of the log and the checkpoint. */
export async function newestHeld(
  tree: Tree,
  client: Client,
  origin: Origin,
  checkpoint: Checkpoint,
  note: Buffer,
): Promise<SnapshotEntry | undefined> {
  if (published(tree, origin, 'checkpoint')?.equals(note) !== true) return undefined;
  let isWhole = true;
  const read = await readEntries(
    client,
    checkpoint,
    undefined,
    (path) => published(tree, origin, path),
    (path, content) => (isWhole &&= published(tree, origin, path)?.equals(content) === true),
  );
  return isWhole ? read?.newest : undefined;
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
  const fetched = async (path: string, width: number): Promise<Buffer> => {
    const most = Math.min(width * (2 + MAX_ENTRY_BYTES), left);
    const bundle = await fetchFile(client, `/${folderOf(origin)}/${path}`, most);
    left -= bundle.length;
    return bundle;
  };
  const attempt = async (bundleOf: BundleOf): Promise<Entries | undefined> => {
    const staged = stagedLog(tree);
    rmSync(staged, { recursive: true, force: true });
    const [files, writer] = [new Map<string, string>(), new FileWriter(staged)];
    const read = await readEntries(client, checkpoint, seen, bundleOf, (path, content) => {
      if (published(tree, origin, path)?.equals(content) === true) return;
      writer.write(path, content);
      files.set(`${folderOf(origin)}/${path}`, join(staged, path));
    });
    return read && { ...read, files };
  };
  const first = await attempt((path, width) => published(tree, origin, path) ?? fetched(path, width));
  // Entries that the copy has may be damaged, or those of another history.
  return first ?? (await attempt(fetched));
}

/** Where files are until they are published. */
const stagedLog = ({ mirror }: Tree): string => join(mirror, 'log');

/** @param put called with all bundles and tiles */
async function readEntries(
  client: Client,
  { size, root }: Checkpoint,
  seen: Checkpoint | undefined,
  bundleOf: BundleOf,
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
    const entries = bundle === undefined ? [] : entriesIn(bundle);
    if (bundle === undefined || entries.length !== width) return undefined;
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

/** No documents are where these are: see `areSafe`. */
const LOG_FILE = /^log\/[0-9a-f]{16}\/(checkpoint$|tile\/|index\/)/;

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
  const folders = existsSync(join(out, 'log')) ? readdirSync(join(out, 'log')) : [];
  for (const id of folders.filter((name) => /^[0-9a-f]{16}$/.test(name))) {
    const folder = logFolder(id);
    if (id === treeId) {
      if (existsSync(join(out, folder, 'tile'))) yield* replaced(out, `${folder}/tile`, files);
    } else for (const name of filesBelow(out, folder)) if (LOG_FILE.test(name)) yield name;
  }
}

function* replaced(out: string, folder: string, files: ReadonlyMap<string, string>): Generator<string> {
  for (const name of filesBelow(out, folder)) {
    const [, full] = /^(.*)\.p\/\d+$/.exec(name) ?? [];
    if (full !== undefined && (files.has(full) || existsSync(join(out, full)))) yield name;
  }
}
