/**
 * Publishes rendered documents. Unchanged files are not touched. The tree stays as it was until the
 * commit; an interrupted commit is completed by the next process that opens the tree.
 */
import { existsSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Failure, asFailure, asUntouched, isInterrupt, unlessFailure, writing } from '../base/errors.js';
import { Lock } from '../base/lock.js';
import type { Progress } from '../base/progress.js';
import { NextState, totalOf, type Changes, type ComparedRoute } from '../state/next.js';
import { NOTHING_KNOWN, type Described } from '../state/schema.js';
import type { OwnFile } from '../state/state.js';
import { readChangeIndex, untrackedFiles } from '../tree/changes.js';
import { COMPRESSED_FROM_BYTES } from '../tree/codings.js';
import { treeDigest, type RouteSummary } from '../tree/digest.js';
import { manifestHash, readManifest } from '../tree/manifest.js';
import type { PublishedRoute } from '../tree/published-routes.js';
import { FORMAT, type Manifest } from '../tree/snapshot-json.js';
import { newTreeId, type Tree } from '../tree/tree.js';
import { roomFor, stageMade, stageUnchanged } from './announcement.js';
import { apply, completeCommit, flush, flushEach, recover } from './commit.js';
import { isCommitting, isSound, withPublished } from '../state/published.js';
import { comparedRoutes, nextRoutes } from './compared-routes.js';
import { keepAssets, replacedAssets } from './former-assets.js';
import { Takedown, type Announcement, type Opening, type Plan } from './plan.js';
import { rebuildState } from './rebuild-state.js';
import { discardStage, finishStage, newStage, type StagePaths, type StageSpec } from './stage.js';
import { StageWriter, readDocument } from './stage-writer.js';

type DescribedSource = Pick<
  Described,
  'buildKey' | 'fingerprints' | 'exports' | 'absent' | 'counts' | 'invalid'
>;

interface OpenedTree {
  readonly opening: Opening;
  /** Undefined in a dry run. */
  readonly lock: Lock | undefined;
  /** Where the snapshot is staged. */
  readonly stage: Pick<Tree, 'stage'>;
  readonly previous: Manifest | undefined;
  readonly treeId: string;
}

/** Publishes one build: put any number of documents, then `plan` and `commit`, or `abort`. */
export class Publisher {
  readonly tree: Tree;
  /** Whether nothing is to be committed: see `dryRun`. */
  readonly isDryRun: boolean;
  /** The snapshot that this one follows; undefined for the first. */
  readonly previous: Manifest | undefined;
  /** What that was made from; undefined for the first. */
  readonly last: Described | undefined;
  readonly takedown: Takedown;
  /** What other threads need to write to the stage. */
  readonly spec: StageSpec;
  readonly paths: StagePaths;
  /** The state of the next snapshot. */
  readonly next: NextState;
  /** What the state records about the sources. */
  described: DescribedSource;
  readonly #opened: OpenedTree;
  /** Puts, keeps or leaves to other threads the documents of each route. */
  readonly writer: StageWriter;
  readonly #summaries = new Map<string, RouteSummary>();

