/** What a commit changed, in files and URLs: for operators, and for the commit itself. */
import { filler, urlsOf } from '../routes/route.js';
import type { ChangedDocument, Committed, State, StateRoute } from '../state/state.js';
import { INDEX_FILE } from '../tree/changes.js';
import { namesOf, siblingsFrom } from '../tree/codings.js';

export interface ChangedFile {
  readonly file: string;
  readonly isPut: boolean;
}

/** Every commit changes these. */
export const ALWAYS_FILES = [INDEX_FILE, 'snapshot.json'];

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

/** The files that a commit put or deleted, but for those that every commit puts. */
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
