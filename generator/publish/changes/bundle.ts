/**
 * Bundles: the bodies of everything that a snapshot changed, in one gzip file (RFC 1952) of one
 * member, since browsers decompress no more. Its lines are JSON: the step, then each new or changed
 * document, then each removed one.
 */
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import type { Progress } from '../../progress.js';
import { chunksOf, linesOf } from '../../files.js';
import { GzipFile } from '../gzip.js';
import type { NextSnapshot } from '../own-files.js';
import { bundleParts, listFiles } from '../stage.js';
import { nextRoutes } from '../compared-routes.js';
import { hasRoom } from '../route-lists.js';
import type { BundleRoom } from '../route-lists.js';
import type { Manifest } from '../../tree/snapshot-json.js';
import { bundleFile } from '../../tree/changes.js';
import type { ChangeFile } from '../../tree/changes.js';
import type { ChangeStep } from './change-list.js';

/**
 * Stages the bundle of a snapshot. If it has more bytes than a tenth of the tree, and compressed more
 * than its room, there is none: whoever follows takes the downloads with less effort.
 * @returns undefined, and no file, if it were too large
 */
export async function writeBundle(
  snapshot: NextSnapshot,
  step: ChangeStep,
  progress: Progress,
): Promise<ChangeFile | undefined> {
  const { bundle, paths } = snapshot.spec;
  if (bundle === undefined || !hasRoom(bundle)) return undefined;
  const name = bundleFile(step.to);
  const path = join(paths.last, name);
  const file = new GzipFile(path);
  const { added, changed, removed } = snapshot.next.total().changes;
  progress.start('bundling', added + changed + removed, 'documents');
  try {
    file.line(JSON.stringify(step));
    for (const piece of piecesOf(snapshot)) {
      file.write(piece);
      if (file.raw > snapshot.manifest.tree.bytes / 10 && file.bytes > bundle.compressed) {
        file.close();
        rmSync(path);
        return undefined;
      }
      await progress.advance(linesIn(piece));
    }
    const { bytes, sha256 } = file.finish();
    return { file: `/${name}`, bytes, sha256 };
  } finally {
    file.close();
    progress.finish();
  }
}

/** The lines of the documents, in pieces, each of which is valid until the next. */
function* piecesOf({ spec }: NextSnapshot): Generator<Buffer> {
  for (const { name } of nextRoutes(spec.routes))
    for (const part of bundleParts(spec.paths, name)) {
      yield* chunksOf(part);
      yield NEWLINE;
    }
  for (const part of listFiles(spec.paths.lists, 'deletes'))
    for (const line of linesOf(part))
      yield Buffer.from(`{"path":${line.replace(/,$/, '')},"deleted":true}\n`);
}

const NEWLINE = Buffer.from('\n');

function linesIn(piece: Buffer): number {
  let lines = 0;
  for (let at = piece.indexOf(NEWLINE); at >= 0; at = piece.indexOf(NEWLINE, at + 1)) lines += 1;
  return lines;
}

/** The largest bundle of a small tree: 64 MiB. */
const BUNDLE_BYTES = 64 * 1024 * 1024;

/** Lines of JSON are not expected to be compressed by more than 16 to 1. */
const COMPRESSED_TO = 16;

/**
 * The room for staged lines: whatever has more is over both limits. A tree that more than doubles
 * changes by more than a tenth anyway.
 * @param compressed there is a bundle up to this size, compressed, or up to a tenth of the tree
 */
export const roomFor = ({ tree }: Pick<Manifest, 'tree'>, compressed = BUNDLE_BYTES): BundleRoom => ({
  compressed,
  staged: new BigInt64Array(new SharedArrayBuffer(BigInt64Array.BYTES_PER_ELEMENT)),
  most: BigInt(Math.ceil(Math.max(tree.bytes / 5, COMPRESSED_TO * compressed))),
});
