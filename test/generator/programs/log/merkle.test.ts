/** Heads and proofs of Merkle trees. */
import { describe, expect } from 'vitest';
import { always as it, isThorough } from '../../../support/thorough.js';
import {
  EMPTY_HEAD,
  TreeHead,
  headOver,
  leafHash,
  headAt,
  verifyInclusion,
  type HeadOf,
} from '../../../../generator/programs/log/tlog/merkle.js';
import { subtreesOf, tilePartOf } from '../../../../generator/programs/log/tlog/subtrees.js';
import { rootOf as naiveHead } from './naive.js';
import { Comparisons, inclusionProof } from './support.js';

const hex = (bytes: Uint8Array): string => Buffer.from(bytes).toString('hex');

/** Leaves and heads of all sizes, of the tests of Certificate Transparency (transparency-dev/merkle). */
const leaves = ',00,10,2021,3031,40414243,5051525354555657,606162636465666768696a6b6c6d6e6f'
  .split(',')
  .map((leaf) => Buffer.from(leaf, 'hex'));
const HEADS = [
  'e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855',
  '6e340b9cffb37a989ca544e6bb780a2c78901d3fb33738768511a30617afa01d',
  'fac54203e7cc696cf0dfcb42c92a1d9dbaf70ad9e621f4bd8d98662f00e3c125',
  'aeb6bcfe274b70a14fb067a5e5578264db0fa9b51af5e0ba159158f329e06e77',
  'd37ee418976dd95753c1c73862b9398fa2a2cf9b4ff0fdfe8b30cd95209614b7',
  '4e3bbb1f7b478dcfe71fb631631519a3bca12c9aefca1612bfce4c13a86264d4',
  '76e67dadbcdf1e10e1b74ddc608abd2f98dfb16fbce75277b5232a127f2087ef',
  'ddb89be403809e325750d3d263cd78929c2942b7942a34b77e122c9594a74c8c',
  '5dc9da79a70659a9ad559cb701ded9a2ab9d823aad2f4960cfe370eff4604328',
];

/** Heads of complete subtrees, computed from the entries each time. */
const headsOf =
  (entries: readonly (string | Uint8Array)[]): HeadOf =>
  (level, n) => {
    const subtree = entries.slice(n * 2 ** level, (n + 1) * 2 ** level);
    expect(subtree).toHaveLength(2 ** level);
    return naiveHead(subtree);
  };

it('heads are those of Certificate Transparency, incrementally, over hashes and from subtrees', () => {
  const tree = new TreeHead();
  const heads = [tree.head()];
  for (const leaf of leaves) {
    tree.add(leafHash(leaf));
    heads.push(tree.head());
  }
  expect(heads.map(hex)).toEqual(HEADS);
  const sizes = [0, 1, 2, 3, 4, 5, 6, 7, 8];
  const over = sizes.map((size) => headOver(Buffer.concat(leaves.slice(0, size).map(leafHash))));
  expect(over.map(hex)).toEqual(HEADS);
  expect(sizes.map((size) => hex(headAt(size, headsOf(leaves))))).toEqual(HEADS);
  expect(hex(EMPTY_HEAD)).toBe(HEADS[0]);
});

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
    const head = heads.get(key) ?? headsOf(entries)(level, n);
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
