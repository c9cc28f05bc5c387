/**
 * Publishes rendered documents. Unchanged files are not touched. The tree stays as it was until the
 * commit; an interrupted commit is completed by the next process that opens the tree.
 */
import { existsSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { asFailure, asUntouched, isInterrupt } from '../errors.js';
import type { Progress } from '../progress.js';
import { readChangeIndex } from '../tree/changes.js';
import { COMPRESSED_FROM_BYTES } from '../tree/codings.js';
import { stageChangedFiles } from './changed-files.js';
import { apply } from './commit.js';
import type { Discard } from './commit.js';
import { readIndex, writeIndex } from '../tree/index-json.js';
import type { Index } from '../tree/index-json.js';
import { dropAssets, formerAssets, replacedAssets } from './former-assets.js';
import { flush, flushEach } from './flush.js';
import { isPrepared, operationsOf, writeJournal } from './journal.js';
import type { Operation } from './journal.js';
import { Lock } from '../lock.js';
import { NextIndex } from './next-index.js';
import { planOf, publishedManifest } from './next-plan.js';
import { stageCopied, stageMade } from './own-files.js';
import type { Announcement, CopiedAnnouncement, Opening, Plan } from './plan.js';
import { rebuildIndex } from './rebuild-index.js';
import { recover } from './recover.js';
import { roomFor } from './changes/bundle.js';
import { comparedRoutes } from './compared-routes.js';
import type { ComparedRoute } from './compared-routes.js';
import { manifestHash, readManifest } from '../tree/manifest.js';
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
  readonly lock: Lock;
  readonly previous: Manifest | undefined;
  readonly routes: readonly PublishedRoute[];
  readonly treeId: string;
  readonly known: number;
  readonly after: Opening['after'];
  readonly bundleBytes: number | undefined;
  readonly isCopy: boolean;
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
  readonly #lock: Lock;
  /** All routes of the next snapshot, and those that it shares with the previous one or lacks. */
  readonly #table: readonly PublishedRoute[];
  readonly #routes: readonly ComparedRoute[];
  /** Puts, keeps or leaves to other threads the documents of each route. */
  readonly writer: StageWriter;
  readonly #lists: ListWriter;
  readonly #treeId: string;
  readonly #known: number;
  readonly #after: Opening['after'];

  private constructor(
    tree: Tree,
    { lock, previous, routes, treeId, known, after, bundleBytes, isCopy }: OpenedTree,
  ) {
    this.tree = tree;
    this.#lock = lock;
    this.previous = previous;
    this.#treeId = treeId;
    this.#known = known;
    this.#after = after;
    this.#table = routes;
    // Without snapshot.json, the index describes what was found at the paths of these routes.
    const isIndexed = existsSync(tree.index);
    const before = previous ?? (isIndexed ? { routes, compressed_from: COMPRESSED_FROM_BYTES } : undefined);
    this.#routes = comparedRoutes(before?.routes ?? [], routes);
    this.index = before && readIndex(tree.index);
    this.described = { fingerprints: false, exports: {}, absent: this.index?.absent ?? [] };
    this.takedown = new Takedown(this.index?.withheld);
    this.paths = newStage(tree);
    const staying = new Set(replacedAssets(tree, previous, routes));
    const hasChanges = this.index !== undefined && !isCopy;
    this.spec = {
      ...stageSpec(tree, this.paths, this.#routes, before?.compressed_from, staying),
      hasChanges,
      bundle: hasChanges && previous !== undefined ? roomFor(previous, bundleBytes) : undefined,
    };
    this.writer = new StageWriter(
      this.spec,
      this.#routes.map(({ route }) => route),
      'main',
    );
    this.#lists = new ListWriter(this.paths.lists, 'own');
    this.next = new NextIndex(this.paths, this.spec, this.#routes, tree.index, this.index, this.takedown);
  }

  /**
   * Locks the tree for one build, completes an interrupted commit, and rebuilds a damaged index.
   * @throws Failure busy: another process is at work on the tree; environment: the folder is not a
   * tree, or can't be written; invalid, usage: what is published can't be signed with the keys
   */
  static async open(tree: Tree, opening: Opening, progress: Progress): Promise<Publisher> {
    const { routes, before, after, copyOf, bundleBytes } = opening;
    tree.prepare();
    const lock = Lock.take(tree.lock);
    try {
      const previous = await recover(tree, progress);
      const treeId = copyOf ?? previous?.tree.id ?? readChangeIndex(tree)?.tree ?? newTreeId();
      const known = (await before?.(tree, treeId)) ?? 0;
      const table = routes(tree, previous);
      if (previous === undefined && !tree.isEmpty()) await rebuildIndex(tree, table, progress, false);
      // It deletes what an interrupted build has left in the stage.
      const isCopy = copyOf !== undefined;
      const opened = { lock, previous, routes: table, treeId, known, after, bundleBytes, isCopy };
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

  /** The routes of the next snapshot. */
  get routes(): readonly PublishedRoute[] {
    return this.#routes.flatMap(({ route, isFormer }) => (isFormer ? [] : [route]));
  }

  /** Reads a document: see `readDocument`. */
  read = (route: string, key: number): string | undefined => readDocument(this.spec, this.routes, route, key);

  /** Computes the totals, once all documents are put. */
  async plan(): Promise<Plan> {
    const { tree, previous, next, takedown } = this;
    try {
      this.writer.complete(this.#routes.map(({ route }) => route.name));
      const { routes } = this;
      const [treeId, known] = [this.#treeId, this.#known];
      return await planOf({ tree, treeId, previous, next, takedown, known, routes });
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
    const { tree } = this;
    const isCopy = 'own' in announcement;
    let plan = planned;
    let isUnchanged = false;
    try {
      let content = isCopy ? Buffer.from(announcement.manifest) : announcement.manifest(planned);
      if (!isCopy && planned.sequence === this.previous?.sequence) {
        isUnchanged = manifestHash(content) === publishedManifest(this);
        // Whoever follows the snapshots, or has their entries in the log, must learn of it.
        if (!isUnchanged) {
          plan = { ...planned, sequence: planned.sequence + 1 };
          content = announcement.manifest(plan);
        }
      }
      writeFileSync(this.paths.manifest, content);
      const manifest = readManifest(this.paths.manifest);
      const index = this.#nextIndex(plan, manifest, content);
      let operations: readonly Operation[];
      if (isUnchanged && !isCopy) {
        this.#lists.close();
        const { paths, takedown } = this;
        const published = { tree, index: this.index };
        operations = stageUnchanged(
          published,
          { paths, takedown, index, manifest },
          announcement.snapshotFeed,
        );
        flushEach(tree.stage);
      } else {
        const snapshotFeed = isCopy
          ? { ...this.index?.snapshotFeed, ...stageCopied(this.paths, this.#lists, announcement.own) }
          : await this.#stageMade(announcement, progress);
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
      await this.#after?.(tree, plan.treeId);
      return plan;
    } catch (error) {
      throw asFailure(error, `output folder "${tree.out}"`);
    } finally {
      this.#lock.release();
    }
  }

  #stageMade(announcement: Announcement, progress: Progress): Promise<Record<string, string>> {
    const { tree, previous, spec, routes, next, takedown } = this;
    const bundled = { spec, routes, next };
    const staged = { treeId: this.#treeId, bundled, isTakedown: takedown.isOne };
    return stageMade(tree, previous, staged, this.#lists, announcement, progress);
  }

  #nextIndex(
    { treeId, sequence, digest, files }: Plan,
    manifest: Manifest | undefined,
    content: string | Uint8Array,
  ): Index {
    return {
      digest,
      manifest: manifestHash(content),
      snapshot: { tree: treeId, sequence, asOf: manifest?.as_of ?? null, documents: files },
      ...this.next.described,
      ...this.described,
      ...this.takedown.described,
    };
  }

  /** Stages the index and the rollback data. */
  #complete({ treeId, sequence, digest }: Plan, isCopy: boolean, index: Index): void {
    const { tree, paths, previous } = this;
    const assets = formerAssets(tree, this.index?.assets, previous, this.#table);
    dropAssets(tree, this.index?.assets, previous, this.#table, assets, this.#lists);
    writeIndex(paths.index, { ...index, assets });
    if (isCopy) stageWithout(paths, 'it is a copy: what it replaced may have been withheld');
    for (const { route, isFormer } of this.#routes) if (isFormer) rmSync(join(paths.index, route.name));
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
      this.#lock.release();
    }
  }
}
