/** The tree held against its ledger and digest: what is missing, altered, or should not be there. */
import { existsSync, readFileSync, renameSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { codeOf } from '../errors.js';
import type { Progress } from '../progress.js';
import { filler } from '../routes.js';
import { readChangeIndex } from './changes.js';
import { CODINGS, namesOf } from './codings.js';
import type { Coding } from './codings.js';
import { isSealed } from './commit.js';
import { isRendered } from './comparison.js';
import { treeDigest } from './digest.js';
import { deleteFile } from './files.js';
import { LedgerReader, LedgerWriter, soundLedger, writeLedgerIndex } from './ledger.js';
import type { Entry } from './ledger.js';
import { Lock } from './lock.js';
import { readManifest } from './manifest.js';
import type { Manifest, PublishedRoute } from './manifest.js';
import { settle } from './publisher.js';
import { measure, measured, scan } from './scan.js';
import { compressedFrom } from './series.js';
import type { Tree } from './tree.js';

/** One thing that is wrong with a tree. */
export interface Damage {
  readonly file: string;
  readonly what: 'missing' | 'altered' | 'extra' | 'interrupted';
}

/** What is wrong with a tree: nothing, if `total` is 0. */
export interface VerifyReport {
  readonly sequence: number | null;
  /** Files held against the ledger. */
  readonly files: number;
  /** The first `SHOWN_DAMAGE`. */
  readonly damage: readonly Damage[];
  readonly total: number;
}

export const SHOWN_DAMAGE = 100;

class Findings {
  readonly damage: Damage[] = [];
  total = 0;

  add(file: string, what: Damage['what']): void {
    this.total += 1;
    if (this.damage.length < SHOWN_DAMAGE) this.damage.push({ file, what });
  }
}

/** What a repair does with what it finds; verifying alone does nothing. */
interface Repair {
  /** A file is as the ledger says. */
  sound(route: PublishedRoute, entry: Entry): void;
  extra(file: string): void;
}

const LOOK_ONLY: Repair = { sound: () => {}, extra: () => {} };

/**
 * Holds every file of the tree against the ledger, and the ledger against the digest in snapshot.json.
 * @throws Failure environment: a build is at work on the tree
 */
export async function verify(tree: Tree, progress: Progress): Promise<VerifyReport> {
  const lock = Lock.take(tree.lock);
  try {
    const found = new Findings();
    if (isSealed(tree)) found.add('.snapshot/stage', 'interrupted');
    const manifest = readManifest(tree.manifest);
    if (manifest === undefined) {
      found.add('snapshot.json', 'missing');
      return { sequence: null, files: 0, damage: found.damage, total: found.total };
    }
    const files = await hold(tree, manifest, found, LOOK_ONLY, progress);
    return { sequence: manifest.sequence, files, damage: found.damage, total: found.total };
  } finally {
    lock.release();
  }
}

/**
 * Completes an interrupted commit, deletes what should not be there, and strikes from the ledger what is missing
 * or altered, so that the next build renders it anew.
 */
export async function prepareRepair(tree: Tree, progress: Progress): Promise<VerifyReport> {
  const lock = Lock.take(tree.lock);
  try {
    const found = new Findings();
    if (isSealed(tree)) found.add('.snapshot/stage', 'interrupted');
    if (!soundLedger(tree.ledger, readManifest(tree.manifest)?.digest ?? ''))
      found.add('.snapshot/ledger', 'altered');
    const manifest = await settle(tree, progress);
    if (manifest === undefined) return { sequence: null, files: 0, damage: found.damage, total: found.total };
    const folder = join(tree.state, 'repaired');
    rmSync(folder, { recursive: true, force: true });
    const writers = new Map(
      manifest.routes
        .filter(isRendered)
        .map((route) => [route.name, new LedgerWriter(folder, route.name, route.file)]),
    );
    const extras: string[] = [];
    const files = await hold(
      tree,
      manifest,
      found,
      {
        sound: (route, entry) => writers.get(route.name)?.add(entry),
        extra: (file) => extras.push(file),
      },
      progress,
    );
    const sums = Object.fromEntries([...writers].map(([route, writer]) => [route, writer.finish()]));
    writeLedgerIndex(folder, { digest: manifest.digest, sums });
    rmSync(tree.ledger, { recursive: true, force: true });
    renameSync(folder, tree.ledger);
    for (const file of extras) deleteFile(tree.out, file);
    // It would bring the damage back.
    if (found.total > 0) rmSync(tree.previous, { recursive: true, force: true });
    return { sequence: manifest.sequence, files, damage: found.damage, total: found.total };
  } finally {
    lock.release();
  }
}

/** @returns how many files were held against the ledger */
async function hold(
  tree: Tree,
  manifest: Manifest,
  found: Findings,
  repair: Repair,
  progress: Progress,
): Promise<number> {
  const routes = manifest.routes.filter(isRendered);
  const { keys, strange } = await scan(tree, routes, progress);
  for (const file of strange) {
    found.add(file, 'extra');
    repair.extra(file);
  }
  if (!soundLedger(tree.ledger, manifest.digest)) {
    found.add('.snapshot/ledger', existsSync(tree.ledger) ? 'altered' : 'missing');
    return 0;
  }
  if (treeDigest(tree.ledger, routes) !== manifest.digest) found.add('snapshot.json', 'altered');
  progress.start('verifying', manifest.tree.files, 'files');
  let files = 0;
  for (const route of routes) {
    for (const step of holdRoute(
      tree,
      route,
      manifest.compressed_from ?? Number.POSITIVE_INFINITY,
      keys,
      found,
      repair,
    )) {
      files += step;
      const pause = progress.advance(step);
      if (pause !== undefined) await pause;
    }
  }
  progress.finish();
  holdChangeLists(tree, found);
  return files;
}

/** The keys of one sort of file of a route, met in ascending order: those that nobody asks for are extra. */
class Keys {
  readonly #keys: Float64Array;
  readonly #onExtra: (key: number) => void;
  #at = 0;

  constructor(keys: Float64Array, onExtra: (key: number) => void) {
    this.#keys = keys;
    this.#onExtra = onExtra;
  }

  /** Whether there is a file of this key. Keys must ascend. */
  has(key: number): boolean {
    for (let extra = this.#keys[this.#at]; extra !== undefined && extra < key; extra = this.#keys[this.#at]) {
      this.#onExtra(extra);
      this.#at += 1;
    }
    if (this.#keys[this.#at] !== key) return false;
    this.#at += 1;
    return true;
  }
}

/** Walks ledger and folder side by side, both in order of the key; yields 1 for each entry of the ledger. */
function* holdRoute(
  tree: Tree,
  route: PublishedRoute,
  from: number,
  keys: ReadonlyMap<string, Float64Array>,
  found: Findings,
  repair: Repair,
): Generator<number, void, undefined> {
  const reader = LedgerReader.open(tree.ledger, route.name);
  const placeOf = filler(route.file);
  const there = ['', ...CODINGS.map(({ suffix }) => suffix)].map(
    (suffix) =>
      new Keys(keys.get(route.name + suffix) ?? new Float64Array(), (key) => {
        found.add(placeOf(key) + suffix, 'extra');
        repair.extra(placeOf(key) + suffix);
      }),
  );
  for (const entry of reader?.entries() ?? []) {
    const names = namesOf(placeOf(entry.key), entry.bytes, compressedFrom(route, from));
    const wrong = names.flatMap((name, index): [string, Damage['what']][] => {
      if (there[index]?.has(entry.key) !== true) return [[name, 'missing']];
      return isAsLedgered(join(tree.out, name), entry, CODINGS[index - 1]) ? [] : [[name, 'altered']];
    });
    for (const [name, what] of wrong) found.add(name, what);
    if (wrong.length === 0) repair.sound(route, entry);
    yield 1;
  }
  for (const sort of there) sort.has(Number.POSITIVE_INFINITY);
  reader?.close();
}

/** @param coding how the file is compressed, if it is; then what it holds must be as the ledger says */
function isAsLedgered(
  path: string,
  { bytes, hash }: Pick<Entry, 'bytes' | 'hash'>,
  coding?: Coding,
): boolean {
  try {
    const found = coding === undefined ? measure(path) : measured(coding.decode(readFileSync(path)));
    return found.bytes === bytes && Buffer.compare(found.hash, hash) === 0;
  } catch (error) {
    // A file that can't be read or decoded is as good as altered: a disk that fails shows this way.
    if (codeOf(error) === undefined) throw error;
    return false;
  }
}

/** The change lists are vouched for by their index. */
function holdChangeLists(tree: Tree, found: Findings): void {
  for (const { file, bytes, sha256 } of readChangeIndex(tree)) {
    if (file === null || bytes === null || sha256 === null) continue;
    const path = join(tree.out, file);
    if (!existsSync(path)) found.add(file.slice(1), 'missing');
    else if (!isAsLedgered(path, { bytes, hash: Buffer.from(sha256, 'hex') })) {
      found.add(file.slice(1), 'altered');
    }
  }
}
