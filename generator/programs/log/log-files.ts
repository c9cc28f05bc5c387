/**
 * The files of a log (C2SP tlog-tiles): appending to them, reading hashes from them, checking them.
 * Paths are relative to the log's folder. Level 0 of the tiles has the hashes of entries, each
 * other one the heads of full tiles of the level below.
 */
import { existsSync, readFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { Failure, unlessFailure } from '../../base/errors.js';
import { ifExists } from '../../base/files.js';
import { HASH_BYTES, TreeHead, headOver, leafHash, headAt, type HeadOf } from './tlog/merkle.js';
import { tilePartOf } from './tlog/subtrees.js';
import { MAX_ENTRY_BYTES, parseEntry, splitEntries, type SnapshotEntry } from './tlog/text.js';
import { TILE_WIDTH, tilePath } from './tlog/tiles.js';

type Level = number | 'entries';

export interface Appended {
  /** Number of entries, with the new one. */
  readonly size: number;
  readonly root: Buffer;
  /** By path, to be written before a checkpoint of that size is published. */
  readonly files: ReadonlyMap<string, Buffer>;
  /** Partial tiles that a full one of `files` replaces, to be deleted. */
  readonly removed: readonly string[];
}

export interface LogDamage {
  readonly file: string;
  readonly what: 'missing' | 'altered';
  /** What it must be, if that follows from the other files and the root. */
  readonly content?: Buffer;
}

const stored = (folder: string, file: string): Buffer | undefined =>
  ifExists(() => readFileSync(join(folder, file)));

/** The widths of a tile's partial tiles on the disk, ascending. */
function partialsOf(folder: string, level: Level, n: number): number[] {
  const names = ifExists(() => readdirSync(join(folder, `${tilePath(level, n)}.p`))) ?? [];
  const widths = names.filter((name) => /^[1-9]\d{0,2}$/.test(name)).map(Number);
  return widths.filter((width) => width < TILE_WIDTH).toSorted((a, b) => a - b);
}

/** The hashes in a tile, or those of the entries in a bundle; undefined if it is malformed. */
function hashesIn(level: Level, bytes: Buffer): Buffer | undefined {
  if (level !== 'entries') return bytes;
  return unlessFailure(() => Buffer.concat(splitEntries(bytes).map(leafHash)));
}

/** A tile or bundle, and the hashes in it. */
interface Tile {
  readonly bytes: Buffer;
  readonly hashes: Buffer;
}

/**
 * Reads a tile or bundle.
 * @returns undefined if it is missing
 * @throws Failure invalid: not of its width
 */
function readTile(folder: string, level: Level, n: number, width: number): Tile | undefined {
  const file = tilePath(level, n, width);
  const bytes = stored(folder, file);
  if (bytes === undefined) return undefined;
  const hashes = hashesIn(level, bytes);
  if (hashes?.length === width * HASH_BYTES) return { bytes, hashes };
  const expected = `${width} ${level === 'entries' ? 'entries' : 'hashes'}`;
  throw damaged(`${file} is altered, expected ${expected}`);
}

const damaged = (what: string): Failure =>
  Failure.invalid(`the log is damaged: ${what} (see docs/signed-log.md)`);

const missing = (level: Level, n: number, width: number): Failure =>
  damaged(`${tilePath(level, n, width)} is missing`);

/** The first hashes of a tile: from the partial tile of that width, or the full one that replaced it. */
function readHashes(folder: string, level: Level, n: number, width: number): Buffer {
  const tile = readTile(folder, level, n, width) ?? readTile(folder, level, n, TILE_WIDTH);
  if (tile === undefined) throw missing(level, n, width);
  return tile.hashes.subarray(0, width * HASH_BYTES);
}

/** How many hashes a tile has, or entries a bundle. @param count of all tiles of the level */
const widthOf = (n: number, count: number): number => Math.min(TILE_WIDTH, count - n * TILE_WIDTH);

const NOTHING: Tile = { bytes: Buffer.alloc(0), hashes: Buffer.alloc(0) };

/**
 * The files of a log with one more entry. Reads only the right edge of the log, whose hashes and
 * entries must agree; that its root is the signed one is for the caller to check (`rootOf`).
 * @param size the number of entries before
 * @throws Failure invalid: names the file that is missing or damaged
 */
export function append(folder: string, size: number, entry: Uint8Array): Appended {
  if (entry.length > MAX_ENTRY_BYTES) throw Failure.invalid(`an entry has at most ${MAX_ENTRY_BYTES} bytes`);
  const files = new Map<string, Buffer>();
  const removed: string[] = [];
  /** @returns the tile with the addition */
  const extend = (level: Level, count: number, addition: Uint8Array): Buffer => {
    const [n, width] = [Math.floor(count / TILE_WIDTH), count % TILE_WIDTH];
    const old = width === 0 ? NOTHING : readTile(folder, level, n, width);
    if (old === undefined) throw missing(level, n, width);
    if (level === 'entries' && width > 0 && !readHashes(folder, 0, n, width).equals(old.hashes)) {
      const [tile, bundle] = [tilePath(0, n, width), tilePath(level, n, width)];
      throw damaged(`${tile} doesn't have the hashes of ${bundle}`);
    }
    const bytes = Buffer.concat([old.bytes, addition]);
    files.set(tilePath(level, n, width + 1), bytes);
    if (width + 1 === TILE_WIDTH) {
      removed.push(...partialsOf(folder, level, n).map((partial) => tilePath(level, n, partial)));
    }
    return bytes;
  };
  const length = Buffer.alloc(2);
  length.writeUInt16BE(entry.length);
  extend('entries', size, Buffer.concat([length, entry]));
  let hash = leafHash(entry);
  for (let [level, count] = [0, size]; ; level += 1, count = Math.floor(count / TILE_WIDTH)) {
    const tile = extend(level, count, hash);
    if ((count + 1) % TILE_WIDTH !== 0) break;
    hash = headOver(tile);
  }
  return { size: size + 1, root: headAt(size + 1, headOf(folder, size + 1, files)), files, removed };
}

/**
 * Reads the heads of complete subtrees from the tiles of a log of that size, for proofs.
 * @param added files that are not on the disk yet
 */
export function headOf(folder: string, size: number, added?: ReadonlyMap<string, Buffer>): HeadOf {
  const tiles = new Map<string, Buffer>();
  return (subtreeLevel, subtree) => {
    const { level, n, width, first, count } = tilePartOf({ level: subtreeLevel, n: subtree }, size);
    const path = tilePath(level, n, width);
    const tile = tiles.get(path) ?? added?.get(path) ?? readHashes(folder, level, n, width);
    tiles.set(path, tile);
    return headOver(tile.subarray(first * HASH_BYTES, (first + count) * HASH_BYTES));
  };
}

/** The root of the log's first `size` entries, by its tiles. */
export const rootOf = (folder: string, size: number): Buffer => headAt(size, headOf(folder, size));

/** An entry of a log. @param index below `size` */
export function entryAt(folder: string, size: number, index: number): Buffer {
  const n = Math.floor(index / TILE_WIDTH);
  const width = widthOf(n, size);
  const bundle = readTile(folder, 'entries', n, width) ?? readTile(folder, 'entries', n, TILE_WIDTH);
  if (bundle === undefined) throw missing('entries', n, width);
  const entry = splitEntries(bundle.bytes)[index % TILE_WIDTH];
  if (entry === undefined) throw new RangeError(`no entry ${index} in a log of ${size}`);
  return Buffer.from(entry);
}

/** The last of the log's first `size` entries; undefined if there are none. */
export const newestIn = (folder: string, size: number): SnapshotEntry | undefined =>
  size === 0 ? undefined : parseEntry(entryAt(folder, size, size - 1).toString());

/** Where the hashes of entries are taken from: if the first doesn't have them, from the second. */
const SOURCES = [
  ['entries', 0],
  [0, 'entries'],
] as const;

/**
 * Computes all tiles and the root from the entries, and compares them with what is there. Partial
 * tiles of other sizes must have the same first hashes or entries. If both an entry and a hash are
 * damaged, others that depend on them may be named as well.
 * @param checkpoint the root, and the number of entries, which may be less than are there
 * @returns files of the log that are damaged; `checkpoint` if the root isn't that of the files
 */
export function* checkLog(
  folder: string,
  { size, root }: { readonly size: number; readonly root: Uint8Array },
): Generator<LogDamage, void, undefined> {
  // If an entry and its hash differ, the one that gives the root is right.
  const right = SOURCES.find((source) => rootBy(source, folder, size)?.equals(root));
  const isRight = right !== undefined;
  let below: Buffer[] = [];
  for (let [level, count] = [0, size]; count > 0; level += 1, count = below.length) {
    const heads: Buffer[] = [];
    for (let n = 0; n * TILE_WIDTH < count; n += 1) {
      const width = widthOf(n, count);
      const hashes =
        level === 0
          ? hashesBy(right ?? SOURCES[1], folder, size, n)
          : Buffer.concat(below.slice(n * TILE_WIDTH, n * TILE_WIDTH + width));
      if (level === 0) yield* damagesOf(folder, 'entries', n, { width, hashes, isRight });
      yield* damagesOf(folder, level, n, { width, hashes, isRight });
      // Neither hashes nor entries: nothing can be said of what depends on them.
      if (hashes === undefined) return;
      if (width === TILE_WIDTH) heads.push(headOver(hashes));
    }
    below = heads;
  }
  if (!isRight) yield { file: 'checkpoint', what: 'altered' };
}

type FileSource = (typeof SOURCES)[number];

/** The hashes of the entries of a bundle. */
function hashesBy([first, second]: FileSource, folder: string, size: number, n: number): Buffer | undefined {
  const width = widthOf(n, size);
  return (
    unlessFailure(() => readHashes(folder, first, n, width)) ??
    unlessFailure(() => readHashes(folder, second, n, width))
  );
}

function rootBy(source: FileSource, folder: string, size: number): Buffer | undefined {
  const tree = new TreeHead();
  for (let n = 0; n * TILE_WIDTH < size; n += 1) {
    const hashes = hashesBy(source, folder, size, n);
    if (hashes === undefined) return undefined;
    tree.addAll(hashes);
  }
  return tree.head();
}

/** What a tile must have. */
interface Expected {
  readonly width: number;
  /** Undefined if they aren't known. */
  readonly hashes: Buffer | undefined;
  /** Whether they lead to the root. */
  readonly isRight: boolean;
}

/** Compares a tile or bundle, and its partial ones. */
function* damagesOf(
  folder: string,
  level: Level,
  n: number,
  { width, hashes, isRight }: Expected,
): Generator<LogDamage, void, undefined> {
  // A full tile replaces the partial ones.
  const needed = existsSync(join(folder, tilePath(level, n))) ? TILE_WIDTH : width;
  for (const each of new Set([needed, ...partialsOf(folder, level, n)])) {
    const file = tilePath(level, n, each);
    const expected = hashes?.subarray(0, Math.min(each, width) * HASH_BYTES);
    const found = unlessFailure(() => readTile(folder, level, n, each)?.hashes ?? 'missing');
    if (found instanceof Buffer && expected?.equals(found.subarray(0, expected.length)) !== false) continue;
    const content = isRight && level !== 'entries' && each <= width ? expected : undefined;
    yield { file, what: found === 'missing' ? 'missing' : 'altered', ...(content && { content }) };
  }
}
