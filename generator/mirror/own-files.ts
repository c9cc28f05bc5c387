/** The files of the copy that are not documents: the changes that it holds, and the feed of snapshots. */
import { existsSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import { INDEX_FILE, filesIn, listOf, readChangeIndex, untrackedFiles } from '../tree/changes.js';
import { indexOf } from '../publish/changes/change-index.js';
import type { ChangeIndex, Described } from '../tree/changes.js';
import { makeFolder } from '../files.js';
import type { OwnFiles } from '../publish/plan.js';
import type { Tree } from '../tree/tree.js';
import { FEEDS, documentFile } from '../routes/feeds.js';
import type { Session } from './fetch.js';
import { JSON_BYTES } from './origin.js';
import type { Origin } from './origin.js';

/** Fetches the feed of snapshots, and says which bundles and lists come and go. */
export async function ownFiles({ tree, files, index, taken }: Session): Promise<OwnFiles> {
  const put = new Map<string, string>();
  for (const format of ['atom', 'json'] as const) {
    const name = documentFile(FEEDS.snapshots, format);
    const wanted = { path: `/${name}`, bucket: 'api', bytes: JSON_BYTES, sha256: undefined } as const;
    put.set(name, (await files.fetch(wanted)).file);
  }
  const before = readChangeIndex(tree);
  const held = new Map(
    before?.tree === index.tree ? filesIn(before.changes).map(({ file, sha256 }) => [file, sha256]) : [],
  );
  const copied = restricted(
    index,
    ({ file, sha256 }) =>
      taken.has(sha256) || (held.get(file) === sha256 && existsSync(join(tree.out, file))),
  );
  for (const { file, sha256 } of filesIn(copied.changes)) {
    const fetched = taken.get(sha256);
    if (fetched !== undefined) put.set(file.slice(1), fetched.file);
  }
  put.set(INDEX_FILE, writeIndex(tree, copied));
  const removed = untrackedFiles(tree, copied.changes);
  return { put, removed };
}

/**
 * The copy's index, if another snapshot is now named as that of the downloads.
 * @returns what to put
 */
export function relabelled(tree: Tree, { downloads }: Origin): ReadonlyMap<string, string> {
  const index = readChangeIndex(tree);
  const { sequence, digest } = downloads;
  if (index === undefined || isDeepStrictEqual(index.downloads, { sequence, digest })) return new Map();
  return new Map([[INDEX_FILE, writeIndex(tree, { ...index, downloads: { sequence, digest } })]]);
}

/** @returns the file, to be linked */
function writeIndex({ mirror }: Tree, index: ChangeIndex): string {
  const file = join(mirror, 'index.json');
  makeFolder(mirror);
  // A run that was killed may have left a link to the published index, which must stay as it is.
  rmSync(file, { force: true });
  writeFileSync(file, JSON.stringify(index));
  return file;
}

/** The origin's index, restricted to the files that the copy has. */
function restricted(index: ChangeIndex, isHeld: (file: Described) => boolean): ChangeIndex {
  const changes = index.changes.map((change) => {
    const list = listOf(change);
    const hasList = list !== undefined && isHeld(list);
    return {
      ...change,
      ...(hasList ? {} : { file: null, bytes: null, sha256: null }),
      bundle: change.bundle !== null && isHeld(change.bundle) ? change.bundle : null,
    };
  });
  const { oldest: _, ...rest } = index;
  return indexOf({ ...rest, changes });
}
