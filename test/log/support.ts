/** What tests of the log share. Hashes are computed here as RFC 6962 writes them, and nowhere else. */
import { createHash } from 'node:crypto';
import { mkdirSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { Failure } from '../../generator/errors.js';
import { append } from '../../generator/log/log-files.js';
import type { Appended } from '../../generator/log/log-files.js';

const sha256 = (...parts: readonly (string | Uint8Array)[]): Buffer => {
  const sum = createHash('sha256');
  for (const part of parts) sum.update(part);
  return sum.digest();
};

/** MTH of section 2.1, word by word. */
export function naiveHead(entries: readonly (string | Uint8Array)[]): Buffer {
  const [first, ...others] = entries;
  if (first === undefined) return sha256('');
  if (others.length === 0) return sha256('\0', first);
  let k = 1;
  while (k * 2 < entries.length) k *= 2;
  return sha256('\u0001', naiveHead(entries.slice(0, k)), naiveHead(entries.slice(k)));
}

/** Appends an entry to a log on the disk. */
export function grow(folder: string, size: number, entry: string | Uint8Array): Appended {
  const appended = append(folder, size, Buffer.from(entry));
  for (const [file, bytes] of appended.files) {
    mkdirSync(dirname(join(folder, file)), { recursive: true });
    writeFileSync(join(folder, file), bytes);
  }
  for (const file of appended.removed) rmSync(join(folder, file));
  return appended;
}

/** A log of these entries on the disk. @returns the roots of all sizes from 0 on */
export function makeLog(folder: string, entries: readonly string[]): Buffer[] {
  mkdirSync(folder, { recursive: true });
  return [sha256(''), ...entries.map((entry, size) => grow(folder, size, entry).root)];
}

/** All files of a folder, sorted. */
export const filesOf = (folder: string): string[] =>
  readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((file) => file.isFile())
    .map((file) => relative(folder, join(file.parentPath, file.name)))
    .toSorted();

/** Copies with one bit flipped, for each bit. */
export function* flips(bytes: Uint8Array, bitsOf: (at: number) => readonly number[] = () => ALL_BITS) {
  for (let at = 0; at < bytes.length; at += 1) {
    for (const bit of bitsOf(at)) {
      const flipped = Buffer.from(bytes);
      flipped[at] = (flipped[at] ?? 0) ^ (1 << bit);
      yield { at, bit, flipped };
    }
  }
}

const ALL_BITS = [0, 1, 2, 3, 4, 5, 6, 7];

/** Collects what is wrong. An `expect` for each of a million comparisons takes longer than they do. */
export class Comparisons {
  readonly wrong: string[] = [];

  add(isRight: boolean, what: string): void {
    if (!isRight) this.wrong.push(what);
  }
}

/** The message of the Failure invalid that a call throws, or undefined. */
export function refusal(call: () => unknown): string | undefined {
  try {
    call();
    return undefined;
  } catch (error) {
    if (error instanceof Failure && error.exitCode === 1 && !error.message.includes('\n'))
      return error.message;
    throw error;
  }
}
