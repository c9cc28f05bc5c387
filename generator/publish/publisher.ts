/**
 * Publishes rendered documents. Unchanged files are not touched. The tree stays as it was until the
 * commit; an interrupted commit is completed by the next process that opens the tree.
 */
import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { asFailure, asUntouched, isInterrupt } from '../errors.js';
import type { Progress } from '../progress.js';
import { readChangeIndex, untrackedFiles } from '../tree/changes.js';
import { COMPRESSED_FROM_BYTES } from '../tree/codings.js';
import { stageChangedFiles } from './changed-files.js';
import { apply } from './commit.js';
import type { Discard } from './commit.js';
import { treeDigest } from '../tree/digest.js';
import { readIndex, writeIndex } from '../tree/index-json.js';
import type { Index } from '../tree/index-json.js';
import { keepAssets, replacedAssets } from './former-assets.js';
import { flush, flushEach } from './flush.js';
import { isPrepared, operationsOf, writeJournal } from './journal.js';
import type { Operation } from './journal.js';
import { Lock } from '../lock.js';
import { NextIndex } from './next-index.js';
import { stageCopied, stageMade } from './own-files.js';
import type { Announcement, CopiedAnnouncement, Opening, Plan } from './plan.js';
import { rebuildIndex } from './rebuild-index.js';
import { recover } from './recover.js';
import { roomFor } from './changes/bundle.js';
import { comparedRoutes, nextRoutes } from './compared-routes.js';
import { manifestHash, readManifest } from '../tree/manifest.js';
import { FORMAT } from '../tree/snapshot-json.js';
import type { Manifest } from '../tree/snapshot-json.js';
import type { PublishedRoute } from '../tree/published-routes.js';
import { ListWriter, discardStage, finishStage, newStage } from './stage.js';
import type { StagePaths } from './stage.js';
import { StageWriter, readDocument, stageSpec } from './stage-writer.js';
import type { StageSpec } from './stage-writer.js';
import { stageUnchanged } from './stage-unchanged.js';
import { Takedown, stageTakedown, stageWithout } from './takedown.js';
import { newTreeId } from '../tree/tree.js';
import type { Tree } from '../tree/tree.js';

type DescribedSource = Pick<Index, 'buildKey' | 'fingerprints' | 'exports' | 'absent' | 'counts' | 'invalid'>;

interface OpenedTree {
  readonly opening: Opening;
  readonly lock: Lock;
  readonly previous: Manifest | undefined;
  /** All routes of the next snapshot. */
  readonly table: readonly PublishedRoute[];
  readonly treeId: string;
  /** The number of the newest snapshot that is known elsewhere. */
  readonly known: number;
}

/** Publishes one build: put any number of documents, then `plan` and `commit`, or `abort`. */
export class Publisher {
  readonly tree: Tree;
  /** The snapshot that this one follows; undefined for the first. */
  readonly previous: Manifest | undefined;
  /** The index of that snapshot. */
  readonly index: Index | undefined;
  readonly takedown: Takedown;
  /** What other threads need to write to the stage. */
  readonly spec: StageSpec;
  readonly paths: StagePaths;
  readonly next: NextIndex;
  /** What the next index records about its sources. */
  described: DescribedSource;
  readonly #opened: OpenedTree;
  /** Puts, keeps or leaves to other threads the documents of each route. */
  readonly writer: StageWriter;
  readonly #lists: ListWriter;

