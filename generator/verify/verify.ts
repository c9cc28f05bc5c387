/** Checks a tree against its index and digest for missing, altered and extra files. */
import { existsSync, readFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { NO_HASH, entriesIn } from '../tree/hash-file.js';
import type { Entry } from '../tree/hash-file.js';
import type { Progress } from '../progress.js';
import { INDEX_FILE, filesIn, readChangeIndex, untrackedFiles } from '../tree/changes.js';
import { CODINGS, namesOf, siblingsFrom } from '../tree/codings.js';
import { cursorOver, seek } from '../cursor.js';
import { isPrepared } from '../publish/journal.js';
import { indexDigest } from '../tree/digest.js';
import { deleteFile } from '../publish/moves.js';
import { isSound, readIndex } from '../tree/index-json.js';
import { isNamedContent } from '../publish/former-assets.js';
import { Lock } from '../lock.js';
import { filler } from '../routes/index.js';
import { scan } from '../tree/scan.js';
import { isAsIndexed, measure } from '../tree/measure.js';
import type { Scan } from '../tree/scan.js';
import { isRendered } from '../tree/published-routes.js';
import { manifestHash, readManifest } from '../tree/manifest.js';
import { checkLog } from './log.js';
import { ClosedFiles } from './closed-files.js';
import { rememberSeen } from '../log/record.js';
import type { Manifest } from '../tree/snapshot-json.js';
import type { PublishedRoute } from '../tree/published-routes.js';
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
  /** How many files and folders others can't read, or could not before a repair, with an example. */
  readonly closed: { readonly total: number; readonly example: string | null };
}

export const SHOWN_DAMAGE = 100;

export class DamageReport {
  readonly damage: Damage[] = [];
  total = 0;
  /** Set once the tree was scanned. */
  untracked: readonly string[] = [];
  /** Set to have the modes of what is published looked at. */
  closed: ClosedFiles | undefined;
  readonly #onDamage: (damage: Damage, content?: Buffer) => void;

  /** @param onDamage called with each damage, and with what the file must be, if that is known */
  constructor(onDamage: (damage: Damage, content?: Buffer) => void = () => undefined) {
    this.#onDamage = onDamage;
  }

  add(file: string, what: Damage['what'], content?: Buffer): void {
    this.total += 1;
    if (this.damage.length < SHOWN_DAMAGE) this.damage.push({ file, what });
    this.#onDamage({ file, what }, content);
  }

  report(sequence: number | null, files: number): VerifyReport {
    const { damage, total, untracked, closed } = this;
    return {
      sequence,
      files,
      damage,
      total,
      untracked: { files: untracked.slice(0, SHOWN_DAMAGE), total: untracked.length },
      closed: { total: closed?.total ?? 0, example: closed?.example ?? null },
    };
  }
}

/** A part of the state, as findings name it: `.dist-state/stage`. */
export const nameOf = (path: string): string => join(basename(dirname(path)), basename(path));

/**
 * Checks every file against the index, and the index against the digest in snapshot.json.
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
    if (lock !== undefined && existsSync(tree.state)) tree.adoptFormerState();
    const found = new DamageReport();
    found.closed = new ClosedFiles(tree, repairs !== undefined);
    if (isPrepared(tree)) found.add(nameOf(tree.stage), 'interrupted');
    const manifest = readManifest(tree.manifest);
    if (manifest === undefined) {
      found.add('snapshot.json', 'missing');
      return found.report(null, 0);
    }
    const { files, checkpoint } = await checkTree(tree, manifest, found, progress);
    if (repairs?.deletesUntracked === true) for (const file of found.untracked) deleteFile(tree.out, file);
    if (lock !== undefined && checkpoint !== undefined) rememberSeen(tree, checkpoint);
    return found.report(manifest.sequence, files);
  } finally {
    lock?.release();
  }
}

/**
 * @param onEntry called with each document's next index entry
 * @returns how many documents were checked against the index; the checkpoint of a log that is whole
 */
