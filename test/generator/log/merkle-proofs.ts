/** What the log itself does not need of Merkle trees: how others verify what it proves to them. */
import type { HeadOf } from '../../../generator/log/merkle.js';
import { inclusionPath, subtreesOf } from '../../../generator/log/subtrees.js';
import { EMPTY_HEAD, HASH_BYTES, joined, nodeHash } from '../../../generator/tree/merkle.js';

/** Proves that the leaf is in the tree of the first `size` leaves. @param index below `size` */
export const inclusionProof = (index: number, size: number, headOf: HeadOf): Buffer[] =>
  inclusionPath(index, size).map((range) =>
    joined(subtreesOf(range).map(({ level, n }) => headOf(level, n))),
  );

const half = (number: number): number => Math.floor(number / 2);

/**
 * Climbs from a node to the head (RFC 9162, sections 2.1.3.2 and 2.1.4.2).
 * @param last the number of the last node of that level
 * @returns the head, and the head of what is not to the right of the node; undefined if something is
 *   no hash, or the proof has not as many as there are levels
 */
function climb(
  start: Buffer,
  node: number,
  last: number,
  proof: readonly Uint8Array[],
): { readonly head: Buffer; readonly left: Buffer } | undefined {
  let [head, left] = [start, start];
  if ([start, ...proof].some(({ length }) => length !== HASH_BYTES)) return undefined;
  for (const sibling of proof) {
    if (last === 0) return undefined;
    if (node % 2 === 1 || node === last) {
      head = nodeHash(sibling, head);
      left = nodeHash(sibling, left);
      // The last node of a level has no sibling there if it is a left one.
      while (node % 2 === 0 && node > 0) [node, last] = [half(node), half(last)];
    } else head = nodeHash(head, sibling);
    [node, last] = [half(node), half(last)];
  }
  return last === 0 ? { head, left } : undefined;
}

const isCount = (number: number): boolean => Number.isSafeInteger(number) && number >= 0;

/** Whether the proof shows that the tree of `size` leaves begins with all leaves of the old one. */
export function verifyConsistency(
  old: number,
  size: number,
  proof: readonly Uint8Array[],
  oldRoot: Buffer,
  root: Uint8Array,
): boolean {
  if (!isCount(old) || !isCount(size) || old > size) return false;
  if (old === 0 && !oldRoot.equals(EMPTY_HEAD)) return false;
  // Every tree begins with an empty one.
  if (old === 0 && size > 0) return proof.length === 0;
  if (old === size) return proof.length === 0 && oldRoot.equals(root);
  // The last complete subtree of the old tree, where both trees are climbed from.
  let [node, last] = [old - 1, size - 1];
  while (node % 2 === 1) [node, last] = [half(node), half(last)];
  const [first, ...rest] = node === 0 ? [oldRoot, ...proof] : proof;
  if (first === undefined) return false;
  const heads = climb(Buffer.from(first), node, last, rest);
  return heads?.left.equals(oldRoot) === true && heads.head.equals(root);
}
