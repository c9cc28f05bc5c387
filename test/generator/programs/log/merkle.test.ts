/** Proofs of Merkle trees. */
import { describe, expect } from 'vitest';
import { always as it, isThorough } from '../../../support/thorough.js';
import {
  joined,
  leafHash,
  verifyInclusion,
  type HeadOf,
} from '../../../../generator/programs/log/tlog/merkle.js';
import { inclusionPath, subtreesOf, tilePartOf } from '../../../../generator/programs/log/tlog/subtrees.js';
import { rootOf as naiveHead } from './naive.js';
import { Comparisons } from './support.js';

/** Proves that the leaf is in the tree of the first `size` leaves. @param index below `size` */
const inclusionProof = (index: number, size: number, headOf: HeadOf): Buffer[] =>
  inclusionPath(index, size).map((range) =>
    joined(subtreesOf(range).map(({ level, n }) => headOf(level, n))),
  );

const flipped = (hash: Buffer, by: number): Buffer => {
  const copy = Buffer.from(hash);
  const bit = by % 256;
  copy[bit >> 3]! ^= 1 << (bit & 7);
  return copy;
};

const MOST = isThorough ? 100 : 40;
/** After TestTree of Go's sumdb/tlog. */
describe(`proofs, for all leaves and sizes to ${MOST}`, () => {
  const entries = Array.from({ length: MOST }, (_, index) => `leaf ${index}`);
  const heads = new Map<string, Buffer>();
  const headOf: HeadOf = (level, n) => {
    const key = `${level} ${n}`;
    const head = heads.get(key) ?? naiveHead(entries.slice(n * 2 ** level, (n + 1) * 2 ** level));
    heads.set(key, head);
    return head;
  };
  const roots = Array.from({ length: MOST + 1 }, (_, size) => naiveHead(entries.slice(0, size)));

  /** The proof with one bit flipped in one hash, for each hash; with one hash less, and one more. */
  function* wrongProofs(proof: readonly Buffer[], seed: number): Generator<readonly Buffer[]> {
    for (const at of proof.keys()) yield proof.with(at, flipped(proof[at]!, seed + at));
    if (proof.length > 0) yield proof.slice(1);
    if (proof.length > 0) yield proof.slice(0, -1);
    yield [...proof, roots[1]!];
    if (proof.length > 0) yield proof.with(0, proof[0]!.subarray(1));
  }

  it('of inclusion hold, and with anything else do not', () => {
    const comparisons = new Comparisons();
    for (let size = 1; size <= MOST; size += 1) {
      const root = roots[size]!;
      for (let index = 0; index < size; index += 1) {
        const leaf = leafHash(entries[index]!);
        const proof = inclusionProof(index, size, headOf);
        const holds =
          verifyInclusion(leaf, index, size, proof, root) &&
          !verifyInclusion(flipped(leaf, index), index, size, proof, root) &&
          !verifyInclusion(leaf, index, size, proof, flipped(root, index)) &&
          !verifyInclusion(leaf, (index + 1) % (size + 1), size, proof, root);
        comparisons.add(holds, `leaf ${index} of ${size}`);
        for (const wrong of wrongProofs(proof, index * size)) {
          comparisons.add(
            !verifyInclusion(leaf, index, size, wrong, root),
            `wrong proof of ${index} of ${size}`,
          );
        }
      }
    }
    expect(comparisons.wrong).toEqual([]);
  });

  it('are not of numbers that no tree has', () => {
    const [leaf, root] = [leafHash(entries[0]!), roots[1]!];
    expect(verifyInclusion(leaf, 0, 1, [], root)).toBe(true);
    for (const index of [1, -1, 0.5, Number.NaN])
      expect(verifyInclusion(leaf, index, 1, [], root)).toBe(false);
    for (const size of [0, 2 ** 53]) expect(verifyInclusion(leaf, 0, size, [], root)).toBe(false);
  });
});

it('subtrees are in the tiles that the specification names', () => {
  // Of a tree of 70,000: 273 full tiles and one of 112, one full and one of 17, one of 1.
  const parts = subtreesOf({ start: 0, end: 70_000 }).map((subtree) => tilePartOf(subtree, 70_000));
  expect(parts.map(({ level, n, width, first, count }) => [level, n, width, first, count])).toEqual([
    [2, 0, 1, 0, 1],
    [1, 1, 17, 0, 16],
    [1, 1, 17, 16, 1],
    [0, 273, 112, 0, 64],
    [0, 273, 112, 64, 32],
    [0, 273, 112, 96, 16],
  ]);
});
