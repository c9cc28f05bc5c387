/** What describes a ledger as a whole: which snapshot it belongs to, and whether it is sound. */
import { createHash } from 'node:crypto';
import { closeSync, openSync, readFileSync, readSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { z } from 'zod';
import { codeOf } from '../errors.js';
import type { Made } from './inputs.js';
import type { Tree } from './tree.js';

/** A ledger's own description. */
export interface LedgerIndex {
  /** The digest of the tree (see digest.ts), the same as in snapshot.json. */
  readonly digest: string;
  /** The checksums of its files. */
  readonly sums: Readonly<Record<string, string>>;
  /** What all documents were made of, where the files of inputs are there as well. */
  readonly made?: Made;
  /** What the files of routes were made of that are not rendered in each build, by route. */
  readonly makings?: Readonly<Record<string, string>>;
  /** What was withheld. */
  readonly withheld?: WithheldMarks;
  /** Files that tell of the snapshots themselves (see told.ts), with their SHA-256 in hex. */
  readonly told?: Readonly<Record<string, string>>;
}

/** Marks of withheld records, and of what they are or were called. */
export interface WithheldMarks {
  readonly records: readonly string[];
  readonly names: readonly string[];
}

const INDEX = 'index.json';
const sums = z.record(z.string(), z.string());
const indexSchema = z.object({
  digest: z.string(),
  sums,
  made: z.string().exactOptional(),
  makings: sums.exactOptional(),
  withheld: z.object({ records: z.array(z.string()), names: z.array(z.string()) }).exactOptional(),
  told: sums.exactOptional(),
});

export function writeLedgerIndex(folder: string, index: LedgerIndex): void {
  writeFileSync(join(folder, INDEX), JSON.stringify(index));
}

/** The index of a ledger that is sound. */
export const readLedgerIndex = (folder: string): LedgerIndex =>
  indexSchema.parse(JSON.parse(readFileSync(join(folder, INDEX), 'utf8')));

/** Puts a complete ledger in the place of the published one; interrupted, it leaves none, which is made anew. */
export function replaceLedger(tree: Tree, folder: string): void {
  rmSync(tree.ledger, { recursive: true, force: true });
  renameSync(folder, tree.ledger);
}

/** Whether a ledger is undamaged, and, if a digest is given, that of the tree with this digest. */
export function soundLedger(folder: string, digest?: string): boolean {
  try {
    const index = readLedgerIndex(folder);
    if (digest !== undefined && index.digest !== digest) return false;
    return Object.entries(index.sums).every(([route, sum]) => sumOf(join(folder, route)) === sum);
  } catch (error) {
    // Missing, cut short or scribbled over: in each case it has to be made anew.
    if (codeOf(error) === 'ENOENT' || error instanceof SyntaxError || error instanceof z.ZodError)
      return false;
    throw error;
  }
}

const CHUNK_BYTES = 256 * 1024;

function sumOf(file: string): string {
  const sum = createHash('sha256');
  const descriptor = openSync(file, 'r');
  try {
    const buffer = Buffer.allocUnsafe(CHUNK_BYTES);
    for (let read = 1; read > 0;) {
      read = readSync(descriptor, buffer);
      sum.update(buffer.subarray(0, read));
    }
  } finally {
    closeSync(descriptor);
  }
  return sum.digest('hex');
}
