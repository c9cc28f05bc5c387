/** Back to the previous snapshot, as a new one: whoever follows the change lists is led back like forward. */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { Failure, isInterrupt } from './errors.js';
import type { Effects } from './build.js';
import { untouched, wholeSeconds } from './build.js';
import { RECORD_ROUTES } from './plausible.js';
import { snapshotTellerOf } from './outputs/feeds/snapshots.js';
import type { Progress } from './progress.js';
import { COMPRESSED_FROM_BYTES } from './publish/codings.js';
import { takenDown } from './publish/commit.js';
import { isRendered } from './publish/comparison.js';
import { LedgerReader } from './publish/ledger.js';
import { soundLedger } from './publish/ledger-index.js';
import { FORMAT, readManifest } from './publish/manifest.js';
import type { Manifest } from './publish/manifest.js';
import { Publisher } from './publish/publisher.js';
import type { Tree } from './publish/tree.js';

export interface RolledBack {
  /** The snapshot that is published now, and the one whose content it has. */
  readonly sequence: number;
  readonly contentOf: number;
  readonly asOf: string | null;
}

/**
 * Publishes what the last commit replaced. Doing it twice is back where it began.
 * @throws Failure invalid: no previous snapshot is kept (the first has none, and a repair drops it)
 */
export async function rollback(tree: Tree, { progress, now }: Effects): Promise<RolledBack> {
  tree.requirePublished();
  const opened = await untouched(open(tree, progress));
  const { publisher, manifest } = opened;
  await untouched(putBack(opened, progress));
  const { sequence, digest, files, bytes } = publisher.plan();
  const builtAt = wholeSeconds(now());
  await publisher.commit(
    {
      manifest: JSON.stringify({
        ...manifest,
        sequence,
        built_at: builtAt,
        digest,
        tree: { files, bytes },
        compressed_from: COMPRESSED_FROM_BYTES,
      }),
      asOf: manifest.as_of,
      builtAt,
      kinds: RECORD_ROUTES,
      tell: snapshotTellerOf(manifest),
    },
    progress,
  );
  return { sequence, contentOf: manifest.sequence, asOf: manifest.as_of };
}

interface Opened {
  readonly publisher: Publisher;
  /** What the last commit replaced, and where it is kept. */
  readonly manifest: Manifest;
  readonly kept: string;
}

/** Takes the tree; only then is it settled which commit was the last. */
async function open(tree: Tree, progress: Progress): Promise<Opened> {
  const { out } = tree;
  let manifest: Manifest | undefined;
  const publisher = await Publisher.open(
    tree,
    ({ previous }) => {
      if (existsSync(takenDown(tree))) {
        throw Failure.invalid(
          `"${out}" keeps no previous snapshot: something was withheld since, which going back would publish again`,
        );
      }
      manifest = readManifest(join(previous, 'snapshot.json'));
      if (manifest === undefined) throw Failure.invalid(`"${out}" keeps no previous snapshot to go back to`);
      if (manifest.format !== FORMAT) {
        throw Failure.invalid(
          `the previous snapshot kept in "${out}" is of format ${manifest.format}, expected ${FORMAT}: build again instead`,
        );
      }
      const ledger = join(previous, 'ledger');
      const whole = manifest.routes.filter(isRendered).every(({ name }) => existsSync(join(ledger, name)));
      if (!whole || !soundLedger(ledger, manifest.digest)) {
        throw Failure.invalid(`the previous snapshot kept in "${out}" is damaged, expected its whole ledger`);
      }
      return manifest.routes;
    },
    progress,
  );
  if (manifest === undefined) throw new TypeError('the publisher did not ask for its routes');
  return { publisher, manifest, kept: publisher.tree.previous };
}

async function putBack({ publisher, manifest, kept }: Opened, progress: Progress): Promise<void> {
  try {
    progress.start('rolling back', manifest.tree.files, 'files');
    for (const { name } of manifest.routes.filter(isRendered)) {
      const reader = LedgerReader.open(join(kept, 'ledger'), name);
      for (const { key, bytes, hash } of reader?.entries() ?? []) {
        publisher.putBack(name, key, bytes, Buffer.from(hash));
        const pause = progress.advance(1);
        if (pause === undefined) continue;
        await pause;
        await publisher.settled();
      }
      reader?.close();
    }
    progress.finish();
    await publisher.settled();
    publisher.plan();
  } catch (error) {
    publisher.abort(isInterrupt(error));
    throw error;
  }
}
