/**
 * The place where a commit is made ready: everything that needs room on the disk is done here, so that the commit
 * itself only renames and deletes.
 */
import { closeSync, existsSync, mkdirSync, openSync, readFileSync, rmSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { codingOf } from './codings.js';
import type { Coding } from './codings.js';
import type { Compared } from './comparison.js';
import { LineWriter, deleteFolder, linesOf } from './files.js';
import { Placement, keptIn } from './placement.js';
import type { Unwritten, Write } from './placement.js';
import type { PublishedRoute } from './manifest.js';
import type { Gone } from './series.js';
import type { Tree } from './tree.js';

/** The paths of a stage. */
export function stagePaths({ stage }: Tree) {
  return {
    /** New files, at their places, and changed ones, by series (see `Placement`). */
    tree: join(stage, 'tree'),
    replacing: join(stage, 'replacing'),
    ledger: join(stage, 'ledger'),
    /** Files on their way to the stage. */
    scratch: join(stage, 'scratch'),
    /** Files to delete: before snapshot.json changes, and after, when no route leads to them any more. */
    removed: join(stage, 'removed'),
    left: join(stage, 'left'),
    /** The change list and its index, moved when the tree is complete. */
    changes: join(stage, 'changes'),
    manifest: join(stage, 'snapshot.json'),
    /** What the commit replaces. */
    previous: join(stage, 'previous'),
    /** What the last commit replaced, while it is deleted. */
    outdated: join(stage, 'outdated'),
    /** The parts of the change list. */
    puts: join(stage, 'puts'),
    deletes: join(stage, 'deletes'),
    /** What lists.ts tells: names of the files that are put, and all URLs whose answer changes. */
    unreported: join(stage, 'unreported'),
    files: join(stage, 'unreported', 'files'),
    urls: join(stage, 'unreported', 'urls'),
    /** Room on the disk that the commit may need for folders that grow. */
    reserve: join(stage, 'reserve'),
    /** Written last: with it a stage is complete, and a commit that was interrupted goes on. */
    journal: join(stage, 'COMMIT'),
  } as const;
}

export type StagePaths = ReturnType<typeof stagePaths>;

/** A file of the tree as the change list names it. */
export interface Put {
  readonly path: string;
  readonly sha256: string;
  readonly bytes: number;
}

/** Each file moved into a folder may make it grow by a block; of more folders than the bucketed layout has, none grow at once. */
const RESERVED_FOLDERS = 1000;
const BLOCK_BYTES = 4096;
/** What a name takes in its folder, generously. */
const ENTRY_BYTES = 128;
/** Who presses Ctrl-C waits no longer than this for the stage to be cleaned: 400 ms. */
const HURRY_MS = 400;

/** Collects what a commit will do. */
export class Stage {
  readonly paths: StagePaths;
  readonly #tree: Tree;
  readonly placement: Placement;
  readonly #removed: LineWriter;
  readonly #left: LineWriter;
  readonly #puts: LineWriter;
  readonly #deletes: LineWriter;
  readonly #files: LineWriter;
  readonly #urls: LineWriter;
  readonly #follows: boolean;
  readonly #compressing: Promise<void>[] = [];
  #isDiscarded = false;
  #placed = 0;

  /**
   * Starts anew: what an earlier build left here unfinished is deleted.
   * @param follows whether there is a snapshot that this one follows: the first has no change list
   */
  constructor(tree: Tree, follows: boolean) {
    this.#tree = tree;
    this.#follows = follows;
    this.paths = stagePaths(tree);
    rmSync(tree.stage, { recursive: true, force: true });
    for (const folder of ['tree', 'replacing', 'ledger', 'changes', 'previous', 'unreported'] as const) {
      mkdirSync(this.paths[folder], { recursive: true });
    }
    this.placement = new Placement({
      added: this.paths.tree,
      replacing: this.paths.replacing,
      kept: keptIn(this.paths.previous),
      published: tree.out,
    });
    this.#removed = new LineWriter(this.paths.removed);
    this.#left = new LineWriter(this.paths.left);
    this.#puts = new LineWriter(this.paths.puts, ',\n');
    this.#deletes = new LineWriter(this.paths.deletes, ',\n');
    this.#files = new LineWriter(this.paths.files);
    this.#urls = new LineWriter(this.paths.urls);
    // What an earlier commit did and nobody was told, because its build did not end well.
    for (const [list, lines] of [
      ['files', this.#files],
      ['urls', this.#urls],
    ] as const) {
      const before = join(tree.unreported, list);
      if (existsSync(before)) for (const line of linesOf(before)) lines.write(line);
    }
  }

  /**
   * Stages what became of a document.
   * @param body its content, or a file that has it
   * @param write writes the content; at once, where nothing is said
   */
  take(
    key: number,
    { series, verdict, oldFiles, bytes, hash }: Compared,
    body: Uint8Array | string,
    write?: Write,
  ): void {
    if (verdict === 'unchanged') return;
    const { name } = series.route;
    const files = series.files(key, bytes);
    this.place(name, files, body, oldFiles, write);
    if (verdict !== 'moved') {
      if (this.#follows) this.listPut({ path: series.url(key), sha256: hash.toString('hex'), bytes });
      this.listUrls(series.urls(key));
    }
    for (const oldFile of oldFiles) {
      // Until snapshot.json tells the new layout, requests are still led to the old place.
      if (!files.includes(oldFile)) this.remove(oldFile, series.moves);
    }
  }

  /** Stages that a document goes. */
  drop({ name }: PublishedRoute, { urls, url, files }: Gone): void {
    for (const file of files) {
      this.placement.keep(name, file);
      this.remove(file);
    }
    this.listDelete(url);
    this.listUrls(urls);
  }

  /**
   * Stages a document under all its names. Its compressed siblings are there when `settled` says so.
   * @param files its own, then those of its compressed siblings
   * @param body its content, or a file that has it
   * @param replaced the published files that it takes the place of, which are kept
   * @param write writes the content; at once, where nothing is said
   */
  place(
    series: string,
    files: readonly string[],
    body: Uint8Array | string,
    replaced: readonly string[] = [],
    write: Write = (unwritten) => this.placement.write(unwritten),
  ): void {
    const [file = ''] = files;
    const [, ...siblings] = files;
    const rest = siblings.length === 0 ? replaced : replaced.filter((old) => !siblings.includes(old));
    if (typeof body === 'string') this.placement.link({ series, file, replaced: rest }, body);
    else write({ series, file, body, replaced: rest });
    for (const name of files) this.listFile(name);
    if (siblings.length === 0) return;
    // A copy, since it is compressed later, and the caller may use the memory again as soon as this returns.
    const content = typeof body === 'string' ? readFileSync(body) : Buffer.from(body);
    for (const name of siblings) {
      const coding = codingOf(name, file);
      if (coding === undefined) throw new TypeError(`"${name}" is no compressed form of "${file}"`);
      const sibling = { series, file: name, replaced: replaced.filter((old) => old === name) };
      const written = this.#compress(sibling, coding, content);
      // Whoever waits for it is told; until then nobody listens.
      written.catch(() => undefined);
      this.#compressing.push(written);
    }
  }

  async #compress(sibling: Omit<Unwritten, 'body'>, { encode }: Coding, content: Uint8Array): Promise<void> {
    const body = await encode(content);
    if (!this.#isDiscarded) this.placement.write({ ...sibling, body });
  }

  /**
   * Waits until no more than so many compressed files are outstanding.
   * @throws what prevented one from being written
   */
  async settled(most: number): Promise<void> {
    while (this.#compressing.length > most) {
      await this.#compressing.shift();
    }
  }

  /** The file goes; `late` when it only makes room for its own new place. */
  remove(file: string, late = false): void {
    (late ? this.#left : this.#removed).write(file);
  }

  listPut(put: Put): void {
    this.#puts.write(JSON.stringify(put));
  }

  listDelete(path: string): void {
    this.#deletes.write(JSON.stringify(path));
  }

  listUrls(urls: readonly string[]): void {
    for (const url of urls) this.#urls.write(url);
  }

  listFile(file: string): void {
    this.#placed += 1;
    this.#files.write(file);
  }

  /** Ends the parts of the change list, which can then be put together. */
  finishLists(): void {
    for (const lines of [this.#puts, this.#deletes]) lines.finish();
  }

  finish(): void {
    for (const lines of this.#lines()) lines.finish();
    // A first snapshot moves whole folders; what follows one goes into folders that are there.
    if (!this.#follows) return;
    const folders = Math.min(this.#placed, RESERVED_FOLDERS);
    const blocks = folders + Math.ceil((this.#placed * ENTRY_BYTES) / BLOCK_BYTES);
    const descriptor = openSync(this.paths.reserve, 'w');
    try {
      const block = Buffer.alloc(BLOCK_BYTES);
      for (let count = 0; count < blocks; count += 1) writeSync(descriptor, block);
    } finally {
      closeSync(descriptor);
    }
  }

  /** Deletes everything that was staged; when somebody waits, only what a moment allows: the next build does the rest. */
  discard(hurry = false): void {
    this.#isDiscarded = true;
    for (const lines of this.#lines()) lines.close();
    if (hurry) deleteFolder(this.#tree.stage, HURRY_MS);
    else rmSync(this.#tree.stage, { recursive: true, force: true });
  }

  #lines(): readonly LineWriter[] {
    return [this.#removed, this.#left, this.#puts, this.#deletes, this.#files, this.#urls];
  }
}
