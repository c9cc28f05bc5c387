/** Checks a tree against its index and digest for missing, altered and extra files. */
import { existsSync, readFileSync, rmSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { Failure } from '../errors.js';
import { HashFileWriter, NO_HASH, entriesIn } from '../tree/hash-file.js';
import type { Entry } from '../tree/hash-file.js';
import type { Progress } from '../progress.js';
import { mendIndex } from '../publish/changes/change-index.js';
import { CODINGS, namesOf } from '../tree/codings.js';
import { isPrepared } from '../publish/commit.js';
import { indexDigest } from '../tree/digest.js';
import { makeFolder } from '../files.js';
import { deleteFile } from '../publish/moves.js';
import { isSound, readIndex, replaceIndex, writeIndex } from '../tree/index-json.js';
import type { Index } from '../tree/index-json.js';
import { isNamedContent } from '../publish/former-assets.js';
import { Lock } from '../lock.js';
import { recover } from '../publish/recover.js';
import { RouteWalk, scan } from '../tree/scan.js';
import { isAsIndexed, measure } from '../tree/measure.js';
import type { Scan } from '../tree/scan.js';
import { isFormer, isRendered } from '../tree/published-routes.js';
import { readManifest } from '../tree/manifest.js';
import { checkChanges, checkSnapshotFeed } from './changes.js';
import { rememberCheckpoint } from '../log/state.js';
import { checkLog, mendLog } from './log.js';
import type { Manifest } from '../tree/manifest.js';
import type { PublishedRoute } from '../tree/published-routes.js';
import { manifestHash } from '../tree/manifest-hash.js';
import { FORMAT, snapshotSchema } from '../tree/snapshot-json.js';
import type { Tree } from '../tree/tree.js';

export interface Damage {
  readonly file: string;
  /** `rewritten` is a log that does not go on from what it was when it was last verified. */
  readonly what: 'missing' | 'altered' | 'extra' | 'interrupted' | 'rewritten';
}

export interface VerifyReport {
  readonly sequence: number | null;
  /** Documents checked against the index. */
  readonly files: number;
  /** At most `SHOWN_DAMAGE`. */
  readonly damage: readonly Damage[];
  readonly total: number;
  /** Files that no route leads to, which are no damage. `files` has at most `SHOWN_DAMAGE`. */
  readonly untracked: { readonly files: readonly string[]; readonly total: number };
}

export const SHOWN_DAMAGE = 100;

export class Findings {
  readonly damage: Damage[] = [];
  total = 0;
  /** Set once the tree was scanned. */
  untracked: readonly string[] = [];
  /** Of a log that is whole, as a note. */
  checkpoint: string | undefined;

  add(file: string, what: Damage['what']): void {
    this.total += 1;
    if (this.damage.length < SHOWN_DAMAGE) this.damage.push({ file, what });
  }

  report(sequence: number | null, files: number): VerifyReport {
    const { damage, total, untracked } = this;
    const shown = untracked.slice(0, SHOWN_DAMAGE);
    return { sequence, files, damage, total, untracked: { files: shown, total: untracked.length } };
  }
}

/** A part of the state, as findings name it: `.dist-state/stage`. */
const nameOf = (path: string): string => join(basename(dirname(path)), basename(path));

/** Callbacks of a repair; a plain verify does nothing in them. */
export interface Repair {
  /** Called with each document's next index entry. */
  entry(route: PublishedRoute, entry: Entry): void;
  extra(file: string): void;
  /** Called with each damaged file of the log. @param content what it must be, if that is known */
  logged(file: string, content: Buffer | undefined): void;
}

const LOOK_ONLY: Repair = { entry: () => {}, extra: () => {}, logged: () => {} };

/**
 * Checks every file against the index, and the index against the digest in snapshot.json.
 * @param deletesUntracked whether to delete files that no route leads to
 * @throws Failure busy: another process is at work on the tree
 */
export async function verify(
  tree: Tree,
  progress: Progress,
  deletesUntracked = false,
): Promise<VerifyReport> {
  const lock = Lock.takeIfWritable(tree.lock);
  try {
    if (lock !== undefined && existsSync(tree.state)) tree.adoptFormerState();
    const found = new Findings();
    if (isPrepared(tree)) found.add(nameOf(tree.stage), 'interrupted');
    const manifest = readManifest(tree.manifest);
    if (manifest === undefined) {
      found.add('snapshot.json', 'missing');
      return found.report(null, 0);
    }
    const files = await checkTree(tree, manifest, found, LOOK_ONLY, progress);
    if (deletesUntracked) for (const file of found.untracked) deleteFile(tree.out, file);
    if (lock !== undefined && found.checkpoint !== undefined) rememberCheckpoint(tree, found.checkpoint);
    return found.report(manifest.sequence, files);
  } finally {
    lock?.release();
  }
}

/**
 * Completes an interrupted commit, deletes extra files, and marks missing or altered documents in
 * the index, so that the next build renders them again. Change lists and bundles can't be
 * regenerated: a damaged one is dropped from the index, and lists that lead only to it with it.
 */
export async function prepareRepair(tree: Tree, progress: Progress): Promise<VerifyReport> {
  makeFolder(tree.out);
  tree.prepareState();
  const lock = Lock.take(tree.lock);
  try {
    tree.adoptFormerState();
    const found = new Findings();
    if (isPrepared(tree)) found.add(nameOf(tree.stage), 'interrupted');
    if (isUnreadable(tree)) {
      found.add('snapshot.json', 'altered');
      // The next build continues the sequence from the change lists, and removes extra files.
      rmSync(tree.manifest);
    }
    const promised = readManifest(tree.manifest)?.digest;
    const manifest = await recover(tree, progress);
    if (manifest === undefined) {
      if (found.total === 0) found.add('snapshot.json', 'missing');
      return found.report(null, 0);
    }
    const interrupted = found.total;
    if (interrupted === 0 && manifest.digest !== promised) found.add('snapshot.json', 'altered');
    const files = await note(tree, manifest, found, progress);
    const lists = new Set(found.damage.map(({ file }) => file).filter((file) => file.startsWith('changes/')));
    const id = manifest.tree.id ?? '';
    mendIndex(tree, { ...manifest, id }, lists);
    // A rollback would bring the damage back.
    if (found.total > interrupted) rmSync(tree.previous, { recursive: true, force: true });
    return found.report(manifest.sequence, files);
  } finally {
    lock.release();
  }
}

function isUnreadable(tree: Tree): boolean {
  try {
    readManifest(tree.manifest);
    return false;
  } catch (error) {
    if (error instanceof Failure) return true;
    throw error;
  }
}

/** Marks damaged documents in the index, and deletes extra files. */
async function note(tree: Tree, manifest: Manifest, found: Findings, progress: Progress): Promise<number> {
  const folder = join(tree.state, 'repaired');
  rmSync(folder, { recursive: true, force: true });
  const routes = manifest.routes.filter(isRendered);
  const writers = new Map(routes.map(({ name }) => [name, new HashFileWriter(join(folder, name))]));
  const extra: string[] = [];
  const repair: Repair = {
    entry: (route, entry) => {
      writers.get(route.name)?.add(entry);
      // Nothing renders a former asset again: the next build finds it gone.
      if (isFormer(route) && entry.hash.equals(NO_HASH)) extra.push(...namesOf(route.file, 0, 0));
    },
    extra: (file) => extra.push(file),
    logged: (file, content) => mendLog(tree, file, content),
  };
  const files = await checkTree(tree, manifest, found, repair, progress);
  const sums = Object.fromEntries([...writers].map(([route, writer]) => [route, writer.finish()]));
  const before: Partial<Index> = isSound(tree.index) ? readIndex(tree.index) : {};
  const { withheld, absent = [], counts, manifest: published, snapshot } = before;
  const isCommitted = existsSync(tree.manifest) && published === manifestHash(readFileSync(tree.manifest));
  writeIndex(folder, {
    digest: manifest.digest,
    sums,
    // Without a build key the next build renders everything.
    routes: {},
    fingerprints: false,
    exports: {},
    absent,
    ...(counts && { counts }),
    ...(withheld && { withheld }),
    ...(published !== undefined && { manifest: published }),
    ...(snapshot && isCommitted && { snapshot }),
  });
  replaceIndex(tree, folder);
  for (const file of extra) deleteFile(tree.out, file);
  return files;
}

/** @returns how many documents were checked against the index */
async function checkTree(
  tree: Tree,
  manifest: Manifest,
  found: Findings,
  repair: Repair,
  progress: Progress,
): Promise<number> {
  const routes = manifest.routes.filter(isRendered);
  const former = manifest.routes.filter(isFormer);
  const { keys, extra, untracked } = await scan(tree, [...routes, ...former], progress);
  for (const file of extra) {
    found.add(file, 'extra');
    repair.extra(file);
  }
  found.untracked = untracked;
  if (!isSound(tree.index)) {
    found.add(nameOf(tree.index), existsSync(tree.index) ? 'altered' : 'missing');
    return 0;
  }
  const isAltered =
    indexDigest(tree.index, routes) !== manifest.digest || !isServable(manifest) || !isAsCommitted(tree);
  if (isAltered) found.add('snapshot.json', 'altered');
  progress.start('verifying', manifest.tree.files, 'files');
  let files = 0;
  const from = manifest.compressed_from ?? Number.POSITIVE_INFINITY;
  for (const route of routes) {
    const entries = entriesIn(join(tree.index, route.name));
    for (const step of checkRoute(tree, route, entries, from, keys, found, repair)) {
      files += step;
      const pause = progress.advance(step);
      if (pause !== undefined) await pause;
    }
  }
  for (const route of former)
    for (const _ of checkRoute(tree, route, [namedEntry(tree, route)], from, keys, found, repair));
  progress.finish();
  checkChanges(tree, manifest.sequence, found, repair);
  checkSnapshotFeed(tree, found);
  found.checkpoint = checkLog(tree, manifest, (file, what, content) => {
    // Which is in the log as well as in the index.
    if (file !== 'snapshot.json' || !isAltered) found.add(file, what);
    if (what === 'extra') repair.extra(file);
    else repair.logged(file, content);
  });
  return files;
}

/** Whether servers take it; those of earlier formats had other members. */
const isServable = (manifest: Manifest): boolean =>
  manifest.format !== FORMAT || snapshotSchema.safeParse(manifest).success;

/** Whether snapshot.json is what the last commit wrote; an earlier version did not record it. */
function isAsCommitted(tree: Tree): boolean {
  const { manifest } = readIndex(tree.index);
  return manifest === undefined || manifest === manifestHash(readFileSync(tree.manifest));
}

/** What the name of a former asset says of it. */
function namedEntry({ out }: Tree, { file }: PublishedRoute): Entry {
  const path = join(out, file);
  const { bytes, hash } = existsSync(path) ? measure(path) : { bytes: 0, hash: NO_HASH };
  return { key: 0, bytes, hash: isNamedContent(file, hash) ? hash : NO_HASH };
}

/** Merges entries and files in key order; yields 1 for each entry. */
function* checkRoute(
  tree: Tree,
  route: PublishedRoute,
  entries: Iterable<Entry>,
  from: number,
  keys: Scan['keys'],
  found: Findings,
  repair: Repair,
): Generator<number, void, undefined> {
  const walk = new RouteWalk(route, from, keys, (file) => {
    found.add(file, 'extra');
    repair.extra(file);
  });
  for (const entry of entries) {
    const wrong = walk.meet(entry).flatMap(({ file, found: there }, index): [string, Damage['what']][] => {
      if (!there) return [[file, 'missing']];
      return isAsIndexed(join(tree.out, file), entry, CODINGS[index - 1]) ? [] : [[file, 'altered']];
    });
    for (const [file, what] of wrong) found.add(file, what);
    repair.entry(route, wrong.length === 0 ? entry : { ...entry, hash: NO_HASH });
    yield 1;
  }
  walk.finish();
}
