/**
 * Which hashes of a Merkle tree a proof consists of (RFC 6962, section 2.1.1), and in
 * which tiles they are. Browsers use this file too. Numbers go up to 2^53-1, so no operator may
 * be of 32 bits.
 */
import { TILE_WIDTH } from './tiles.js';

/** The leaves from `start` to before `end`. */
export interface Range {
  readonly start: number;
  readonly end: number;
}

/** The 2^level leaves from n * 2^level on. */
export interface Subtree {
  readonly level: number;
  readonly n: number;
}

/** Levels of the tree in a level of tiles: 2^8 is the width of a tile. */
const TILE_LEVELS = 8;

/** The largest power of two below `count`, which has at least 2. */
export function splitOf(count: number): number {
  let power = 1;
  while (power * 2 < count) power *= 2;
  return power;
}

/**
 * The complete subtrees of a range, from the left, each smaller than the one before. The hash of
 * the range is the last one's, hashed with those to the left of it one by one.
 * @param range one that the tree or a proof consists of
 */
export function subtreesOf({ start, end }: Range): Subtree[] {
  const subtrees = [];
  for (let from = start; from < end;) {
    let [level, width] = [0, 1];
    while (from + width * 2 <= end) [level, width] = [level + 1, width * 2];
    subtrees.push({ level, n: from / width });
    from += width;
  }
  return subtrees;
}

/** The ranges whose hashes prove that a leaf is in the tree, from the leaf's sibling to the root. */
export function inclusionPath(index: number, size: number): Range[] {
  const path = [];
  for (let [start, end] = [0, size]; end - start > 1;) {
    const middle = start + splitOf(end - start);
    path.push(index < middle ? { start: middle, end } : { start, end: middle });
    [start, end] = index < middle ? [start, middle] : [middle, end];
  }
  return path.toReversed();
}

/** Where the hashes are from which that of a subtree is computed. */
export interface TilePart {
  /** Of the tile, for `tilePath`. */
  readonly level: number;
  readonly n: number;
  /** Number of hashes in the tile. */
  readonly width: number;
  /** The first hash, and the number of them: 1 to 128. */
  readonly first: number;
  readonly count: number;
}

/** @param size the number of entries of the log */
export function tilePartOf(subtree: Subtree, size: number): TilePart {
  const level = Math.floor(subtree.level / TILE_LEVELS);
  const count = 2 ** (subtree.level % TILE_LEVELS);
  const n = Math.floor((subtree.n * count) / TILE_WIDTH);
  const width = Math.min(TILE_WIDTH, Math.floor(size / TILE_WIDTH ** level) - n * TILE_WIDTH);
  return { level, n, width, first: (subtree.n * count) % TILE_WIDTH, count };
}
