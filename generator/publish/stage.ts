/**
 * The stage, where a commit is prepared. Everything that needs disk space happens here, so that the
 * commit only renames and deletes.
 */
import { closeSync, existsSync, mkdirSync, openSync, rmSync, writeSync } from 'node:fs';
import { basename, join } from 'node:path';
import { FileWriter, LineWriter, namesIn } from '../files.js';
import { deleteFolder } from './moves.js';
import { indexFiles } from '../tree/index-json.js';
import type { Tree } from '../tree/tree.js';

export function stagePaths({ stage, journal }: Pick<Tree, 'stage' | 'journal'>) {
  return {
    /** New files at their paths, and files that replace others, by route (see `RouteWriter`). */
    tree: join(stage, 'tree'),
    replacing: join(stage, 'replacing'),
    /** The next index, and a folder of patches for each hash file in it. */
    index: join(stage, 'index'),
    patches: join(stage, 'patches'),
    /** Temporary files. */
    scratch: join(stage, 'scratch'),
    /** What is put and removed, and the lines of the bundle, by route (see `RouteLists`). */
    lists: join(stage, 'lists'),
    bundle: join(stage, 'bundle'),
    /** The files that the commit puts and deletes (see changed-files.ts). */
    changed: join(stage, 'changed'),
    /** The change list and its index, moved after the documents. */
    last: join(stage, 'last'),
    changes: join(stage, 'last', 'changes'),
    manifest: join(stage, 'snapshot.json'),
    /** The rollback data: what the commit replaces. */
    previous: join(stage, 'previous'),
    /** In its place where a record was newly withheld. */
    withoutPrevious: join(stage, 'without-previous'),
    /** The old rollback data, while it is being deleted. */
    outdated: join(stage, 'outdated'),
    /** Disk space that the commit may need as folders grow. */
    reserve: join(stage, 'reserve'),
    journal,
  } as const;
}

export type StagePaths = ReturnType<typeof stagePaths>;

/**
 * A flat name for staging: the URL-encoded path. Most records have a folder of their own; creating,
 * reading and deleting it in the stage cost as much as everything else done for the file.
 */
export const flattened = (file: string): string => encodeURIComponent(file);

export const unflattened = (name: string): string => decodeURIComponent(name);

/** The folder of replaced files in the rollback data. */
export const keptIn = (previous: string): string => join(previous, 'files');

/** The path of a changed document in the stage. */
export const replacingFile = ({ replacing }: StagePaths, route: string, file: string): string =>
  join(replacing, route, flattened(file));

/** The path of a replaced file in the rollback data. */
export const keptFile = (previous: string, route: string, file: string): string =>
  join(keptIn(previous), route, flattened(file));

/**
 * The lists of a commit. `puts` and `deletes` are parts of the change list, `removed` has the files
 * to delete, `files` the files put, and `urls` all URLs whose response changes.
 */
export type ListName = 'puts' | 'deletes' | 'removed' | 'files' | 'urls';

/** What is in a folder, by ascending names; nothing if it does not exist. */
const partsOf = (folder: string): readonly string[] =>
  [...namesIn(folder)].toSorted().map((name) => join(folder, name));

/** The files of one list, from all of the folder's parts. */
export const listFiles = (folder: string, list: ListName): readonly string[] =>
  partsOf(folder)
    .map((part) => join(part, list))
    .filter((file) => existsSync(file));

/** The patches of a route's index, or of another hash file, in the order of their keys. */
export const patchesOf = ({ patches }: Pick<StagePaths, 'patches'>, name: string): readonly string[] =>
  partsOf(join(patches, name));

/** The name of a part of the lists of a route. A space sorts before all that is in names of routes. */
export const listPart = (route: string, part: string): string => `${route} ${part}`;

/** The lines of the bundle of a route. */
export const bundleParts = ({ bundle }: Pick<StagePaths, 'bundle'>, route: string): readonly string[] =>
  partsOf(bundle).filter((part) => basename(part).startsWith(listPart(route, '')));

export class ListWriter {
  readonly #lists: Readonly<Record<ListName, LineWriter>>;

  /** @param part names this writer's folder among the lists */
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

  /** @param line for `puts` and `deletes` JSON */
  add(list: ListName, line: string): void {
    this.#lists[list].write(line);
  }

  finish(): void {
    for (const list of Object.values(this.#lists)) list.finish();
  }

  close(): void {
    for (const list of Object.values(this.#lists)) list.close();
  }
}

/** How many folders may grow by a block at once, as files are moved into them. */
const RESERVED_FOLDERS = 1000;
const BLOCK_BYTES = 4096;
/** Upper estimate for a directory entry. */
const ENTRY_BYTES = 128;
/** The time for cleaning up after Ctrl-C: 400 ms. */
const BUDGET_MS = 400;

/** Creates a stage, in place of one that an earlier build left unfinished. */
export function newStage(tree: Pick<Tree, 'stage' | 'journal'>): StagePaths {
  const paths = stagePaths(tree);
  rmSync(tree.stage, { recursive: true, force: true });
  const { tree: files, replacing, index, patches, lists, bundle, changes, previous } = paths;
  for (const folder of [files, replacing, index, patches, lists, bundle, changes, previous])
    mkdirSync(folder, { recursive: true });
  return paths;
}

/** Reserves disk space for folders that grow. @param placed how many files a commit moves */
function reserveRoom({ reserve }: StagePaths, placed: number): void {
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

/** Deletes a stage. If somebody waits, the time is limited, and the next build deletes the rest. */
export function discardStage({ stage }: Tree, isWaitedFor: boolean): void {
  if (isWaitedFor) deleteFolder(stage, BUDGET_MS);
  else rmSync(stage, { recursive: true, force: true });
}

/**
 * Leaves in the stage what the commit needs, and for a first snapshot nothing that was found. The
 * index is replaced file by file, so the rollback data gets the old one here.
 */
export function finishStage({ index }: Tree, paths: StagePaths, isFirst: boolean, placed: number): void {
  for (const folder of [paths.patches, paths.bundle, paths.scratch])
    rmSync(folder, { recursive: true, force: true });
  if (!isFirst) {
    const kept = new FileWriter(join(paths.previous, 'index'));
    for (const name of indexFiles(index)) kept.link(name, join(index, name));
    reserveRoom(paths, placed);
    return;
  }
  // What was found may be withheld by now. No folder grows: a first snapshot moves whole ones.
  rmSync(paths.previous, { recursive: true });
  mkdirSync(paths.previous);
}
