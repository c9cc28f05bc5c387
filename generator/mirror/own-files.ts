/** The files of the copy that are not documents: the changes that it holds, and the feed of snapshots. */
import { existsSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { indexOf } from '../publish/changes/change-index.js';
import type { OwnFiles } from '../publish/plan.js';
import { FEEDS, documentFile } from '../routes/feeds.js';
import { INDEX_FILE, filesIn, listOf, readChangeIndex, untrackedFiles } from '../tree/changes.js';
import type { Described } from '../tree/changes.js';
import { makeFolder } from '../files.js';
import type { Session } from './fetch.js';
import { fetchedIn } from './files.js';
import { JSON_BYTES } from './origin.js';

/** Fetches the feed of snapshots. @returns its files, by their names below the tree */
export async function fetchFeeds({ files }: Session): Promise<ReadonlyMap<string, string>> {
  const put = new Map<string, string>();
  for (const format of ['atom', 'json'] as const) {
    const name = documentFile(FEEDS.snapshots, format);
    const wanted = { path: `/${name}`, bucket: 'api', bytes: JSON_BYTES, sha256: undefined } as const;
    put.set(name, (await files.fetch(wanted)).file);
  }
  return put;
}

/** The changes of the next snapshot: the origin's, restricted to the files that the copy has. */
export function ownChanges({ tree, index, taken }: Session): Omit<OwnFiles, 'log'> {
  const before = readChangeIndex(tree);
  const held = before?.tree === index.tree ? filesIn(before.changes) : [];
  const isHeld = ({ file, sha256 }: Described): boolean =>
    taken.has(sha256) ||
    (held.some((each) => each.file === file && each.sha256 === sha256) && existsSync(join(tree.out, file)));
  const changes = index.changes.map((change) => {
    const list = listOf(change);
    return {
      ...change,
      ...(list !== undefined && isHeld(list) ? {} : { file: null, bytes: null, sha256: null }),
      bundle: change.bundle !== null && isHeld(change.bundle) ? change.bundle : null,
    };
  });
  const { oldest: _, ...rest } = index;
  const file = join(fetchedIn(tree), 'index.json');
  makeFolder(fetchedIn(tree));
  // A run that was killed may have left a link to the published index, which must stay as it is.
  rmSync(file, { force: true });
  writeFileSync(file, JSON.stringify(indexOf({ ...rest, changes })));
  const put = new Map([[INDEX_FILE, file]]);
  for (const each of filesIn(changes)) {
    const fetched = taken.get(each.sha256);
    if (fetched !== undefined) put.set(each.file.slice(1), fetched.file);
  }
  return { put, removed: untrackedFiles(tree, changes) };
}
