/** Merkle trees of RFC 6962, section 2.1: heads of logs, and proofs. */
import { EMPTY_HEAD, HASH_BYTES, joined, nodeHash } from '../tree/merkle.js';
import { consistencyPath, inclusionPath, subtreesOf } from './subtrees.js';
import type { Range } from './subtrees.js';

/** Gives the head of the complete subtree n of 2^level leaves. */
export type HeadOf = (level: number, n: number) => Buffer;

const rangeHead = (range: Range, headOf: HeadOf): Buffer =>
  joined(subtreesOf(range).map(({ level, n }) => headOf(level, n)));

/** The head of the tree of the first `size` leaves. */
export const headAt = (size: number, headOf: HeadOf): Buffer => rangeHead({ start: 0, end: size }, headOf);

/** Proves that the tree of `size` leaves begins with those of a tree of `old`, at most `size`. */
export const consistencyProof = (old: number, size: number, headOf: HeadOf): Buffer[] =>
  consistencyPath(old, size).map((range) => rangeHead(range, headOf));

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
