/** Size and hash of a file, and whether they are those that the state has. */
import { createHash, hash } from 'node:crypto';
import { lstatSync, readFileSync } from 'node:fs';
import { codeOf } from '../base/errors.js';
import { chunksOf } from '../base/files.js';
import type { Coding } from './codings.js';
import { HASH_BYTES } from '../base/merkle.js';

/** Size in bytes, and SHA-256 of the content (32 bytes). */
export interface HashedContent {
  readonly bytes: number;
  readonly hash: Buffer;
}

/** The hash of no content: in the state, the document is known to be damaged. */
export const NO_HASH = Buffer.alloc(HASH_BYTES);

/** Files up to this size (1 MiB) are read whole. */
const WHOLE_BYTES = 1024 * 1024;

const measured = (content: Buffer): HashedContent => ({
  bytes: content.length,
  hash: hash('sha256', content, 'buffer'),
});

/** Size and SHA-256 of a file's content. */
export function measure(path: string): HashedContent {
  const found = lstatSync(path);
  // A symbolic link could lead anywhere, and reading a pipe might never end.
  if (!found.isFile()) return { bytes: 0, hash: Buffer.alloc(0) };
  const { size } = found;
  if (size <= WHOLE_BYTES) return measured(readFileSync(path));
  const digest = createHash('sha256');
  let bytes = 0;
  for (const chunk of chunksOf(path)) {
    digest.update(chunk);
    bytes += chunk.length;
  }
  return { bytes, hash: digest.digest() };
}

/** @param coding the file's compression, if any; what is known then describes the decoded content */
export function isAsIndexed(path: string, { bytes, hash }: HashedContent, coding?: Coding): boolean {
  try {
    if (coding !== undefined && !lstatSync(path).isFile()) return false;
    const found = coding === undefined ? measure(path) : measured(coding.decode(readFileSync(path), bytes));
    return found.bytes === bytes && Buffer.compare(found.hash, hash) === 0;
  } catch (error) {
    // An unreadable or undecodable file counts as altered: this is how a failing disk shows.
    if (codeOf(error) === undefined) throw error;
    return false;
  }
}