  private constructor(tree: Tree, opened: OpenedTree) {
    const { previous, opening, lock } = opened;
    const { routes: table } = opening;
    this.tree = tree;
    this.isDryRun = lock === undefined;
    this.#opened = opened;
    this.previous = previous;
    this.paths = newStage(opened.stage);
    const { differences } = this.paths;
    // A dry run has nobody who looked what there is without a snapshot.json.
    const isKnown = previous !== undefined || !this.isDryRun;
    this.next = this.isDryRun
      ? NextState.dryRun(isKnown ? tree.database : undefined, differences)
      : NextState.begin(tree.database, differences);
    try {
      const last = this.next.newest?.described;
      this.last = isKnown ? last : withheldIn(tree);
      const staying = new Set(replacedAssets(tree, previous, table));
      const routes = comparedRoutes(this.next.routes, table, staying);
      this.described = { fingerprints: false, exports: {}, absent: this.last?.absent ?? [] };
      this.takedown = new Takedown(this.last?.withheld);
      const isFollowing = this.last !== undefined && previous !== undefined && !this.isDryRun;
      const before = previous?.compressed_from ?? (last && COMPRESSED_FROM_BYTES);
      this.spec = {
        out: tree.out,
        paths: this.paths,
        compared: { state: last && tree.database, differences },
        routes: new Map(routes.map((each) => [each.route.name, each])),
        compressedFrom: before ?? Number.POSITIVE_INFINITY,
        ...(this.isDryRun && { examples: EXAMPLES }),
        bundle: isFollowing ? roomFor(previous, opening.bundleBytes) : undefined,
      };
      this.writer = new StageWriter(
        this.spec,
        'main',
        undefined,
        this.isDryRun ? undefined : this.next.database,
      );
    } catch (error) {
      // Left open, it would keep the state from being one file at rest.
      unlessFailure(() => this.next.close());
      throw error;
    }
  }

  /**
   * Locks the tree for one build, completes an interrupted commit, and rebuilds a damaged state.
   * @throws Failure busy: another process is at work on the tree; environment: the folder is not a
   * tree, or can't be written
   */
  static async open(tree: Tree, opening: Opening, progress: Progress): Promise<Publisher> {
    // Of a first snapshot, only the state says that the files are ours.
    await completeCommit(tree, progress);
    tree.prepare();
    const lock = Lock.take(tree.lock);
    try {
      const previous = await recover(tree, progress);
      const treeId = previous?.tree.id ?? readChangeIndex(tree)?.tree ?? newTreeId();
      if (previous === undefined && !isNew(tree)) await rebuildState(tree, opening.routes, progress);
      // The new stage replaces what an interrupted build has left.
      const opened = { opening, lock, stage: tree, previous, treeId };
      return await progress.blocking(() => new Publisher(tree, opened), 'preparing a stage for the snapshot');
    } catch (error) {
      try {
        if (!isCommitting(tree)) rmSync(tree.stage, { recursive: true, force: true });
        tree.removeIfEmpty();
      } finally {
        lock.release();
      }
      throw asFailure(error, `output folder "${tree.out}"`);
    }
  }

  /**
   * Opens the tree to see what a build would change: it is only read, and not locked. Documents are
   * compared, and a few of those that differ staged in a temporary folder, until `abort`.
   * @throws Failure invalid: the tree has no sound state to compare with; environment: it is not ours, or there
   * is no room for temporary files
   */
  static dryRun(tree: Tree, table: readonly PublishedRoute[]): Publisher {
    const previous = comparable(tree);
    const stage = writing(`temporary folder "${tmpdir()}"`, () =>
      mkdtempSync(join(tmpdir(), 'register-dry-run-')),
    );
    try {
      return new Publisher(tree, {
        opening: { routes: table },
        lock: undefined,
        stage: { stage },
        previous,
        treeId: previous?.tree.id ?? '',
      });
    } catch (error) {
      rmSync(stage, { recursive: true, force: true });
      throw asFailure(error, `temporary folder "${stage}"`);
    }
  }

  /** Reads a document: see `readDocument`. */
  read = (route: string, key: number): string | undefined => readDocument(this.spec, route, key);

  /** Applies what differs of routes whose documents are all staged. */
  async apply(names: readonly string[], progress: Pick<Progress, 'advance'>): Promise<void> {
    if (this.isDryRun) return;
    for (const name of names) {
      this.next.apply(this.#route(name));
      await progress.advance(0);
    }
  }

  #route(name: string): ComparedRoute {
    const route = this.spec.routes.get(name);
    if (route === undefined) throw new TypeError(`no route is named "${name}"`);
    return route;
  }

  /** What the digest says of a route of the next snapshot, once that is applied. */
  summaryOf(name: string): RouteSummary {
    const known = this.#summaries.get(name) ?? this.next.summary(this.#route(name).id);
    this.#summaries.set(name, known);
    return known;
  }

