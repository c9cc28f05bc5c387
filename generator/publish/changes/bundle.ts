/**
 * Bundles: the bodies of everything that a snapshot changed, in one gzip file (RFC 1952) of one
 * member, since browsers decompress no more. Its lines are JSON: the step, then each new or changed
 * document, then each removed one.
 */
import { existsSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { NO_HASH, entriesIn } from '../../tree/hash-file.js';
import type { Progress } from '../../progress.js';
import { filler, urlTemplate } from '../../routes/index.js';
import { linesOf } from '../../files.js';
import { GzipFile } from '../gzip-file.js';
import type { NextIndex } from '../next-index.js';
import type { PublishedRoute } from '../../tree/published-routes.js';
import { listFiles } from '../stage.js';
import { documentFiles } from '../stage-writer.js';
import type { StageSpec } from '../stage-writer.js';
import { deletedLine, putLine } from './bundle-line.js';
import { bundleFile } from '../../tree/changes.js';
import type { ChangeFile } from '../../tree/changes.js';
import type { ChangeStep } from './change-list.js';

/** What is bundled: the new and changed documents of these routes, while their patches are there. */
export interface Bundled {
  readonly spec: StageSpec;
  readonly routes: readonly PublishedRoute[];
  readonly next: Pick<NextIndex, 'patchesOf' | 'total'>;
}

/**
 * The size up to which there is a bundle: if it has more bytes than both, whoever follows takes the
 * downloads with less effort.
 */
export interface BundleLimit {
  readonly compressed: number;
  readonly raw: number;
}

/** Stages the bundle of a snapshot. @returns undefined, and no file, if it were too large */
export async function writeBundle(
  bundled: Bundled,
  step: ChangeStep,
  limit: BundleLimit,
  progress: Progress,
): Promise<ChangeFile | undefined> {
  const name = bundleFile(step.to);
  const path = join(bundled.spec.paths.last, name);
  const file = new GzipFile(path);
  const { added, changed, removed } = bundled.next.total().changes;
  progress.start('bundling', added + changed + removed, 'documents');
  try {
    file.line(JSON.stringify(step));
    for (const line of linesOfBundle(bundled)) {
      file.line(line);
      if (file.raw > limit.raw && file.bytes > limit.compressed) {
        file.close();
        rmSync(path);
        return undefined;
      }
      await progress.advance(1);
    }
    const { bytes, sha256 } = file.finish();
    return { file: `/${name}`, bytes, sha256 };
  } finally {
    file.close();
    progress.finish();
  }
}

function* linesOfBundle({ spec, routes, next }: Bundled): Generator<string> {
  for (const route of routes) {
    const url = filler(urlTemplate(route));
    const filesOf = documentFiles(spec, route);
    for (const patch of next.patchesOf(route.name)) {
      for (const { key, bytes, hash } of entriesIn(patch)) {
        if (hash.equals(NO_HASH)) continue;
        const put = { path: url(key), sha256: hash.toString('hex'), bytes };
        // The first that exists is the staged one.
        const file = filesOf(key).find((each) => existsSync(each)) ?? '';
        yield putLine(put, route.class === 'download' ? undefined : readFileSync(file));
      }
    }
  }
  for (const part of listFiles(spec.paths.lists, 'deletes'))
    for (const line of linesOf(part)) yield deletedLine(JSON.parse(line.replace(/,$/, '')));
}
