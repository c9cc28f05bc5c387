/**
 * Rendered files become the published tree, and what did not change is not touched. Everything is staged first,
 * so that until the commit the tree is what it was; the commit renames and deletes, and writes snapshot.json last.
 */
import { hash } from 'node:crypto';
import { createReadStream, renameSync, rmSync, writeFileSync } from 'node:fs';
import { createInterface } from 'node:readline';
import { join } from 'node:path';
import { expand } from '../routes.js';
import type { Route } from '../routes.js';
import { FileWriter, LineWriter, deleteFile, moveInto } from './files.js';
import { LedgerReader, LedgerWriter, ledgerRoutes } from './ledger.js';
import { Tree, asFailure } from './tree.js';

/** How many files a commit touches, and how many it leaves alone. */
export interface Changes {
  added: number;
  changed: number;
  removed: number;
  unchanged: number;
}

/** What snapshot.json needs to know of the commit it belongs to. */
export interface Commit {
  /** Counts the snapshots of this tree, from 1; a build that changes nothing makes no new one. */
  readonly sequence: number;
  readonly changes: Readonly<Changes>;
  /** Files and bytes of the tree, without snapshot.json itself. */
  readonly files: number;
  readonly bytes: number;
  /** The lowest key of each route that has files. */
  readonly firstKeys: ReadonlyMap<string, number>;
}

/** One route's files, in order of the key, beside what the last snapshot had there. */
class Series {
  readonly #route: Route;
  readonly #previous: LedgerReader | undefined;
  readonly #next: LedgerWriter;
  readonly #removed: (file: string) => void;
  #last = -1;

  constructor(route: Route, tree: Tree, removed: (file: string) => void) {
    this.#route = route;
    this.#previous = LedgerReader.open(tree.ledger, route.name);
    this.#next = new LedgerWriter(join(tree.stage, 'ledger'), route.name, route.file);
    this.#removed = removed;
  }

  /** Notes a file and tells what the last snapshot had in its place. */
  note(key: number, bytes: number, digest: Uint8Array): 'added' | 'changed' | 'unchanged' {
    if (key <= this.#last) {
      throw new TypeError(
        `route "${this.#route.name}": file ${key} after ${this.#last}, expected each once, ascending`,
      );
    }
    this.#last = key;
    this.#next.add({ key, bytes, hash: digest });
    this.#removeUpTo(key);
    const old = this.#previous?.peek();
    if (old?.key !== key) return 'added';
    this.#previous?.next();
    if (this.#previous?.template !== this.#route.file) {
      // The file moves: another layout puts this route elsewhere.
      this.#removed(expand(this.#previous?.template ?? '', key));
      return 'added';
    }
    return Buffer.compare(old.hash, digest) === 0 ? 'unchanged' : 'changed';
  }

  #removeUpTo(key: number): void {
    const previous = this.#previous;
    for (let old = previous?.peek(); old !== undefined && old.key < key; old = previous?.peek()) {
      this.#removed(expand(previous?.template ?? '', old.key));
      previous?.next();
    }
  }

  finish(): void {
    this.#removeUpTo(Number.POSITIVE_INFINITY);
    this.close();
  }

  close(): void {
    this.#previous?.close();
    this.#next.close();
  }
}

/** Publishes one build into a tree: any number of `put`, then `commit`, or `abort` at any moment before. */
export class Publisher {
  readonly #tree: Tree;
  readonly #routes: ReadonlyMap<string, Route>;
  readonly #series = new Map<string, Series>();
  readonly #firstKeys = new Map<string, number>();
  readonly #staged: FileWriter;
  readonly #removals: LineWriter;
  readonly #changes: Changes = { added: 0, changed: 0, removed: 0, unchanged: 0 };
  #bytes = 0;

  private constructor(tree: Tree, routes: readonly Route[]) {
    this.#tree = tree;
    this.#routes = new Map(routes.map((route) => [route.name, route]));
    this.#staged = new FileWriter(join(tree.stage, 'tree'));
    this.#removals = new LineWriter(join(tree.stage, 'removed'));
  }

  /** @throws Failure environment: the folder is somebody else's, or can't be written */
  static open(out: string, routes: readonly Route[]): Publisher {
    return new Publisher(Tree.prepare(out), routes);
  }

  /** Takes one file: staged if it is new or changed. Keys of a route must ascend. */
  put(routeName: string, key: number, body: string): void {
    const route = this.#routes.get(routeName);
    if (route === undefined) throw new TypeError(`no route is named "${routeName}"`);
    try {
      const bytes = Buffer.byteLength(body);
      const what = this.#seriesOf(route).note(key, bytes, hash('sha256', body, 'buffer'));
      this.#bytes += bytes;
      this.#changes[what] += 1;
      if (!this.#firstKeys.has(routeName)) this.#firstKeys.set(routeName, key);
      if (what !== 'unchanged') this.#staged.write(routeName, expand(route.file, key), body);
    } catch (error) {
      throw asFailure(error, `"${expand(route.file, key)}"`);
    }
  }

  #seriesOf(route: Route): Series {
    const known = this.#series.get(route.name);
    if (known !== undefined) return known;
    const series = new Series(route, this.#tree, (file) => this.#remove(file));
    this.#series.set(route.name, series);
    return series;
  }

  #remove(file: string): void {
    this.#changes.removed += 1;
    this.#removals.write(file);
  }

  /** Makes the staged files the published ones. `manifest` says what snapshot.json will hold. */
  async commit(manifest: (commit: Commit) => string): Promise<Commit> {
    const tree = this.#tree;
    try {
      // A route without files keeps an empty ledger, so that its next first file is found to be new.
      for (const route of this.#routes.values()) if (route.name !== 'snapshot') this.#seriesOf(route);
      for (const series of this.#series.values()) series.finish();
      this.#removeForgottenRoutes();
      this.#removals.close();

      moveInto(join(tree.stage, 'tree'), tree.out);
      const removals = createInterface({ input: createReadStream(join(tree.stage, 'removed')) });
      for await (const file of removals) deleteFile(tree.out, file);
      rmSync(tree.ledger, { recursive: true, force: true });
      renameSync(join(tree.stage, 'ledger'), tree.ledger);

      const { added, changed, removed, unchanged } = this.#changes;
      const previous = tree.previous()?.sequence ?? 0;
      const commit: Commit = {
        sequence: previous + (added + changed + removed > 0 || previous === 0 ? 1 : 0),
        changes: this.#changes,
        files: added + changed + unchanged,
        bytes: this.#bytes,
        firstKeys: this.#firstKeys,
      };
      const staged = join(tree.stage, 'snapshot.json');
      writeFileSync(staged, manifest(commit), { flush: true });
      renameSync(staged, tree.manifest);
      rmSync(tree.stage, { recursive: true, force: true });
      return commit;
    } catch (error) {
      throw asFailure(error, `output folder "${tree.out}"`);
    }
  }

  /** Routes that the last snapshot had and this one has not. */
  #removeForgottenRoutes(): void {
    for (const name of ledgerRoutes(this.#tree.ledger)) {
      if (this.#routes.has(name)) continue;
      const reader = LedgerReader.open(this.#tree.ledger, name);
      for (let entry = reader?.peek(); entry !== undefined; entry = reader?.peek()) {
        this.#remove(expand(reader?.template ?? '', entry.key));
        reader?.next();
      }
      reader?.close();
    }
  }

  /** Gives up: the published tree stays what it was. */
  abort(): void {
    for (const series of this.#series.values()) series.close();
    this.#removals.close();
    rmSync(this.#tree.stage, { recursive: true, force: true });
  }
}