  /** The lowest key of a route that is applied. */
  firstKey = (name: string): number | undefined => {
    const route = this.spec.routes.get(name);
    return route !== undefined && this.next.isApplied(route)
      ? (this.summaryOf(name).firstKey ?? undefined)
      : undefined;
  };

  changesOf = (name: string): Readonly<Changes> => this.next.changesOf(this.#route(name));

  changesByRoute(): ReadonlyMap<string, Readonly<Changes>> {
    return new Map([...this.spec.routes].map(([name, route]) => [name, this.next.changesOf(route)]));
  }

  /** Removed documents whose records are withheld. */
  withheldByRoute(): ReadonlyMap<string, number> {
    const counts = [...(this.takedown.withheld?.keys ?? [])].map(([name, keys]) => {
      const route = keys.size === 0 ? undefined : this.spec.routes.get(name);
      const removed = route === undefined ? [] : this.next.removedKeys(route.id);
      return [name, removed.filter((key) => keys.has(key)).length] as const;
    });
    return new Map(counts);
  }

  /** Applies what is left, and computes the totals of the next snapshot, once all documents are put. */
  async plan(progress: Pick<Progress, 'advance'>): Promise<Plan> {
    const { tree, previous, takedown, spec, next } = this;
    const { treeId } = this.#opened;
    try {
      this.writer.complete();
      const changes = totalOf(this.changesByRoute().values());
      await this.apply([...spec.routes.keys()], progress);
      const routes = this.isDryRun ? [] : nextRoutes(spec.routes);
      const isTouched =
        previous?.format !== FORMAT ||
        // Bundles may hold what is withheld now, even if its documents are long gone.
        (takedown.withholdsMore && untrackedFiles(tree, []).length > 0) ||
        changes.added + changes.changed + changes.removed > 0;
      // If snapshot.json was lost, the index of changes still has its number.
      const last = previous?.sequence ?? readChangeIndex(tree)?.sequence ?? 0;
      return {
        treeId,
        sequence: last + (isTouched ? 1 : 0),
        digest: isTouched ? treeDigest(routes, ({ name }) => this.summaryOf(name)) : previous.digest,
        changes,
        files: changes.added + changes.changed + changes.unchanged,
        bytes: Number(next.value('SELECT ifnull(sum(bytes), 0) FROM chunk')),
        firstKeys: new Map(
          routes.flatMap(({ name }) => {
            const { firstKey } = this.summaryOf(name);
            return firstKey === null ? [] : [[name, firstKey]];
          }),
        ),
      };
    } catch (error) {
      throw asFailure(error, `output folder "${tree.out}"`);
    }
  }

  /**
   * Stages the announcement and commits.
   * @returns the plan, with the next sequence if nothing but snapshot.json has changed
   */
  async commit(planned: Plan, announcement: Announcement, progress: Progress): Promise<Plan> {
    const { tree, paths, next } = this;
    let plan = planned;
    let isUnchanged = false;
    try {
      let content = announcement.manifest(planned);
      if (planned.sequence === this.previous?.sequence) {
        // Whatever is in its place now.
        const published = this.last?.manifest ?? manifestHash(readFileSync(tree.manifest));
        isUnchanged = manifestHash(content) === published;
        // Whoever follows the snapshots must learn of it.
        if (!isUnchanged) {
          plan = { ...planned, sequence: planned.sequence + 1 };
          content = announcement.manifest(plan);
        }
      }
      writeFileSync(paths.manifest, content);
      const manifest = readManifest(paths.manifest);
      if (manifest === undefined) throw new TypeError('snapshot.json is not staged');
      const described = {
        manifest: manifestHash(content),
        ...this.described,
        ...this.takedown.described,
      };
      if (isUnchanged) {
        const { assets } = this.last ?? {};
        const feed = stageUnchanged(
          tree,
          this.last ?? NOTHING_KNOWN,
          paths,
          manifest,
          announcement.snapshotFeed,
        );
        next.recordUnchanged({
          ...described,
          ...(assets && { assets }),
          ...(feed && { snapshotFeed: feed }),
        });
        finishStage(paths, 0);
        flushEach(tree.stage);
      } else {
        const { own, feed } = await this.#stageMade(plan, manifest, announcement, progress);
        await progress.blocking(() => {
          this.#record(plan, { ...described, snapshotFeed: feed }, own);
          // For a first snapshot no folder grows: whole ones are moved.
          finishStage(paths, this.previous === undefined ? 0 : next.placed);
          flush(tree.stage);
        }, 'writing to the disk, so that a crash loses nothing');
      }
      // From here on nothing stops the commit.
      next.commit();
    } catch (error) {
      this.abort(isInterrupt(error));
      throw asUntouched(asFailure(error, `output folder "${tree.out}"`));
    }
    try {
      this.writer.close();
      if (isUnchanged) await apply(tree, next, { advance: () => undefined });
      else {
        const { added, changed, removed } = plan.changes;
        progress.start('committing', added + changed + removed, 'moves');
        await apply(tree, next, progress);
        progress.finish();
      }
      next.close();
      this.#opened.opening.after?.();
      return plan;
    } catch (error) {
      throw asFailure(error, `output folder "${tree.out}"`);
    } finally {
      next.close();
      this.#opened.lock?.release();
    }
  }

  #stageMade({ treeId }: Plan, manifest: Manifest, announcement: Announcement, progress: Progress) {
    const { tree, previous, spec, next, takedown } = this;
    const snapshot = { tree, treeId, previous, manifest, spec, next, isTakedown: takedown.withholdsMore };
    return stageMade(snapshot, announcement, progress);
  }

