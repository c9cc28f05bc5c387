/**
 * Merkle trees of RFC 6962 by WebCrypto, whose hashes are asynchronous, so browsers can use this
 * file. `merkle.ts` is for all else.
 */
import { inclusionPath, subtreesOf } from './subtrees.js';
import type { Range } from './subtrees.js';

/** Hashes as they are in a tile. */
export const splitHashes = (bytes: Uint8Array): Uint8Array[] =>
  Array.from({ length: bytes.length / 32 }, (_, at) => bytes.subarray(at * 32, at * 32 + 32));

/** The hash over complete subtrees from the left, each smaller than the one before. */
export async function joined(subtrees: readonly Uint8Array[]): Promise<Uint8Array> {
  const [last, ...left] = subtrees.toReversed();
  let hash = last ?? (await sha256());
  for (const subtree of left) hash = await nodeHash(subtree, hash);
  return hash;
}

/** The head of a tree of these leaves. */
export async function headOver(leaves: readonly Uint8Array[]): Promise<Uint8Array> {
  const headOf = async ({ start, end }: Range): Promise<Uint8Array> => {
    if (end - start === 1) return leaves[start] ?? (await sha256());
    const middle = (start + end) / 2;
    return nodeHash(await headOf({ start, end: middle }), await headOf({ start: middle, end }));
  };
  const subtrees = [];
  for (const { level, n } of subtreesOf({ start: 0, end: leaves.length }))
    subtrees.push(await headOf({ start: n * 2 ** level, end: (n + 1) * 2 ** level }));
  return joined(subtrees);
}

/** The hashes that prove a leaf to be in a tree of these leaves. */
export async function pathIn(leaves: readonly Uint8Array[], index: number): Promise<Uint8Array[]> {
  const path = [];
  for (const { start, end } of inclusionPath(index, leaves.length))
    path.push(await headOver(leaves.slice(start, end)));
  return path;
}

/** The root that follows from a leaf and its inclusion path. */
export async function rootOf(
  leaf: Uint8Array,
  index: number,
  size: number,
  path: readonly Uint8Array[],
): Promise<Uint8Array> {
  let hash = leaf;
  for (const [at, { start }] of inclusionPath(index, size).entries()) {
    const sibling = path[at] ?? new Uint8Array();
    hash = await (start > index ? nodeHash(hash, sibling) : nodeHash(sibling, hash));
  }
  return hash;
}

/** Hexadecimal digits. */
export const hex = (bytes: Uint8Array): string =>
  Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('');

export async function sha256(...parts: readonly Uint8Array[]): Promise<Uint8Array> {
  const all = new Uint8Array(parts.reduce((sum, { length }) => sum + length, 0));
  let at = 0;
  for (const part of parts) {
    all.set(part, at);
    at += part.length;
  }
  return new Uint8Array(await crypto.subtle.digest('SHA-256', all));
}

export const leafHash = (content: Uint8Array): Promise<Uint8Array> => sha256(Uint8Array.of(0), content);
const nodeHash = (left: Uint8Array, right: Uint8Array): Promise<Uint8Array> =>
  sha256(Uint8Array.of(1), left, right);
