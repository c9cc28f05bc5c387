/** Repairs a tree: what is damaged is removed or rendered again. */
import { existsSync, rmSync } from 'node:fs';
import { unlessFailure } from '../../base/errors.js';
import { makeFolder } from '../../base/files.js';
import { Lock } from '../../base/lock.js';
import type { Progress } from '../../base/progress.js';
import { repairIndex } from '../../publish/change-index.js';
import { completeCommit, recover } from '../../publish/commit.js';
import { isCommitting, isSound, withPublished } from '../../state/published.js';
import { rebuildState } from '../../publish/rebuild-state.js';
import { deleteFile } from '../../publish/moves.js';
import { namesOf } from '../../tree/codings.js';
import { RebuiltState } from '../../state/rebuilt.js';
import { NOTHING_KNOWN } from '../../state/schema.js';
import { readManifest } from '../../tree/manifest.js';
import type { Manifest } from '../../tree/snapshot-json.js';
import type { Tree } from '../../tree/tree.js';
import { checkTree, nameOf, verify } from './verify.js';
import { DamageReport, type VerifyReport } from './damage.js';

/** What a repair needs of the program that builds trees. */
export interface Builder {
  /** @throws Failure invalid: the register can't be published, so nothing must be removed */
  readonly requireSound: () => Promise<void>;
  /** Renders what is missing. @returns the number of the snapshot; null if nothing was published */
  readonly build: () => Promise<number | null>;
}

/**
 * Repairs a tree, and verifies it afterwards.
 * @param progress called for each step
 * @param deletesUntracked see `verify`
 * @returns what was damaged, how many damages are left, and the number of the snapshot
 * @throws Failure: nothing was changed, except that an interrupted commit was completed
 */
export async function repair(
  tree: Tree,
  { requireSound, build }: Builder,
  progress: () => Progress,
  deletesUntracked: boolean,
) {
  await completeCommit(tree, progress());
  await requireSound();
  const found = await prepareRepair(tree, progress());
  const snapshot = (await build()) ?? found.sequence;
  const { total, untracked, closed } = await verify(tree, progress(), { deletesUntracked });
  // Without snapshot.json, untracked files are known only now.
  return { found: { ...found, untracked, closed }, left: total, snapshot };
}

/**
 * Completes an interrupted commit, deletes extra files, and marks missing or altered documents in
 * the state, so that the next build renders them again. Change lists and bundles can't be
 * regenerated: a damaged one is dropped from the index, and lists that lead only to it with it.
 */
export async function prepareRepair(tree: Tree, progress: Progress): Promise<VerifyReport> {
  makeFolder(tree.out);
  tree.prepareState();
  const lock = Lock.take(tree.lock);
  try {
    const extra: string[] = [];
    const changes = new Set<string>();
    const found = new DamageReport(({ file, what }) => {
      if (what === 'extra') extra.push(file);
      else if (file.startsWith('changes/')) changes.add(file);
    });
    if (isCommitting(tree)) found.add(nameOf(tree.stage), 'interrupted');
    if (existsSync(tree.manifest) && unlessFailure(() => readManifest(tree.manifest)) === undefined) {
      found.add('snapshot.json', 'altered');
      // The next build continues the sequence from the change lists, and removes extra files.
      rmSync(tree.manifest);
    }
    const promised = readManifest(tree.manifest)?.digest;
    const isInterrupted = found.total > 0;
    if (!isInterrupted && promised !== undefined && !isSound(tree))
      found.add(nameOf(tree.database), existsSync(tree.database) ? 'altered' : 'missing');
    const manifest = await recover(tree, progress);
    if (manifest === undefined) {
      if (found.total === 0) found.add('snapshot.json', 'missing');
      return found.report(null, 0);
    }
    if (!isInterrupted && manifest.digest !== promised) found.add('snapshot.json', 'altered');
    if (withPublished(tree, (state) => state.isWhole) !== true) {
      found.add(nameOf(tree.database), 'altered');
      await rebuildState(tree, manifest.routes, progress, manifest);
    }
    const files = await markDamaged(tree, manifest, found, extra, progress);
    repairIndex(tree, manifest, changes);
    return found.report(manifest.sequence, files);
  } finally {
    lock.release();
  }
}

/** Marks damaged documents in the state, and deletes extra files. */
async function markDamaged(
  tree: Tree,
  manifest: Manifest,
  found: DamageReport,
  extra: string[],
  progress: Progress,
): Promise<number> {
  using state = RebuiltState.open(tree.database);
  const files = await checkTree(tree, manifest, found, progress, ({ name, file }, key) => {
    // Nothing renders an earlier asset again: the next build finds it gone.
    if (!state.mark(name, key)) extra.push(...namesOf(file, 0, 0));
  });
  const { withheld, absent, counts, manifest: published, assets } = state.newest?.described ?? NOTHING_KNOWN;
  const lost = new Set(extra);
  // Without a build key the next build renders everything.
  state.finishMarks({
    ...NOTHING_KNOWN,
    absent,
    ...(counts && { counts }),
    ...(withheld && { withheld }),
    ...(assets && {
      assets: Object.fromEntries(Object.entries(assets).filter(([file]) => !lost.has(file))),
    }),
    ...(published !== undefined && { manifest: published }),
  });
  for (const file of extra) deleteFile(tree.out, file);
  return files;
}