  #record({ treeId, sequence, digest }: Plan, described: Described, own: readonly OwnFile[]): void {
    const { tree, previous, last, spec, paths, next } = this;
    const { assets, removed } = keepAssets(tree, last?.assets, previous, this.#opened.opening.routes);
    next.record({
      id: { tree: treeId, sequence, digest },
      described: { ...described, assets },
      routes: [...spec.routes.values()],
      own: [...own, ...removed],
      isStaged: (file) => existsSync(join(paths.tree, file)),
    });
  }

  /** Gives up before the commit. @param isWaitedFor limits the time for cleaning up */
  abort(isWaitedFor = false): void {
    try {
      this.writer.close();
      this.next.close();
      // No later build deletes the rest of a temporary folder.
      discardStage(this.#opened.stage, isWaitedFor && !this.isDryRun);
      if (!this.isDryRun) this.tree.removeIfEmpty();
    } finally {
      this.#opened.lock?.release();
    }
  }
}

/** Whether nothing was ever published: a first build that was given up leaves an empty state at most. */
const isNew = (tree: Tree): boolean =>
  tree.isEmpty() &&
  (!existsSync(tree.database) ||
    withPublished(tree, (state) => state.value('SELECT count(*) FROM snapshot') === 0) === true);

/** What is known of the last snapshot, if only what it withheld counts. */
function withheldIn(tree: Tree): Described | undefined {
  const last = withPublished(tree, ({ newest }) => newest?.described);
  return last && { ...NOTHING_KNOWN, ...(last.withheld && { withheld: last.withheld }) };
}

/** Of each route, how many documents of each kind of change a dry run shows. */
export const EXAMPLES = 3;

/** @returns the published snapshot, which can be compared with; undefined if there is none */
function comparable(tree: Tree): Manifest | undefined {
  const { out } = tree;
  if (isCommitting(tree)) {
    throw Failure.invalid(`a commit to "${out}" was interrupted: the next build completes it`);
  }
  if (statSync(out, { throwIfNoEntry: false })?.isDirectory() === false)
    throw Failure.environment(`output folder "${out}" is no folder`);
  tree.requireOurs();
  const manifest = readManifest(tree.manifest);
  if (manifest !== undefined && !isSound(tree, manifest.digest)) {
    throw Failure.invalid(
      `the state of "${out}" is missing or damaged, expected a sound one (see verify --repair)`,
    );
  }
  return manifest;
}
