/** The head of a Merkle tree of RFC 6962, section 2.1. */
import { createHash, hash } from 'node:crypto';

const LEAF = Buffer.from([0]);
const NODE = Buffer.from([1]);

export const HASH_BYTES = 32;

/** The hash of a leaf: SHA-256 over a zero byte and its content. */
export const leafHash = (content: string | Uint8Array): Buffer =>
  createHash('sha256').update(LEAF).update(content).digest();

const nodeHash = (left: Uint8Array, right: Uint8Array): Buffer =>
  createHash('sha256').update(NODE).update(left).update(right).digest();

/** The head of a tree, computed incrementally in O(log n) memory. */
export class TreeHead {
  /** Complete subtrees from the left, each smaller than the one before. */
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

  /** The head, 32 bytes; without leaves the SHA-256 of the empty string. */
  head(): Buffer {
    const [last, ...left] = this.#subtrees.toReversed();
    return last === undefined
      ? hash('sha256', '', 'buffer')
      : left.reduce((right, subtree) => nodeHash(subtree, right), last);
  }
}
