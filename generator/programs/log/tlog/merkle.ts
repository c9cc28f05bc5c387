/** Merkle trees of RFC 6962, section 2.1: hashes of leaves and nodes, heads, and proofs. */
import { createHash, hash } from 'node:crypto';
import { inclusionPath, subtreesOf, type Range } from './subtrees.js';

const LEAF = Buffer.from([0]);
const NODE = Buffer.from([1]);

export const HASH_BYTES = 32;

/** The hash of a leaf: SHA-256 over a zero byte and its content. */
export const leafHash = (content: string | Uint8Array): Buffer =>
  createHash('sha256').update(LEAF).update(content).digest();

export const nodeHash = (left: Uint8Array, right: Uint8Array): Buffer =>
  createHash('sha256').update(NODE).update(left).update(right).digest();

/** The head of a tree without leaves: the SHA-256 of the empty string. */
export const EMPTY_HEAD: Buffer = hash('sha256', '', 'buffer');

/** The hash over complete subtrees from the left, each smaller than the one before. */
export function joined(subtrees: readonly Buffer[]): Buffer {
  const [last, ...left] = subtrees.toReversed();
  return last === undefined ? EMPTY_HEAD : left.reduce((right, subtree) => nodeHash(subtree, right), last);
}

/** The head of a tree, computed incrementally in O(log n) memory. */
export class TreeHead {
  readonly #subtrees: Buffer[] = [];
  #leaves = 0;

  /** @param leaf the hash of a leaf */
  add(leaf: Buffer): void {
    let subtree = leaf;
    // A leaf completes as many subtrees as the count before it has trailing ones in binary.
    for (let rest = this.#leaves; rest % 2 === 1; rest = Math.floor(rest / 2)) {
      const left = this.#subtrees.pop();
      if (left !== undefined) subtree = nodeHash(left, subtree);
    }
    this.#subtrees.push(subtree);
    this.#leaves += 1;
  }

  /** @param hashes those of leaves, as they are in a tile */
  addAll(hashes: Buffer): void {
    for (let at = 0; at < hashes.length; at += HASH_BYTES) this.add(hashes.subarray(at, at + HASH_BYTES));
  }

  /** The head, 32 bytes. */
  head(): Buffer {
    return joined(this.#subtrees);
  }
}

/** The head over hashes, as they are in a tile. */
export function headOver(hashes: Buffer): Buffer {
  const tree = new TreeHead();
  tree.addAll(hashes);
  return tree.head();
}

/** Gives the head of the complete subtree n of 2^level leaves. */
export type HeadOf = (level: number, n: number) => Buffer;

const rangeHead = (range: Range, headOf: HeadOf): Buffer =>
  joined(subtreesOf(range).map(({ level, n }) => headOf(level, n)));

/** The head of the tree of the first `size` leaves. */
export const headAt = (size: number, headOf: HeadOf): Buffer => rangeHead({ start: 0, end: size }, headOf);

/** Whether the proof shows that the leaf is the one at the index of a tree with that head. */
export function verifyInclusion(
  leaf: Buffer,
  index: number,
  size: number,
  proof: readonly Uint8Array[],
  root: Uint8Array,
): boolean {
  if (![index, size].every(Number.isSafeInteger) || index < 0 || index >= size) return false;
  const path = inclusionPath(index, size);
  if (proof.length !== path.length || [leaf, ...proof].some(({ length }) => length !== HASH_BYTES))
    return false;
  const head = path.reduce((node, { start }, at) => {
    const sibling = proof[at] ?? EMPTY_HEAD;
    return start > index ? nodeHash(node, sibling) : nodeHash(sibling, node);
  }, leaf);
  return head.equals(root);
}
