/**
 * Merkle trees of RFC 6962 by WebCrypto, whose hashes are asynchronous, so browsers can use this
 * file. `merkle.ts` is for all else.
 */
import { inclusionPath, splitOf } from './subtrees.js';

/** Hashes as they are in a tile. */
export const splitHashes = (bytes: Uint8Array): Uint8Array[] =>
  Array.from({ length: bytes.length / 32 }, (_, at) => bytes.subarray(at * 32, at * 32 + 32));

/** The head of a tree of these leaves. */
export async function headOver(leaves: readonly Uint8Array[]): Promise<Uint8Array> {
  const [first, second] = leaves;
  if (second === undefined) return first ?? sha256();
  const middle = splitOf(leaves.length);
  return nodeHash(await headOver(leaves.slice(0, middle)), await headOver(leaves.slice(middle)));
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
