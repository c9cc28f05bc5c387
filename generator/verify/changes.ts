/** Checks the files of a tree that describe its changes. */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { INDEX_FILE, filesIn, readChangeIndex, untrackedFiles } from '../tree/changes.js';
import { readIndex } from '../tree/index-json.js';
import { isAsIndexed, measure } from '../tree/measure.js';
import type { Tree } from '../tree/tree.js';
import type { DamageReport } from './verify.js';

/** Checks change lists and bundles against their own index. */
export function checkChanges(tree: Tree, sequence: number, found: DamageReport): void {
  const index = readChangeIndex(tree);
  if (index?.sequence !== sequence) found.add(INDEX_FILE, 'altered');
  const changes = index?.changes ?? [];
  for (const { file, bytes, sha256 } of filesIn(changes)) {
    const path = join(tree.out, file);
    if (!existsSync(path)) found.add(file.slice(1), 'missing');
    else if (!isAsIndexed(path, { bytes, hash: Buffer.from(sha256, 'hex') })) {
      found.add(file.slice(1), 'altered');
    }
  }
  for (const file of untrackedFiles(tree, changes)) found.add(file, 'extra');
}

/** Only reports damage: a build or a repair regenerates the snapshot feed. */
export function checkSnapshotFeed(tree: Tree, found: DamageReport): void {
  for (const [file, sum] of Object.entries(readIndex(tree.index).snapshotFeed ?? {})) {
    const path = join(tree.out, file);
    if (!existsSync(path)) found.add(file, 'missing');
    else if (measure(path).hash.toString('hex') !== sum) found.add(file, 'altered');
  }
}
