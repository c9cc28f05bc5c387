/**
 * Rendered files become the published tree, and what did not change is not touched. Until the commit the tree is
 * what it was; an interrupted commit is completed by whoever comes next.
 */
import { hash } from 'node:crypto';
import { linkSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Progress } from '../progress.js';
import type { Route } from '../routes.js';
import { stageChanges } from './changes.js';
import { apply, isSealed, seal } from './commit.js';
import { treeDigest } from './digest.js';
import { LedgerReader, LedgerWriter, soundLedger, writeLedgerIndex } from './ledger.js';
import { Lock } from './lock.js';
import { readManifest } from './manifest.js';
import type { Manifest, PublishedRoute } from './manifest.js';
import { rebuildLedger } from './rebuild.js';
import { Series } from './series.js';
import type { Changes, Gone, Verdict } from './series.js';
import { Stage } from './stage.js';
import { Tree, asFailure } from './tree.js';

/** What all files of a build come to, known before the commit. */
export interface Plan {
  /** The snapshot this one follows; undefined for the first. */
  readonly previous: Manifest | undefined;
  /** Counts the snapshots of this tree, from 1; a build that changes nothing makes no new one. */
  readonly sequence: number;
  readonly changes: Readonly<Changes>;
  readonly byRoute: ReadonlyMap<string, Readonly<Changes>>;
  /** Files and bytes of the tree, without snapshot.json and the change lists. */
  readonly files: number;
  readonly bytes: number;
  readonly digest: string;
  /** The lowest key of each route that has files. */
  readonly firstKeys: ReadonlyMap<string, number>;
}

/** What a commit says of itself to the world. */
export interface Announcement {
  /** The content of snapshot.json. */
  readonly manifest: string;
  readonly asOf: string | null;
  readonly builtAt: string;
  /** Kinds of records, by the name of the route that has one file for each. */
  readonly kinds: Readonly<Record<string, string>>;
}

/** Publishes one build into a tree: any number of `put`, `plan`, then `commit`; or `abort` before the commit. */
export class Publisher {
  readonly tree: Tree;
  readonly #lock: Lock;
  readonly #previous: Manifest | undefined;
  readonly #series: ReadonlyMap<string, Series>;
  readonly #stage: Stage;
  #plan: Plan | undefined;

  private constructor(
    tree: Tree,
    lock: Lock,
    previous: Manifest | undefined,
    routes: readonly PublishedRoute[],
  ) {
    this.tree = tree;
    this.#lock = lock;
    this.#previous = previous;
    this.#stage = new Stage(tree);
    // Routes that the last snapshot had and this one has not: all their files go.
    const forgotten = (previous?.routes ?? []).filter((old) => routes.every(({ name }) => name !== old.name));
    this.#series = new Map([
      ...routes.map((route) => [route.name, this.#seriesOf(route, true)] as const),
      ...forgotten.map((route) => [route.name, this.#seriesOf(route, false)] as const),
    ]);
  }

  #seriesOf(route: PublishedRoute, kept: boolean): Series {
    const previous = LedgerReader.open(this.tree.ledger, route.name);
    const next = kept ? new LedgerWriter(this.#stage.paths.ledger, route.name, route.file) : undefined;
    return new Series(route, previous, next, (gone) => this.#remove(route.name, gone));
  }

  /**
   * Takes the tree for one build, completes an interrupted commit, and makes sure of the ledger.
   * @param routes those that have files of the build; /snapshot.json and the change lists are the publisher's own
   * @throws Failure environment: the folder is somebody else's, in use by another build, or can't be written
   */
  static async open(out: string, routes: readonly Route[], progress: Progress): Promise<Publisher> {
    const tree = Tree.prepare(out);
    const lock = Lock.take(tree.lock);
    try {
      const previous = await settle(tree, progress);
      return new Publisher(tree, lock, previous, routes.filter(isRendered));
    } catch (error) {
      lock.release();
      throw asFailure(error, `output folder "${out}"`);
    }
  }

  /** Takes one file: staged if it is new or changed. Keys of a route must ascend. */
  put(routeName: string, key: number, body: string): void {
    const series = this.#seriesNamed(routeName);
    try {
      const bytes = Buffer.byteLength(body);
      const digest = hash('sha256', body, 'buffer');
      const verdict = series.note({ key, bytes, hash: digest });
      if (verdict !== 'unchanged') this.#change(series, key, verdict, { bytes, sha256: digest }, body);
    } catch (error) {
      throw asFailure(error, `"${series.file(key)}"`);
    }
  }

  /** Takes a file as it lies on the disk, its content known by its hash. */
  putFile(routeName: string, key: number, bytes: number, digest: Buffer, file: string): void {
    const series = this.#seriesNamed(routeName);
    const verdict = series.note({ key, bytes, hash: digest });
    if (verdict !== 'unchanged') this.#change(series, key, verdict, { bytes, sha256: digest }, { file });
  }

  #seriesNamed(name: string): Series {
    const series = this.#series.get(name);
    if (series === undefined) throw new TypeError(`no route is named "${name}"`);
    return series;
  }

  #change(
    series: Series,
    key: number,
    verdict: Exclude<Verdict, 'unchanged'>,
    { bytes, sha256 }: { bytes: number; sha256: Buffer },
    body: string | { readonly file: string },
  ): void {
    const file = series.file(key);
    const { name } = series.route;
    this.#stage.place(name, file, body);
    if (verdict !== 'moved')
      this.#stage.listPut({ path: series.url(key), sha256: sha256.toString('hex'), bytes });
    if (verdict === 'added') return;
    const oldFile = series.oldFile(key);
    this.#stage.keep(name, oldFile);
    // Until snapshot.json tells the new layout, requests are still led to the old place.
    if (oldFile !== file) this.#stage.remove(oldFile, true);
  }

  #remove(routeName: string, { url, file }: Gone): void {
    this.#stage.keep(routeName, file);
    this.#stage.remove(file);
    this.#stage.listDelete(url);
  }