export async function checkTree(
  tree: Tree,
  manifest: Manifest,
  found: DamageReport,
  progress: Progress,
  onEntry: (route: PublishedRoute, entry: Entry) => void = () => undefined,
): Promise<{ readonly files: number; readonly checkpoint?: string | undefined }> {
  const routes = manifest.routes.filter(isRendered);
  const isIndexed = isSound(tree.index);
  const assets = isIndexed ? Object.keys(readIndex(tree.index).assets ?? {}).map(assetRoute) : [];
  const { keys, extra, untracked } = await scan(tree, [...routes, ...assets], progress, (file) =>
    found.closed?.look(file),
  );
  found.closed?.finish();
  for (const file of extra) found.add(file, 'extra');
  found.untracked = untracked;
  if (!isIndexed) {
    found.add(nameOf(tree.index), existsSync(tree.index) ? 'altered' : 'missing');
    return { files: 0 };
  }
  const isAltered =
    indexDigest(tree.index, routes) !== manifest.digest || !isServable(manifest) || !isAsCommitted(tree);
  if (isAltered) found.add('snapshot.json', 'altered');
  progress.start('verifying', manifest.tree.files, 'files');
  let files = 0;
  const from = manifest.compressed_from ?? Number.POSITIVE_INFINITY;
  for (const route of [...routes, ...assets]) {
    const isAsset = assets.includes(route);
    const entries = isAsset ? [namedEntry(tree, route)] : entriesIn(join(tree.index, route.name));
    for (const entry of checkRoute(tree, route, entries, from, keys, found)) {
      onEntry(route, entry);
      if (isAsset) continue;
      files += 1;
      const pause = progress.advance(1);
      if (pause !== undefined) await pause;
    }
  }
  progress.finish();
  checkChanges(tree, manifest.sequence, found);
  checkSnapshotFeed(tree, found);
  const checkpoint = checkLog(tree, manifest, (file, what, content) => {
    // Which is in the log as well as in the index.
    if (file !== 'snapshot.json' || !isAltered) found.add(file, what, content);
  });
  return { files, checkpoint };
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
function checkSnapshotFeed(tree: Tree, found: DamageReport): void {
  for (const [file, sum] of Object.entries(readIndex(tree.index).snapshotFeed ?? {})) {
    const path = join(tree.out, file);
    if (!existsSync(path)) found.add(file, 'missing');
    else if (measure(path).hash.toString('hex') !== sum) found.add(file, 'altered');
  }
}

/** Whether servers take it; those of earlier formats had other members. */
const isServable = (manifest: Manifest): boolean =>
  manifest.format !== FORMAT || snapshotSchema.safeParse(manifest).success;

/** Whether snapshot.json is what the last commit wrote; an earlier version did not record it. */
function isAsCommitted(tree: Tree): boolean {
  const { manifest } = readIndex(tree.index);
  return manifest === undefined || manifest === manifestHash(readFileSync(tree.manifest));
}

/** A route for one asset of an earlier snapshot, whose files are compared like a document's. */
const assetRoute = (file: string): PublishedRoute => ({ name: file, path: `/${file}`, file, class: 'asset' });

/** What the name of an earlier asset says of it. */
function namedEntry({ out }: Tree, { file }: PublishedRoute): Entry {
  const path = join(out, file);
  const { bytes, hash } = existsSync(path) ? measure(path) : { bytes: 0, hash: NO_HASH };
  return { key: 0, bytes, hash: isNamedContent(file, hash) ? hash : NO_HASH };
}

/** Merges entries and files in key order; yields each entry, without its hash if a file is damaged. */
function* checkRoute(
  tree: Tree,
  route: PublishedRoute,
  entries: Iterable<Entry>,
  from: number,
  keys: Scan['keys'],
  found: DamageReport,
): Generator<Entry, void, undefined> {
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
    yield wrong.length === 0 ? entry : { ...entry, hash: NO_HASH };
  }
  for (const { moveTo } of forms) moveTo(Number.POSITIVE_INFINITY);
}
