/** Merkle trees of RFC 6962, section 2.1: hashes of leaves and nodes, and heads. */
import { createHash, hash } from 'node:crypto';

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