  /** No more files: what the build comes to. */
  plan(): Plan {
    if (this.#plan !== undefined) return this.#plan;
    const all = [...this.#series.values()];
    for (const series of all) series.finish();
    const sum = (count: (series: Series) => number): number =>
      all.reduce((total, series) => total + count(series), 0);
    const changes: Changes = {
      added: sum((series) => series.changes.added),
      changed: sum((series) => series.changes.changed),
      removed: sum((series) => series.changes.removed),
      unchanged: sum((series) => series.changes.unchanged),
    };
    const sums = Object.fromEntries(
      all.flatMap((series) => {
        const checksum = series.seal();
        return checksum === undefined ? [] : [[series.route.name, checksum]];
      }),
    );
    const touched = changes.added + changes.changed + changes.removed > 0;
    const previous = this.#previous;
    const digest =
      touched || previous === undefined
        ? treeDigest(
            this.#stage.paths.ledger,
            all.map(({ route }) => route),
          )
        : previous.digest;
    writeLedgerIndex(this.#stage.paths.ledger, { digest, sums });
    const moved = all.some((series) => series.moves);
    this.#plan = {
      previous,
      sequence: (previous?.sequence ?? 0) + (touched || moved || previous === undefined ? 1 : 0),
      changes,
      byRoute: new Map(all.map(({ route, changes }) => [route.name, changes])),
      files: changes.added + changes.changed + changes.unchanged,
      bytes: sum((series) => series.bytes),
      digest,
      firstKeys: new Map(
        all.flatMap(({ route, firstKey }) => (firstKey === undefined ? [] : [[route.name, firstKey]])),
      ),
    };
    return this.#plan;
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
      progress.start('committing', changes.added + changes.changed + changes.removed, 'files');
      await apply(tree, progress);
      progress.finish();
    } catch (error) {
      throw asFailure(error, `output folder "${tree.out}"`);
    } finally {
      this.#lock.release();
    }
  }

  /** Stages what follows from everything else: the change list, its index, and what a rollback needs. */
  #complete({ asOf, builtAt, kinds }: Announcement): void {
    const { tree } = this;
    const { paths } = this.#stage;
    const { sequence, byRoute } = this.plan();
    if (this.#previous !== undefined) linkSync(tree.manifest, join(paths.previous, 'snapshot.json'));
    this.#stage.finishLists();
    const outdated = stageChanges(tree, paths, this.#previous?.sequence ?? null, {
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
    this.#stage.finish();
  }

  /** Gives up before the commit: the published tree stays what it was. */
  abort(): void {
    try {
      for (const series of this.#series.values()) series.close();
      this.#stage.discard();
    } finally {
      this.#lock.release();
    }
  }
}

/** Files that follow from a commit instead of from the register. */
const isRendered = ({ name }: PublishedRoute): boolean =>
  !['snapshot', 'changes', 'change-list'].includes(name);

/** Completes an interrupted commit and rebuilds a ledger that can't be relied on; returns the snapshot there is. */
export async function settle(tree: Tree, progress: Progress): Promise<Manifest | undefined> {
  if (isSealed(tree)) {
    progress.start('completing an interrupted commit', 0, 'files');
    await apply(tree, progress);
    progress.finish();
  }
  const manifest = readManifest(tree.manifest);
  if (manifest === undefined) {
    rmSync(tree.ledger, { recursive: true, force: true });
    return undefined;
  }
  const rendered = { ...manifest, routes: manifest.routes.filter(isRendered) };
  if (soundLedger(tree.ledger, manifest.digest)) return rendered;
  return { ...rendered, digest: await rebuildLedger(tree, rendered, progress) };
}
