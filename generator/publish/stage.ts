/**
 * The place where a commit is made ready: everything that needs room on the disk is done here, so that the commit
 * itself only renames and deletes.
 */
import { closeSync, existsSync, mkdirSync, openSync, readdirSync, rmSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { LineWriter, deleteFolder } from './files.js';
import type { Tree } from './tree.js';

/** The paths of a stage. */
export function stagePaths({ stage }: Tree) {
  return {
    /** New files at their places, and files that replace one of the same name, by route (see `RouteWriter`). */
    tree: join(stage, 'tree'),
    replacing: join(stage, 'replacing'),
    /** The next index, and how it differs from the published one: a folder for each hash file. */
    index: join(stage, 'index'),
    patches: join(stage, 'patches'),
    /** Files on their way to the stage. */
    scratch: join(stage, 'scratch'),
    /** What is put and removed, by route (see `ListWriter`). */
    lists: join(stage, 'lists'),
    /** The change list and its index, moved when the tree is complete. */
    changes: join(stage, 'changes'),
    manifest: join(stage, 'snapshot.json'),
    /** What the commit replaces. */
    previous: join(stage, 'previous'),
    /** What the last commit replaced, while it is deleted. */
    outdated: join(stage, 'outdated'),
    /** Room on the disk that the commit may need for folders that grow. */
    reserve: join(stage, 'reserve'),
    /** Written last: with it a stage is complete, and a commit that was interrupted goes on. */
    journal: join(stage, 'COMMIT'),
  } as const;
}

export type StagePaths = ReturnType<typeof stagePaths>;

/**
 * The lists of a commit: `puts` and `deletes` are parts of the change list, `removed` are files to delete, `files` those
 * that are put, `urls` all URLs whose response changes.
 */
export type ListName = 'puts' | 'deletes' | 'removed' | 'files' | 'urls';

/** The files of one of the lists in a folder of folders of lists. */
export function listFiles(folder: string, list: ListName): readonly string[] {
  if (!existsSync(folder)) return [];
  return readdirSync(folder)
    .toSorted()
    .map((part) => join(folder, part, list))
    .filter((file) => existsSync(file));
}

/** Writes lists below a folder. */
export class ListWriter {
  readonly #lists: Readonly<Record<ListName, LineWriter>>;

  /** @param part names those of this writer in the folder of all lists */
  constructor(lists: string, part: string) {
    const folder = join(lists, part);
    mkdirSync(folder, { recursive: true });
    const writer = (list: ListName, separator?: string) => new LineWriter(join(folder, list), separator);
    this.#lists = {
      puts: writer('puts', ',\n'),
      deletes: writer('deletes', ',\n'),
      removed: writer('removed'),
      files: writer('files'),
      urls: writer('urls'),
    };
  }

  put(put: { readonly path: string; readonly sha256: string; readonly bytes: number }): void {
    this.#lists.puts.write(JSON.stringify(put));
  }

  delete(path: string): void {
    this.#lists.deletes.write(JSON.stringify(path));
  }

  remove(file: string): void {
    this.#lists.removed.write(file);
  }

  file(file: string): void {
    this.#lists.files.write(file);
  }

  url(url: string): void {
    this.#lists.urls.write(url);
  }

  finish(): void {
    for (const list of Object.values(this.#lists)) list.finish();
  }

  close(): void {
    for (const list of Object.values(this.#lists)) list.close();
  }
}

/** Each file moved into a folder may make it grow by a block; of more folders than these, none grow at once. */
const RESERVED_FOLDERS = 1000;
const BLOCK_BYTES = 4096;
/** What a name takes in its folder, generously. */
const ENTRY_BYTES = 128;
/** Whoever presses Ctrl-C waits no longer than this for the stage to be cleaned: 400 ms. */
const BUDGET_MS = 400;

/** Makes a stage; what an earlier build left here unfinished is deleted. */
export function newStage(tree: Tree): StagePaths {
  const paths = stagePaths(tree);
  rmSync(tree.stage, { recursive: true, force: true });
  for (const folder of ['tree', 'replacing', 'index', 'patches', 'lists', 'changes', 'previous'] as const)
    mkdirSync(paths[folder], { recursive: true });
  return paths;
}

/** Takes the room that a commit may need for folders that grow. @param placed files that it moves into folders */
export function reserveRoom({ reserve }: StagePaths, placed: number): void {
  const folders = Math.min(placed, RESERVED_FOLDERS);
  const blocks = folders + Math.ceil((placed * ENTRY_BYTES) / BLOCK_BYTES);
  const descriptor = openSync(reserve, 'w');
  try {
    const block = Buffer.alloc(BLOCK_BYTES);
    for (let count = 0; count < blocks; count += 1) writeSync(descriptor, block);
  } finally {
    closeSync(descriptor);
  }
}

/** Deletes a stage; where somebody waits, only what a moment allows: the next build does the rest. */
export function discardStage({ stage }: Tree, isWaitedFor: boolean): void {
  if (isWaitedFor) deleteFolder(stage, BUDGET_MS);
  else rmSync(stage, { recursive: true, force: true });
}
