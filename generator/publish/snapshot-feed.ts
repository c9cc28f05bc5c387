/**
 * The snapshot feed. It is derived from the change index, which exists only at commit time, so the
 * caller passes in a renderer. The digest leaves the feed out; index.json records its hashes.
 */
import { hash } from 'node:crypto';
import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { readText, replaceFile } from '../files.js';
import { readChangeIndex } from '../tree/changes.js';
import type { Change } from '../tree/changes.js';
import { readIndex, writeIndex } from '../tree/index-json.js';
import type { ListWriter, StagePaths } from './stage.js';
import type { Tree } from '../tree/tree.js';

/** A file below the output folder. Its URL is its name. */
export interface FeedFile {
  readonly file: string;
  readonly body: string;
}

/** Renders the feed from the changes in the index, newest first. */
export type RenderSnapshotFeed = (changes: readonly Change[]) => readonly FeedFile[];

const sumsOf = (files: readonly FeedFile[]): Record<string, string> =>
  Object.fromEntries(files.map(({ file, body }) => [file, hash('sha256', body)]));

/** Stages the feed of a new snapshot. @returns its hashes, for the index */
export function stageSnapshotFeed(
  paths: StagePaths,
  lists: ListWriter,
  files: readonly FeedFile[],
): Record<string, string> {
  for (const { file, body } of files) {
    const path = join(paths.tree, file);
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, body);
    lists.file(file);
    lists.url(`/${file}`);
  }
  return sumsOf(files);
}

/** Rewrites the published feed where it differs: after a repair, or if it was altered. */
export function replaceSnapshotFeed(tree: Tree, render: RenderSnapshotFeed): void {
  const index = readChangeIndex(tree);
  // The index is unreadable; a repair starts a new one.
  if (index === undefined) return;
  const files = render(index.changes);
  for (const { file, body } of files) {
    const path = join(tree.out, file);
    if (readText(path) === body) continue;
    mkdirSync(dirname(path), { recursive: true });
    replaceFile(path, body, join(tree.state, 'feed'));
  }
  const described = readIndex(tree.index);
  const sums = sumsOf(files);
  if (files.every(({ file }) => described.snapshotFeed?.[file] === sums[file])) return;
  writeIndex(tree.index, { ...described, snapshotFeed: sums });
}