  private constructor(tree: Tree, opened: OpenedTree) {
    const { previous, table, opening } = opened;
    this.tree = tree;
    this.#opened = opened;
    this.previous = previous;
    // Without snapshot.json, the index describes what was found at the paths of these routes.
    const isIndexed = existsSync(tree.index);
    const found = { routes: table, compressed_from: COMPRESSED_FROM_BYTES };
    const before = previous ?? (isIndexed ? found : undefined);
    const routes = comparedRoutes(tree.index, before?.routes ?? [], table);
    this.index = before && readIndex(tree.index);
    this.described = { fingerprints: false, exports: {}, absent: this.index?.absent ?? [] };
    this.takedown = new Takedown(this.index?.withheld);
    this.paths = newStage(tree);
    const hasChanges = this.index !== undefined && opening.copyOf === undefined;
    this.spec = {
      ...stageSpec(tree, this.paths, routes, before?.compressed_from),
      staying: new Set(replacedAssets(tree, previous, table)),
      hasChanges,
      bundle: hasChanges && previous !== undefined ? roomFor(previous, opening.bundleBytes) : undefined,
    };
    this.writer = new StageWriter(this.spec, 'main');
    this.#lists = new ListWriter(this.paths.lists, 'own');
    this.next = new NextIndex(this.spec, tree.index, this.index, this.takedown);
  }

  /**
   * Locks the tree for one build, completes an interrupted commit, and rebuilds a damaged index.
   * @throws Failure busy: another process is at work on the tree; environment: the folder is not a
   * tree, or can't be written; invalid, usage: what is published can't be signed with the keys
   */
  static async open(tree: Tree, opening: Opening, progress: Progress): Promise<Publisher> {
    const { routes, before, copyOf } = opening;
    tree.prepare();
    const lock = Lock.take(tree.lock);
    try {
      const previous = await recover(tree, progress);
      const treeId = copyOf ?? previous?.tree.id ?? readChangeIndex(tree)?.tree ?? newTreeId();
      const known = (await before?.(tree, treeId)) ?? 0;
      const table = routes(tree, previous);
      if (previous === undefined && !tree.isEmpty()) await rebuildIndex(tree, table, progress, false);
      // The new stage replaces what an interrupted build has left.
      const opened = { opening, lock, previous, table, treeId, known };
      return await progress.blocking(() => new Publisher(tree, opened), 'preparing the stage');
    } catch (error) {
      try {
        if (!isPrepared(tree)) rmSync(tree.stage, { recursive: true, force: true });
        tree.removeIfEmpty();
      } finally {
        lock.release();
      }
      throw asFailure(error, `output folder "${tree.out}"`);
    }
  }

  /** Reads a document: see `readDocument`. */
  read = (route: string, key: number): string | undefined => readDocument(this.spec, route, key);

  /** Indexes what is left, and computes the totals of the next snapshot, once all documents are put. */
  async plan(): Promise<Plan> {
    const { tree, previous, next, takedown } = this;
    const { treeId, known } = this.#opened;
    try {
      this.writer.complete();
      await next.indexRest();
      const { changes, bytes } = next.total();
      const isTouched =
        previous?.format !== FORMAT ||
        // Bundles may hold what is withheld now, even if its documents are long gone.
        (takedown.isOne && untrackedFiles(tree, []).length > 0) ||
        changes.added + changes.changed + changes.removed > 0;
      // If snapshot.json was lost, the index of changes still has its number, or somebody else does.
      const last = Math.max(previous?.sequence ?? readChangeIndex(tree)?.sequence ?? 0, known);
      return {
        treeId,
        sequence: last + (isTouched ? 1 : 0),
        digest: isTouched
          ? treeDigest(nextRoutes(this.spec.routes), ({ name }) => next.of(name))
          : previous.digest,
        changes,
        files: changes.added + changes.changed + changes.unchanged,
        bytes,
        firstKeys: next.firstKeys(),
      };
    } catch (error) {
      throw asFailure(error, `output folder "${tree.out}"`);
    }
  }

