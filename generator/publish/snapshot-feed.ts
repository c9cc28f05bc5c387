/**
 * The snapshot feed. It is derived from the change index, which exists only at commit time, so the
 * caller passes in a renderer. The digest leaves the feed out; index.json records its hashes.
 */
import { hash } from 'node:crypto';
import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { Change } from '../tree/changes.js';
import type { ListWriter, StagePaths } from './stage.js';

/** A file below the output folder. Its URL is its name. */
export interface FeedFile {
  readonly file: string;
  readonly body: string;
}

/** Renders the feed from the changes in the index, newest first. */
export type RenderSnapshotFeed = (changes: readonly Change[]) => readonly FeedFile[];

/** The SHA-256 of each file, in hex. */
export const sumsOf = (files: readonly FeedFile[]): Record<string, string> =>
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
