/**
 * Files that tell of the snapshots themselves. They follow from the index of the change lists, which is known only with
 * the commit, so who knows what to say hands in how; the digest leaves them out, and the ledger notes their hashes.
 */
import { hash } from 'node:crypto';
import { mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { codeOf } from '../errors.js';
import { readChangeIndex } from './changes.js';
import type { Change } from './changes.js';
import { readLedgerIndex, writeLedgerIndex } from './ledger-index.js';
import type { Stage } from './stage.js';
import type { Tree } from './tree.js';

/** A file below the output folder. Its URL is its name. */
export interface Told {
  readonly file: string;
  readonly body: string;
}

/** What to tell, from the snapshots in the index of the change lists, newest first. */
export type Teller = (changes: readonly Change[]) => readonly Told[];

const sumsOf = (told: readonly Told[]): Record<string, string> =>
  Object.fromEntries(told.map(({ file, body }) => [file, hash('sha256', body)]));

/** Stages what a new snapshot tells. @returns the hashes, for the ledger */
export function stageTold(stage: Stage, told: readonly Told[]): Record<string, string> {
  for (const { file, body } of told) {
    stage.place('told', [file], Buffer.from(body));
    stage.listUrls([`/${file}`]);
  }
  return sumsOf(told);
}

/**
 * Writes what the published snapshots tell, where the tree says something else: a repair has mended the index, or
 * somebody the files.
 */
export function renewTold(tree: Tree, tell: Teller): void {
  const changes = readChangeIndex(tree);
  // An index that can't be read tells nothing; a repair begins it anew.
  if (changes.length === 0) return;
  const told = tell(changes);
  for (const { file, body } of told) {
    const path = join(tree.out, file);
    if (contentOf(path) === body) continue;
    const partial = join(tree.state, 'told');
    writeFileSync(partial, body, { flush: true });
    mkdirSync(dirname(path), { recursive: true });
    renameSync(partial, path);
  }
  const { told: noted = {}, ...index } = readLedgerIndex(tree.ledger);
  const sums = sumsOf(told);
  if (told.every(({ file }) => noted[file] === sums[file])) return;
  writeLedgerIndex(tree.ledger, { ...index, told: sums });
}

function contentOf(path: string): string | undefined {
  try {
    return readFileSync(path, 'utf8');
  } catch (error) {
    if (codeOf(error) === undefined) throw error;
    return undefined;
  }
}
