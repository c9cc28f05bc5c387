/** Checks a tree against its state and digest for missing, altered and extra files. */
import { existsSync, readFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import type { Entry } from '../../state/documents.js';
import type { Progress } from '../../base/progress.js';
import { INDEX_FILE, filesIn, readChangeIndex, untrackedFiles } from '../../tree/changes.js';
import { CODINGS, namesOf, siblingsFrom } from '../../tree/codings.js';
import { cursorOver, seek } from '../../base/cursor.js';
import { isCommitting, isSound, withPublished } from '../../state/published.js';
import { deleteFile } from '../../publish/moves.js';
import { State } from '../../state/state.js';
import { isNamedContent } from '../../publish/former-assets.js';
import { Lock } from '../../base/lock.js';
import { filler } from '../../routes/route.js';
import { scan, type Scan } from '../../tree/scan.js';
import { NO_HASH, isAsIndexed, measure } from '../../tree/measure.js';
import { isRendered, type PublishedRoute } from '../../tree/published-routes.js';
import { manifestHash, readManifest } from '../../tree/manifest.js';
import { ClosedFiles, DamageReport, type VerifyReport, type Damage } from './damage.js';
import { snapshotSchema, type Manifest } from '../../tree/snapshot-json.js';
import type { Described } from '../../state/schema.js';
import type { Tree } from '../../tree/tree.js';

/** A part of the state, as findings name it: `.dist-state/stage`. */
export const nameOf = (path: string): string => join(basename(dirname(path)), basename(path));

/**
 * Checks every file against the state, and the state against the digest in snapshot.json.
 * @param repairs set after a repair, to let others read everything, and delete files that no route leads to
 * @throws Failure busy: another process is at work on the tree; environment: a file or folder of ours
 * is a symbolic link
 */
export async function verify(
  tree: Tree,
  progress: Progress,
  repairs?: { readonly deletesUntracked: boolean },
): Promise<VerifyReport> {
  tree.requireNoLinks();
  const lock = Lock.takeIfWritable(tree.lock);
  try {
    const found = new DamageReport();
    found.closed = new ClosedFiles(tree, repairs !== undefined);
    if (isCommitting(tree)) found.add(nameOf(tree.stage), 'interrupted');
    const manifest = readManifest(tree.manifest);
    if (manifest === undefined) {
      found.add('snapshot.json', 'missing');
      return found.report(null, 0);
    }
    const files = await checkTree(tree, manifest, found, progress);
    if (repairs?.deletesUntracked === true) for (const file of found.untracked) deleteFile(tree.out, file);
    return found.report(manifest.sequence, files);
  } finally {
    lock?.release();
  }
}

/**
 * @param onDamaged called with each document that is not what the state says
 * @returns how many documents were checked against the state
 */
export async function checkTree(
  tree: Tree,
  manifest: Manifest,
  found: DamageReport,
  progress: Progress,
  onDamaged: (route: PublishedRoute, key: number) => void = () => undefined,
): Promise<number> {
  const routes = manifest.routes.filter(isRendered);
  const described = isSound(tree) ? withPublished(tree, ({ newest }) => newest?.described) : undefined;
  const assets = Object.keys(described?.assets ?? {}).map(assetRoute);
  const { keys, extra, untracked } = await scan(tree, [...routes, ...assets], progress, (file) =>
    found.closed?.look(file),
  );
  found.closed?.finish();
  for (const file of extra) found.add(file, 'extra');
  found.untracked = untracked;
  if (described === undefined) {
    found.add(nameOf(tree.database), existsSync(tree.database) ? 'altered' : 'missing');
    return 0;
  }
  using state = State.read(tree.database);
  if (state?.isWhole !== true) {
    found.add(nameOf(tree.database), 'altered');
    return 0;
  }
  if (state.digest !== manifest.digest || !isServable(manifest) || !isAsCommitted(tree, described))
    found.add('snapshot.json', 'altered');
  progress.start('verifying', manifest.tree.files, 'files');
  let files = 0;
  const from = manifest.compressed_from;
  for (const route of [...routes, ...assets]) {
    const isAsset = assets.includes(route);
    const entries = isAsset ? [namedEntry(tree, route)] : state.documents(state.idOf(route.name));
    for (const { key, isWhole } of checkRoute(tree, route, entries, from, keys, found)) {
      if (!isWhole) onDamaged(route, key);
      if (isAsset) continue;
      files += 1;
      const pause = progress.advance(1);
      if (pause !== undefined) await pause;
    }
  }
  progress.finish();
  checkChanges(tree, manifest.sequence, found);
  checkSnapshotFeed(tree, described, found);
  return files;
}

/** Checks change lists and bundles against their own index. */
function checkChanges(tree: Tree, sequence: number, found: DamageReport): void {
  const index = readChangeIndex(tree);
  if (index?.sequence !== sequence) found.add(INDEX_FILE, 'altered');
  const changes = index?.changes ?? [];
  for (const { file, bytes, sha256 } of filesIn(changes)) {
    const path = join(tree.out, file);
    if (!existsSync(path)) found.add(file.slice(1), 'missing');
    else if (!isAsIndexed(path, { bytes, hash: Buffer.from(sha256, 'hex') })) {
      found.add(file.slice(1), 'altered');
    }
  }
  for (const file of untrackedFiles(tree, changes)) found.add(file, 'extra');
}

/** Only reports damage: a build or a repair regenerates the snapshot feed. */
function checkSnapshotFeed(tree: Tree, { snapshotFeed = {} }: Described, found: DamageReport): void {
  for (const [file, sum] of Object.entries(snapshotFeed)) {
    const path = join(tree.out, file);
    if (!existsSync(path)) found.add(file, 'missing');
    else if (measure(path).hash.toString('hex') !== sum) found.add(file, 'altered');
  }
}

/** Whether servers take it. */
const isServable = (manifest: Manifest): boolean => snapshotSchema.safeParse(manifest).success;

/** Whether snapshot.json is what the last commit wrote, as far as the state knows that. */
const isAsCommitted = (tree: Tree, { manifest }: Described): boolean =>
  manifest === undefined || manifest === manifestHash(readFileSync(tree.manifest));

/** A route for one asset of an earlier snapshot, whose files are compared like a document's. */
const assetRoute = (file: string): PublishedRoute => ({ name: file, path: `/${file}`, file, class: 'asset' });

/** What the name of an earlier asset says of it. */
function namedEntry({ out }: Tree, { file }: PublishedRoute): Entry {
  const path = join(out, file);
  const { bytes, hash } = existsSync(path) ? measure(path) : { bytes: 0, hash: NO_HASH };
  return { key: 0, bytes, hash: isNamedContent(file, hash) ? hash : NO_HASH };
}

/** Merges entries and files in key order; yields each key, and whether all of its files are what they should be. */
function* checkRoute(
  tree: Tree,
  route: PublishedRoute,
  entries: Iterable<Entry>,
  from: number,
  keys: Scan['keys'],
  found: DamageReport,
): Generator<{ readonly key: number; readonly isWhole: boolean }, void, undefined> {
  const fileOf = filler(route.file);
  const forms = [undefined, ...CODINGS].map((coding) => {
    const suffix = coding?.suffix ?? '';
    const scanned = cursorOver((keys.get(route.name + suffix) ?? []).values(), (key) => key);
    const onPassed = (key: number): void => found.add(fileOf(key) + suffix, 'extra');
    return { coding, scanned, moveTo: (key: number) => seek(scanned, key, onPassed) === key };
  });
  for (const entry of entries) {
    const names = namesOf(fileOf(entry.key), entry.bytes, siblingsFrom(route, from));
    const wrong = forms.flatMap(({ coding, scanned, moveTo }, index): [string, Damage['what']][] => {
      const isThere = moveTo(entry.key);
      const file = names[index];
      // A small document has no siblings: the next move passes one that is there.
      if (file === undefined) return [];
      if (!isThere) return [[file, 'missing']];
      scanned.next();
      return isAsIndexed(join(tree.out, file), entry, coding) ? [] : [[file, 'altered']];
    });
    for (const [file, what] of wrong) found.add(file, what);
    yield { key: entry.key, isWhole: wrong.length === 0 };
  }
  for (const { moveTo } of forms) moveTo(Number.POSITIVE_INFINITY);
}
