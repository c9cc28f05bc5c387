/** Checks the signed log of a tree: tiles, checkpoint, newest entry, and the chunks of the digest. */
import { existsSync, readFileSync, rmSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { unlessFailure } from '../../base/errors.js';
import { checkLog as checkTiles, newestIn, rootOf } from '../log/log-files.js';
import { openNote } from '../log/tlog/note.js';
import { logKeys } from '../../base/keys.js';
import { readSeen, recordOf } from '../log/record.js';
import { base64Of, bytesOfBase64 } from '../log/tlog/chunk-text.js';
import { parseCheckpoint, type Checkpoint, type SnapshotEntry } from '../log/tlog/text.js';
import { manifestHash } from '../../tree/manifest.js';
import { namesOf } from '../../tree/codings.js';
import { isCopy, withPublished } from '../../state/published.js';
import { digestOf } from '../../tree/digest.js';
import { makeFolder, namesIn, readText, replaceFile } from '../../base/files.js';
import { forEachChunkFile } from '../log/chunk-index.js';
import {
  LISTS_FILE,
  ROUTES_FILE,
  checkpointFile,
  chunkForm,
  indexFolder,
  logFolder,
} from '../log/log-paths.js';
import { isRendered, type PublishedRoute } from '../../tree/published-routes.js';
import type { Manifest } from '../../tree/snapshot-json.js';
import type { Tree } from '../../tree/tree.js';
import type { State } from '../../state/state.js';
import type { Damage } from './damage.js';

/** @param content what the file must be, if that is known */
type Find = (file: string, what: Damage['what'], content?: Buffer) => void;

/**
 * Checks everything below `log/`.
 * @param find called with each damaged file
 * @returns the checkpoint, as a note, if there is a log and all of it is whole
 */
export function checkLog(tree: Tree, manifest: Manifest, find: Find): string | undefined {
  const { log } = manifest;
  const treeId = manifest.tree.id;
  let isWhole = true;
  const found: Find = (...damage) => {
    isWhole = false;
    find(...damage);
  };
  const names = documentsBelowLog(manifest);
  checkNames(tree, 'log', log === undefined ? names : [treeId, ...names], found);
  if (log === undefined) return undefined;
  checkNames(tree, logFolder(treeId), ['checkpoint', 'tile', 'index'], found);
  const note = readText(join(tree.out, checkpointFile(treeId)));
  const isPending =
    note === undefined ? isFirstUnsigned(tree, manifest) : checkHistory(tree, manifest, note, found);
  if (note === undefined && !isPending) found(checkpointFile(treeId), 'missing');
  // Until the snapshot is signed, the chunks may be those of the one before.
  if (!isPending) checkIndex(tree, manifest, found);
  return isWhole ? note : undefined;
}

/** The operator's own files that are next to the log, by their names there. */
const documentsBelowLog = ({ routes }: Manifest): readonly string[] =>
  routes.filter(isRendered).flatMap(({ file }) => {
    const [folder, name, ...rest] = file.split('/');
    if (folder !== 'log' || name === undefined) return [];
    return rest.length === 0 ? namesOf(name, 0, 0) : [name];
  });

/**
 * Whether a snapshot may not be in the log yet: it was committed here, or copied from an origin that
 * had not signed it.
 */
const isUnsigned = (tree: Tree, { tree: { id }, sequence }: Manifest, newest: SnapshotEntry): boolean =>
  isCopy(tree) ? newest.sequence < sequence : isCommittedHere(tree, id);

const isCommittedHere = (tree: Tree, treeId: string): boolean =>
  recordOf(tree, treeId)?.manifest === manifestHash(readFileSync(tree.manifest));

/** Whether a log has no checkpoint since its first snapshot was committed here and not signed yet. */
const isFirstUnsigned = (tree: Tree, { tree: { id } }: Manifest): boolean =>
  readSeen(tree) === undefined &&
  (isCopy(tree) || !existsSync(join(tree.out, logFolder(id), 'tile'))) &&
  isCommittedHere(tree, id);

/**
 * @returns whether the snapshot is still to be signed
 * @throws Failure invalid: the tree's history is another than when it was last verified
 */
function checkHistory(tree: Tree, manifest: Manifest, note: string, found: Find): boolean {
  const treeId = manifest.tree.id;
  const folder = join(tree.out, logFolder(treeId));
  const checkpoint = signedCheckpoint(note, manifest.log?.keys ?? []);
  if (checkpoint === undefined) {
    found(checkpointFile(treeId), 'altered');
    return false;
  }
  const { size, root } = checkpoint;
  let areTilesWhole = true;
  for (const { file, what, content } of checkTiles(folder, { size, root: bytesOfBase64(root) })) {
    areTilesWhole = false;
    found(`${logFolder(treeId)}/${file}`, what, content);
  }
  if (!areTilesWhole) return false;
  const entry = newestIn(folder, size);
  if (entry === undefined) {
    found(checkpointFile(treeId), 'altered');
    return false;
  }
  const { sequence, digest, as_of: asOf } = manifest;
  const isOfSnapshot =
    entry.tree === treeId &&
    entry.sequence === sequence &&
    entry.digest === digest &&
    entry.asOf === asOf &&
    (entry.manifest === undefined || entry.manifest === manifestHash(readFileSync(tree.manifest)));
  const isBefore = entry.tree === treeId && entry.sequence < sequence && isUnsigned(tree, manifest, entry);
  if (!isOfSnapshot && !isBefore) found('snapshot.json', 'altered');
  const seen = readSeen(tree);
  if (seen !== undefined && (seen.size > size || base64Of(rootOf(folder, seen.size)) !== seen.root))
    found(checkpointFile(treeId), 'rewritten');
  return isBefore;
}

/** Undefined if the note is malformed, or none of the keys has signed it. */
const signedCheckpoint = (note: string, keys: readonly string[]): Checkpoint | undefined =>
  unlessFailure(() => parseCheckpoint(openNote(note, logKeys(keys)).text));

/** Names in a folder other than those that are expected. */
function checkNames({ out }: Tree, folder: string, expected: Iterable<string>, found: Find): void {
  const names = new Set(expected);
  for (const name of namesIn(join(out, folder))) if (!names.has(name)) found(`${folder}/${name}`, 'extra');
}

/** Checks the chunks and their lists, by the state of the tree. */
function checkIndex(tree: Tree, { tree: { id }, routes, digest }: Manifest, found: Find): void {
  const folder = indexFolder(id ?? '');
  const rendered = routes.filter(isRendered);
  checkNames(tree, folder, [ROUTES_FILE, ...rendered.filter(chunkForm).map(({ name }) => name)], found);
  const text = readText(join(tree.out, folder, ROUTES_FILE));
  if (text === undefined || digestOf(text) !== digest)
    found(`${folder}/${ROUTES_FILE}`, text === undefined ? 'missing' : 'altered');
  withPublished(tree, (state) => {
    for (const route of rendered.filter(chunkForm))
      checkChunks(tree, state, `${folder}/${route.name}`, route, found);
  });
}

function checkChunks(tree: Tree, state: State, folder: string, route: PublishedRoute, found: Find): void {
  const names = new Set<string>();
  forEachChunkFile(state, route, (name, content) => {
    names.add(name);
    const there = readText(join(tree.out, folder, name));
    if (there !== content) found(`${folder}/${name}`, there === undefined ? 'missing' : 'altered');
  });
  checkNames(tree, folder, names, found);
}

/** Repairs a file of the log, or lets the next build write it: all chunks of a route, or the checkpoint. */
export function repairLog({ out, state }: Tree, file: string, content: Buffer | undefined): void {
  const path = join(out, file);
  if (content !== undefined) {
    makeFolder(dirname(path));
    replaceFile(path, content, join(state, 'tile.partial'));
  }
  const route = /^log\/\w+\/index\/[\w-]+\//.exec(file)?.[0];
  if (route !== undefined) rmSync(join(out, route, LISTS_FILE), { force: true });
  if (/^log\/\w+\/checkpoint$/.test(file)) rmSync(path, { force: true });
}
