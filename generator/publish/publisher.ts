/**
 * Rendered files become the published tree, and what did not change is not touched. Until the commit the tree is
 * what it was; an interrupted commit is completed by whoever comes next.
 */
import { hash } from 'node:crypto';
import { existsSync, linkSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Failure, asFailure } from '../errors.js';
import type { Progress } from '../progress.js';
import { readChangeIndex, stageChanges } from './changes.js';
import { apply, forgetPrevious, isSealed, seal, type Discard } from './commit.js';
import { Comparison } from './comparison.js';
import { treeDigest } from './digest.js';
import { Reuse } from './reuse.js';
import { keptFile } from './placement.js';
import type { Placement, Write } from './placement.js';
import { LedgerWriter, type Content } from './ledger.js';
import { readLedgerIndex, replaceLedger, writeLedgerIndex, type LedgerIndex } from './ledger-index.js';
import type { Announcement, Plan } from './plan.js';
import { Lock } from './lock.js';
import { FORMAT, type Manifest, type PublishedRoute } from './manifest.js';
import { measure, scan } from './scan.js';
import type { Scan } from './scan.js';
import type { KeyRange, Series } from './series.js';
import { settle } from './settle.js';
import { Stage } from './stage.js';
import { Takedown } from './takedown.js';
import { inOtherLayout, removeStrays } from './strays.js';
import { renewTold, stageTold } from './told.js';
import type { Tree } from './tree.js';

/** Publishes one build into a tree: any number of `put`, `plan`, then `commit`; or `abort` before the commit. */
export class Publisher {
  readonly tree: Tree;
  readonly reuse: Reuse;
  readonly #lock: Lock;
  /** The snapshot this one follows; undefined for the first. */
  readonly previous: Manifest | undefined;
  readonly #comparison: Comparison;
  readonly #stage: Stage;
  /** What lies in a tree that has no snapshot.json to tell. */
  #found: Scan | undefined;
  #plan: Plan | undefined;
  readonly takedown: Takedown;
  /** Where files may be written that are then taken by `putStaged`. */
  readonly scratch: string;
  /** Writes documents that `putHashed` has left to somebody. */
  readonly placement: Placement;
  /** The checksums of the next ledger. */
  #sums: Readonly<Record<string, string>> = {};

