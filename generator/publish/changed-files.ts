/** What a commit changed, in files and URLs: for operators, for uploads, and for the commit itself. */
import { filler, urlsOf } from '../routes/route.js';
import type { ChangedDocument, Committed, SnapshotId, State, StateRoute } from '../state/state.js';
import { INDEX_FILE } from '../tree/changes.js';
import { namesOf, siblingsFrom } from '../tree/codings.js';
import type { Manifest } from '../tree/snapshot-json.js';

export interface ChangedFile {
  readonly file: string;
  readonly isPut: boolean;
}

/** Every commit changes these. */
export const ALWAYS_FILES = [INDEX_FILE, 'snapshot.json'];

export const snapshotIdOf = ({ tree, sequence, digest }: Manifest): SnapshotId => ({
  tree: tree.id,
  sequence,
  digest,
});

/** The documents of each route that a commit changed, if that is known (see `State`); of a first one, all. */
function* changedDocuments(
  state: State,
  commit: Committed,
): Generator<[StateRoute, Iterable<ChangedDocument>]> {
  for (const route of state.routes) {
    if (commit.changes === null) {
      if (!route.isFormer) yield [route, allDocuments(state, route)];
    } else yield [route, state.changed(commit.number, route.id)];
  }
}

function* allDocuments(state: State, { id, route }: StateRoute): Generator<ChangedDocument> {
  const from = siblingsFrom(route);
  for (const { key, bytes } of state.documents(id))
    yield { key, files: namesOf('', bytes, from).length, replaced: 0 };
}

/** The files that a commit, and what followed it, put or deleted, but for those that every commit puts. */
export function* changedFiles(state: State, commit: Committed): Generator<ChangedFile> {
  for (const [{ route }, documents] of changedDocuments(state, commit)) {
    const fileOf = filler(route.file);
    for (const { key, files, replaced } of documents) {
      const names = namesOf(fileOf(key), 0, 0);
      for (const [index, file] of names.entries())
        if (index < files) yield { file, isPut: true };
        else if (index < replaced) yield { file, isPut: false };
    }
  }
  for (const { name, isPut } of state.ownFiles(commit.number)) yield { file: name, isPut };
}

/** The URLs of which caches may hold another response. */
export function* changedUrls(state: State, commit: Committed): Generator<string> {
  for (const [{ route, pages }, documents] of changedDocuments(state, commit)) {
    const urls = urlsOf(route);
    const pageUrls = pages.map(filler);
    for (const { key, files, replaced } of documents) {
      yield* urls(key);
      if (files === 0 || replaced === 0) for (const url of pageUrls) yield url(key);
    }
  }
  for (const { name, isCached } of state.ownFiles(commit.number)) if (isCached) yield `/${name}`;
}

const isOf = ({ tree, sequence, digest }: SnapshotId, other: SnapshotId): boolean =>
  tree === other.tree && sequence === other.sequence && digest === other.digest;

/**
 * The files that may have changed from one snapshot to another, some of them several times.
 * @returns undefined if that is not known
 */
export function changedFilesBetween(
  state: State,
  from: SnapshotId,
  to: SnapshotId,
): Iterable<string> | undefined {
  const commits = [...state.commits()];
  const last = commits.findIndex((commit) => isOf(commit, to));
  // A step after a commit, such as signing, is a commit of the same snapshot.
  const first = commits.findIndex((commit, index) => index >= last && isOf(commit, from));
  if (last < 0 || first < 0) return undefined;
  const between = commits.slice(last, first + 1);
  // What is not reported yet is kept longer than what was between.
  const isChain = between.every(({ number }, index) => number === (between[0]?.number ?? 0) - index);
  const steps = between.slice(0, -1);
  return isChain && steps.every((step) => step.changes !== null && state.knowsChangesOf(step))
    ? filesOf(state, steps)
    : undefined;
}

function* filesOf(state: State, commits: readonly Committed[]): Generator<string> {
  for (const commit of commits) for (const { file } of changedFiles(state, commit)) yield file;
  if (commits.length > 0) yield* ALWAYS_FILES;
}

/** The files that one snapshot changed, with those of later steps; undefined if that is not known. */
export function filesListed(state: State, id: SnapshotId): Iterable<string> | undefined {
  const commits = [...state.commits()].filter((commit) => isOf(commit, id));
  return commits.every((commit) => state.knowsChangesOf(commit)) ? filesOf(state, commits) : undefined;
}
