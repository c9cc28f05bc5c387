/**
 * Rendered files become the published tree, and what did not change is not touched. Until the commit the tree is
 * what it was; an interrupted commit is completed by whoever comes next.
 */
import { existsSync, linkSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Failure, asFailure } from '../errors.js';
import type { Progress } from '../progress.js';
import { readChangeIndex, stageChanges } from './changes.js';
import { apply, isSealed, seal } from './commit.js';
import { Comparison } from './comparison.js';
import type { Compared, Outcome } from './comparison.js';
import { treeDigest } from './digest.js';
import { LedgerWriter, writeLedgerIndex } from './ledger.js';
import type { Content, Makings } from './ledger.js';
import { Lock } from './lock.js';
import type { Manifest, PublishedRoute } from './manifest.js';
import { measure, scan } from './scan.js';
import type { Scan } from './scan.js';
import type { Gone } from './series.js';
import { settle } from './settle.js';
import { Stage } from './stage.js';
import { inOtherLayout, removeStrays } from './strays.js';
import { renewTold, stageTold } from './told.js';
import type { Teller } from './told.js';
import { Tree } from './tree.js';

/** What all files of a build come to, known before the commit. */
export interface Plan extends Outcome {
  /** Counts the snapshots of this tree, from 1; a build that changes nothing makes no new one. */
  readonly sequence: number;
  readonly digest: string;
}

/** What a commit says of itself to the world. */
export interface Announcement {
  /** The content of snapshot.json. */
  readonly manifest: string;
  readonly asOf: string | null;
  readonly builtAt: string;
  /** Kinds of records, by the name of the route that has one file for each. */
  readonly kinds: Readonly<Record<string, string>>;
  readonly tell: Teller;
}

/** Publishes one build into a tree: any number of `put`, `plan`, then `commit`; or `abort` before the commit. */
export class Publisher {
  readonly tree: Tree;
  readonly #lock: Lock;
  /** The snapshot this one follows; undefined for the first. */
  readonly #previous: Manifest | undefined;
  readonly #makings: Makings;
  readonly #comparison: Comparison;
  readonly #stage: Stage;
  /** What lies in a tree that has no snapshot.json to tell. */
  #found: Scan | undefined;
  #plan: Plan | undefined;
  /** The checksums of the next ledger. */
  #sums: Record<string, string> = {};

  private constructor(
    tree: Tree,
    lock: Lock,
    previous: Manifest | undefined,
    routes: readonly PublishedRoute[],
    makings: Makings,
  ) {
    this.tree = tree;
    this.#lock = lock;
    this.#previous = previous;
    this.#makings = makings;
    this.#stage = new Stage(tree);
    this.#comparison = new Comparison(
      tree,
      previous,
      routes,
      (route, gone) => this.#remove(route, gone),
      (route) => new LedgerWriter(this.#stage.paths.ledger, route.name, route.file, makings.get(route.name)),
    );
  }

  /**
   * Takes the tree for one build, completes an interrupted commit, and makes sure of the ledger.
   * @throws Failure environment: the folder is somebody else's, in use by another build, or can't be written
   */
  static async open(
    out: string,
    routes: (tree: Tree) => readonly PublishedRoute[],
    progress: Progress,
    makings: Makings = new Map(),
  ): Promise<Publisher> {
    const tree = Tree.prepare(out);
    const lock = Lock.take(tree.lock);
    try {
      const previous = await settle(tree, progress);
      const publisher = new Publisher(tree, lock, previous, routes(tree), makings);
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
      throw asFailure(error, `output folder "${out}"`);
    }
  }

  /** Where files may be written that are then taken by `putStaged`. */
  get scratch(): string {
    return this.#stage.paths.scratch;
  }