  private constructor(
    tree: Tree,
    lock: Lock,
    previous: Manifest | undefined,
    routes: readonly PublishedRoute[],
  ) {
    this.tree = tree;
    this.#lock = lock;
    this.previous = previous;
    this.#stage = new Stage(tree, previous !== undefined);
    this.scratch = this.#stage.paths.scratch;
    this.placement = this.#stage.placement;
    const index = previous && readLedgerIndex(tree.ledger);
    this.reuse = new Reuse(previous && tree.ledger, this.#stage.paths.ledger, index);
    this.takedown = new Takedown(index?.withheld);
    this.#comparison = new Comparison(
      tree,
      previous,
      routes,
      (route, gone) => {
        this.takedown.note(route, gone);
        this.#stage.drop(route, gone);
      },
      ({ name, file }) => new LedgerWriter(this.#stage.paths.ledger, name, file),
    );
  }

  /**
   * Takes the tree for one build, completes an interrupted commit, and makes sure of the ledger.
   * @throws Failure environment: the folder is somebody else's, in use by another build, or can't be written
   */
  static async open(
    tree: Tree,
    routes: (tree: Tree) => readonly PublishedRoute[],
    progress: Progress,
  ): Promise<Publisher> {
    tree.prepare();
    const lock = Lock.take(tree.lock);
    try {
      const previous = await settle(tree, progress);
      const publisher = new Publisher(tree, lock, previous, routes(tree));
      if (previous === undefined && !tree.isEmpty()) {
        const { routes: ours } = publisher.#comparison;
        publisher.#found = await scan(tree, [...ours, ...inOtherLayout(ours)], progress);
      }
      return publisher;
    } catch (error) {
      try {
        if (!isSealed(tree)) rmSync(tree.stage, { recursive: true, force: true });
      } finally {
        lock.release();
      }
      throw asFailure(error, `output folder "${tree.out}"`);
    }
  }

  /**
   * Takes one file: staged if it is new or changed. Keys of a route must ascend.
   * @returns whether its content differs from the last snapshot's
   */
  put(routeName: string, key: number, body: string): boolean {
    const bytes = Buffer.from(body);
    return this.putHashed(routeName, key, bytes, hash('sha256', bytes, 'buffer'));
  }

  /**
   * The same, of what is encoded and hashed already.
   * @param write sees to it that it is written before the commit, and that its memory is used for nothing else
   *   until then; where nothing is said, it is written at once
   */
  putHashed(routeName: string, key: number, body: Uint8Array, sha256: Buffer, write?: Write): boolean {
    return this.#guarded(routeName, key, () => {
      const compared = this.#comparison.noteHash(routeName, key, body.length, sha256);
      this.#stage.take(key, compared, body, write);
      return compared.verdict === 'added' || compared.verdict === 'changed';
    });
  }

  /** Takes a route's only file, which lies below the scratch folder. */
  putStaged(routeName: string, { bytes, sha256 }: Content): void {
    this.#guarded(routeName, 0, () => {
      const compared = this.#comparison.noteHash(routeName, 0, bytes, Buffer.from(sha256, 'hex'));
      this.#stage.take(0, compared, join(this.scratch, compared.series.file(0)));
    });
  }

  /** What the last snapshot has as a route's only file, if that is not known to be damaged. */
  published(routeName: string): Content | undefined {
    const entry = this.#comparison.series(routeName).published(0);
    return entry && { bytes: entry.bytes, sha256: entry.hash.toString('hex') };
  }

  /** Takes a document over from the last snapshot as it is. */
  carry(routeName: string, key: number): void {
    if (!this.#comparison.series(routeName).take(key))
      throw new TypeError(`"${routeName}" ${key} is not published, so it can't be taken over`);
  }

  /** Documents of a route whose keys lie outside these ranges, in ascending order, stay as they are. */
  keepOutside(routeName: string, ranges: Iterable<KeyRange>): void {
    this.#comparison.series(routeName).keepOutside(ranges);
  }

  /** Whether any document of a route differs from the last snapshot's; no more of it may be put. */
  differs(routeName: string): boolean {
    const { added, changed, removed } = this.#finished(routeName).changes;
    return added + changed + removed > 0;
  }

  /** The first key of a route's documents; no more of it may be put. */
  firstKey(routeName: string): number | undefined {
    return this.#finished(routeName).firstKey;
  }

  #finished(routeName: string): Series {
    const series = this.#comparison.series(routeName);
    this.#guarded(routeName, 0, () => series.finish());
    return series;
  }

  /** Takes a document that the last commit has replaced, its content known by its hash. */
  putBack(routeName: string, key: number, bytes: number, sha256: Buffer): void {
    this.#guarded(routeName, key, () => {
      const compared = this.#comparison.noteHash(routeName, key, bytes, sha256);
      if (compared.verdict === 'unchanged') return;
      const file = keptFile(this.tree.previous, routeName, compared.series.file(key));
      if (!existsSync(file) || Buffer.compare(measure(file).hash, sha256) !== 0) {
        throw Failure.invalid(`"${file}" is missing or damaged, expected what was published`);
      }
      this.#stage.take(key, compared, file);
    });
  }

  /** What goes wrong with a document is told of it. */
  #guarded<T>(routeName: string, key: number, action: () => T): T {
    try {
      return action();
    } catch (error) {
      throw asFailure(error, `"${routeName}" ${key}`);
    }
  }

  /** Waits for files that are still being compressed: for all of them, or until only so many are left. */
  async settled(most = 0): Promise<void> {
    try {
      await this.#stage.settled(most);
    } catch (error) {
      throw asFailure(error, `output folder "${this.tree.out}"`);
    }
  }

  /** No more files, and all of them settled: what the build comes to. */
  plan(): Plan {
    try {
      return (this.#plan ??= this.#makePlan());
    } catch (error) {
      throw asFailure(error, `output folder "${this.tree.out}"`);
    }
  }

  #makePlan(): Plan {
    const previous = this.previous;
    this.#sums = this.#comparison.seal();
    if (this.#found !== undefined) removeStrays(this.#comparison, this.#found, this.#stage);
    const outcome = this.#comparison.outcome();
    const { added, changed, removed } = outcome.changes;
    const touched = previous?.format !== FORMAT || added + changed + removed > 0;
    const digest = touched ? treeDigest(this.#stage.paths.ledger, this.#comparison.routes) : previous.digest;
    // Where snapshot.json was lost, the change lists still know how far the counting had come.
    const last = previous?.sequence ?? readChangeIndex(this.tree)[0]?.sequence ?? 0;
    return { ...outcome, sequence: last + (touched || outcome.moved > 0 ? 1 : 0), digest };
  }

  /** Stages the announcement and makes the staged files the published ones. @param discard see `apply` */
  async commit(announcement: Announcement, progress: Progress, discard?: Discard): Promise<void> {
    const { tree } = this;
    const { sequence, changes } = this.plan();
    try {
      writeFileSync(this.#stage.paths.manifest, announcement.manifest, { flush: true });
      if (sequence === this.previous?.sequence) {
        // Nothing changed: only the time of the build is renewed, and a rollback still goes back to where it did.
        renameSync(this.#stage.paths.manifest, tree.manifest);
        if (this.takedown.isOne) forgetPrevious(tree);
        if (this.reuse.isNews(this.#sums)) {
          // The next build is to know what the documents are made of now, though they came out the same.
          writeLedgerIndex(this.#stage.paths.ledger, this.#described);
          replaceLedger(tree, this.#stage.paths.ledger);
        }
        renewTold(tree, announcement.tell);
        this.abort();
        return;
      }
      this.#complete(announcement);
      seal(tree, sequence, this.previous !== undefined && this.takedown.isOne);
    } catch (error) {
      this.abort();
      throw asFailure(error, `output folder "${tree.out}"`);
    }
    try {
      progress.start('committing', changes.added + changes.changed + changes.removed, 'moves');
      await apply(tree, progress, discard);
      progress.finish();
    } catch (error) {
      throw asFailure(error, `output folder "${tree.out}"`);
    } finally {
      this.#lock.release();
    }
  }

  get #described(): LedgerIndex {
    const { digest } = this.plan();
    return { digest, ...this.reuse.described(this.#sums), ...this.takedown.described };
  }

  /** Stages what follows from everything else: the change list, its index, what they tell, and what a rollback needs. */
  #complete({ asOf, builtAt, kinds, tell }: Announcement): void {
    const { tree } = this;
    const { paths } = this.#stage;
    const { sequence, byRoute } = this.plan();
    if (this.previous !== undefined) linkSync(tree.manifest, join(paths.previous, 'snapshot.json'));
    this.#stage.finishLists();
    if (this.previous !== undefined) this.#stage.listFile(`changes/${sequence}.json`);
    const { changes, outdated } = stageChanges(tree, paths, this.previous?.sequence ?? null, {
      sequence,
      as_of: asOf,
      built_at: builtAt,
      counts: Object.fromEntries(
        Object.entries(kinds).map(([kind, route]) => {
          const { added = 0, changed = 0, removed = 0 } = byRoute.get(route) ?? {};
          return [kind, { added, changed, removed }];
        }),
      ),
    });
    for (const file of outdated) this.#stage.remove(file);
    writeLedgerIndex(paths.ledger, { ...this.#described, told: stageTold(this.#stage, tell(changes)) });
    this.#stage.finish();
  }

  /** Gives up before the commit: the published tree stays what it was. @param hurry somebody waits */
  abort(hurry = false): void {
    try {
      this.#comparison.close();
      this.#stage.discard(hurry);
      this.tree.vacate();
    } finally {
      this.#lock.release();
    }
  }
}