  /**
   * Stages the announcement and commits.
   * @param discard see `apply`
   * @returns the plan, with the next sequence if nothing but snapshot.json has changed
   */
  async commit(
    planned: Plan,
    announcement: Announcement | CopiedAnnouncement,
    progress: Progress,
    discard?: Discard,
  ): Promise<Plan> {
    const { tree, paths } = this;
    const isCopy = 'own' in announcement;
    let plan = planned;
    let isUnchanged = false;
    try {
      let content = isCopy ? announcement.manifest : announcement.manifest(planned);
      if (!isCopy && planned.sequence === this.previous?.sequence) {
        // Whatever is in its place now.
        const published = this.index?.manifest ?? manifestHash(readFileSync(tree.manifest));
        isUnchanged = manifestHash(content) === published;
        // Whoever follows the snapshots, or has their entries in the log, must learn of it.
        if (!isUnchanged) {
          plan = { ...planned, sequence: planned.sequence + 1 };
          content = announcement.manifest(plan);
        }
      }
      writeFileSync(paths.manifest, content);
      const manifest = readManifest(paths.manifest);
      if (manifest === undefined) throw new TypeError('snapshot.json is not staged');
      const index = this.#nextIndex(plan, manifest, manifestHash(content));
      let operations: readonly Operation[];
      if (isUnchanged && !isCopy) {
        this.#lists.close();
        const staged = { paths, takedown: this.takedown, index, manifest };
        operations = stageUnchanged(tree, this.index, staged, announcement.snapshotFeed);
        flushEach(tree.stage);
      } else {
        const snapshotFeed = isCopy
          ? { ...this.index?.snapshotFeed, ...stageCopied(tree, paths, this.#lists, announcement.own) }
          : await this.#stageMade(plan, manifest, announcement, progress);
        operations = await progress.blocking(() => {
          this.#complete(plan, isCopy, { ...index, snapshotFeed });
          flush(tree.stage);
          return operationsOf(tree, plan.sequence, isCopy);
        }, 'writing to the disk');
      }
      // From here on nothing stops the commit.
      writeJournal(tree, plan.sequence, operations);
    } catch (error) {
      this.abort(isInterrupt(error));
      throw asUntouched(asFailure(error, `output folder "${tree.out}"`));
    }
    try {
      if (isUnchanged) await apply(tree, { advance: () => undefined });
      else {
        const { added, changed, removed } = plan.changes;
        progress.start('committing', added + changed + removed, 'moves');
        await apply(tree, progress, discard);
        progress.finish();
      }
      await this.#opened.opening.after?.(tree);
      return plan;
    } catch (error) {
      throw asFailure(error, `output folder "${tree.out}"`);
    } finally {
      this.#opened.lock.release();
    }
  }

  #stageMade({ treeId }: Plan, manifest: Manifest, announcement: Announcement, progress: Progress) {
    const { tree, previous, spec, next, takedown } = this;
    const snapshot = { tree, treeId, previous, manifest, spec, next, isTakedown: takedown.isOne };
    return stageMade(snapshot, this.#lists, announcement, progress);
  }

  #nextIndex({ treeId, sequence, digest, files }: Plan, { as_of: asOf }: Manifest, manifest: string): Index {
    return {
      digest,
      manifest,
      snapshot: { tree: treeId, sequence, asOf, documents: files },
      ...this.next.described,
      ...this.described,
      ...this.takedown.described,
    };
  }

  /** Stages the index and the rollback data. */
  #complete({ treeId, sequence, digest }: Plan, isCopy: boolean, index: Index): void {
    const { tree, paths, previous } = this;
    const assets = keepAssets(tree, this.index?.assets, previous, this.#opened.table, this.#lists);
    writeIndex(paths.index, { ...index, assets });
    if (isCopy) stageWithout(paths, 'it is a copy: what it replaced may have been withheld');
    for (const { route, isFormer } of this.spec.routes.values())
      if (isFormer) rmSync(join(paths.index, route.name));
    this.#lists.finish();
    stageChangedFiles(tree, paths, previous, { tree: treeId, sequence, digest });
    if (!isCopy && previous !== undefined && this.takedown.isOne) stageTakedown(paths, this.takedown);
    finishStage(tree, paths, previous === undefined, this.next.placed);
  }

  /** Gives up before the commit. @param isWaitedFor limits the time for cleaning up */
  abort(isWaitedFor = false): void {
    try {
      this.writer.close();
      this.#lists.close();
      discardStage(this.tree, isWaitedFor);
      this.tree.removeIfEmpty();
    } finally {
      this.#opened.lock.release();
    }
  }
}