  /**
   * Takes one file: staged if it is new or changed. Keys of a route must ascend.
   * @returns whether its content differs from the last snapshot's
   */
  put(routeName: string, key: number, body: string): boolean {
    return this.#guarded(`"${routeName}" ${key}`, () => {
      const compared = this.#comparison.note(routeName, key, body);
      this.#change(key, compared, body);
      return compared.verdict === 'added' || compared.verdict === 'changed';
    });
  }

  /** Takes a route's only file, which lies below the scratch folder. */
  putStaged(routeName: string, { bytes, sha256 }: Content): void {
    this.#guarded(`"${routeName}"`, () => {
      const compared = this.#comparison.noteHash(routeName, 0, bytes, Buffer.from(sha256, 'hex'));
      this.#change(0, compared, { folder: this.scratch });
    });
  }

  /** What the last snapshot has as a route's only file, if that is sound and made of the same. */
  published(routeName: string): Content | undefined {
    const series = this.#comparison.series(routeName);
    if (series.made !== this.#makings.get(routeName)) return undefined;
    const entry = series.published(0);
    return entry && { bytes: entry.bytes, sha256: entry.hash.toString('hex') };
  }

  /** Takes that file over as it is. */
  carry(routeName: string): void {
    const entry = this.#comparison.series(routeName).published(0);
    if (entry === undefined) throw new TypeError(`"${routeName}" has no file that could be taken over`);
    this.#comparison.noteHash(routeName, 0, entry.bytes, entry.hash);
  }

  /** Whether any document of a route differs from the last snapshot's; no more of it may be put. */
  differs(routeName: string): boolean {
    const series = this.#comparison.series(routeName);
    this.#guarded(`"${routeName}"`, () => series.finish());
    const { added, changed, removed } = series.changes;
    return added + changed + removed > 0;
  }

  /** Takes a document whose files lie below another folder, its content known by its hash. */
  putFile(routeName: string, key: number, bytes: number, sha256: Buffer, folder: string): void {
    this.#guarded(`"${routeName}" ${key}`, () => {
      const compared = this.#comparison.noteHash(routeName, key, bytes, sha256);
      if (compared.verdict === 'unchanged') return;
      const file = join(folder, compared.series.file(key));
      if (!existsSync(file) || Buffer.compare(measure(file).hash, sha256) !== 0) {
        throw Failure.invalid(`"${file}" is missing or damaged, expected what was published`);
      }
      this.#change(key, compared, { folder });
    });
  }

  #guarded<T>(what: string, action: () => T): T {
    try {
      return action();
    } catch (error) {
      throw asFailure(error, what);
    }
  }

  #change(
    key: number,
    { series, verdict, oldFiles, bytes, hash }: Compared,
    body: string | { readonly folder: string },
  ): void {
    if (verdict === 'unchanged') return;
    const { name } = series.route;
    const files = series.files(key, bytes);
    this.#stage.place(name, files, body);
    if (verdict !== 'moved') {
      this.#stage.listPut({ path: series.url(key), sha256: hash.toString('hex'), bytes });
      this.#stage.listUrls(series.urls(key));
    }
    for (const oldFile of oldFiles) {
      this.#stage.keep(name, oldFile);
      // Until snapshot.json tells the new layout, requests are still led to the old place.
      if (!files.includes(oldFile)) this.#stage.remove(oldFile, series.moves);
    }
  }

  #remove({ name }: PublishedRoute, { urls, url, files }: Gone): void {
    for (const file of files) {
      this.#stage.keep(name, file);
      this.#stage.remove(file);
    }
    this.#stage.listDelete(url);
    this.#stage.listUrls(urls);
  }

  /** No more files: what the build comes to. */
  plan(): Plan {
    this.#guarded(`output folder "${this.tree.out}"`, () => {
      this.#plan ??= this.#makePlan();
    });
    if (this.#plan === undefined) throw new TypeError('no plan was made');
    return this.#plan;
  }

  #makePlan(): Plan {
    const previous = this.#previous;
    this.#sums = this.#comparison.seal();
    if (this.#found !== undefined) removeStrays(this.#comparison, this.#found, this.#stage);
    const outcome = this.#comparison.outcome();
    const { added, changed, removed } = outcome.changes;
    const touched = previous === undefined || added + changed + removed > 0;
    const { ledger } = this.#stage.paths;
    const digest = touched ? treeDigest(ledger, this.#comparison.routes) : previous.digest;
    // Where snapshot.json was lost, the change lists still know how far the counting had come.
    const last = previous?.sequence ?? readChangeIndex(this.tree)[0]?.sequence ?? 0;
    return { ...outcome, sequence: last + (touched || outcome.moved > 0 ? 1 : 0), digest };
  }

  /** Stages the announcement and makes the staged files the published ones. */
  async commit(announcement: Announcement, progress: Progress): Promise<void> {
    const { tree } = this;
    const { sequence, changes } = this.plan();
    try {
      writeFileSync(this.#stage.paths.manifest, announcement.manifest, { flush: true });
      if (sequence === this.#previous?.sequence) {
        // Nothing changed: only the time of the build is renewed, and a rollback still goes back to where it did.
        renameSync(this.#stage.paths.manifest, tree.manifest);
        renewTold(tree, announcement.tell);
        this.abort();
        return;
      }
      this.#complete(announcement);
      seal(tree, sequence);
    } catch (error) {
      this.abort();
      throw asFailure(error, `output folder "${tree.out}"`);
    }
    try {
      progress.start('committing', changes.added + changes.changed + changes.removed, 'moves');
      await apply(tree, progress);
      progress.finish();
    } catch (error) {
      throw asFailure(error, `output folder "${tree.out}"`);
    } finally {
      this.#lock.release();
    }
  }

  /** Stages what follows from everything else: the change list, its index, what they tell, and what a rollback needs. */
  #complete({ asOf, builtAt, kinds, tell }: Announcement): void {
    const { tree } = this;
    const { paths } = this.#stage;
    const { sequence, byRoute, digest } = this.plan();
    if (this.#previous !== undefined) linkSync(tree.manifest, join(paths.previous, 'snapshot.json'));
    this.#stage.finishLists();
    if (this.#previous !== undefined) this.#stage.listFile(`changes/${sequence}.json`);
    const { changes, outdated } = stageChanges(tree, paths, this.#previous?.sequence ?? null, {
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
    writeLedgerIndex(paths.ledger, { digest, sums: this.#sums, told: stageTold(this.#stage, tell(changes)) });
    this.#stage.finish(this.#previous !== undefined);
  }

  /** Gives up before the commit: the published tree stays what it was. @param hurry somebody waits */
  abort(hurry = false): void {
    try {
      this.#comparison.close();
      this.#stage.discard(hurry);
    } finally {
      this.#lock.release();
    }
  }
}
