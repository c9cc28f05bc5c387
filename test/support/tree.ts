/** A published folder as a value. */
import { createHash } from 'node:crypto';
import { cpSync, existsSync, readFileSync, readdirSync, rmSync, type Dirent } from 'node:fs';
import { join, relative, sep } from 'node:path';
import { Tree as PublishedTree } from '../../generator/tree/tree.js';

interface TreeFile {
  readonly text: string;
  readonly bytes: number;
  readonly sha256: string;
}

export function copyTree(from: string, to: string): void {
  // With their times, by which siblings are known to be of their documents.
  cpSync(from, to, { recursive: true, preserveTimestamps: true });
  cpSync(inState(from), inState(to), { recursive: true });
  // It says which tree it is of.
  rmSync(inState(to, 'tree'));
}

export function removeTree(out: string): void {
  for (const folder of [out, inState(out)]) rmSync(folder, { recursive: true, force: true });
}

/** A part of the private state of a tree. */
export const inState = (out: string, part = ''): string => join(new PublishedTree(out).state, part);

export type Tree = ReadonlyMap<string, TreeFile>;

/** Every file of a folder by its path, sorted, but for compressed siblings. A missing folder is empty. */
export function readTree(folder: string): Tree {
  const paths = pathsBelow(folder, (entry) => entry.isFile()).filter((path) => !isSibling(path));
  return new Map(
    paths.map((path) => {
      const content = readFileSync(join(folder, path));
      const sha256 = createHash('sha256').update(content).digest('hex');
      return [path, { text: content.toString('utf8'), bytes: content.length, sha256 }];
    }),
  );
}

/** The paths of some entries below a folder, sorted; a missing one has none. */
export const pathsBelow = (folder: string, isWanted: (entry: Dirent) => boolean): string[] =>
  (existsSync(folder) ? readdirSync(folder, { recursive: true, withFileTypes: true }) : [])
    .filter(isWanted)
    .map((entry) => relative(folder, join(entry.parentPath, entry.name)).split(sep).join('/'))
    .toSorted();

export const foldersOf = (folder: string): string[] => pathsBelow(folder, (entry) => entry.isDirectory());

/** Whether a file is a compressed sibling, which has no URL of its own; what is a download or bundle is no sibling. */
export const isSibling = (path: string): boolean => /(?<!\.(csv|ndjson|sha256|sqlite))\.gz$|\.br$/.test(path);

/** Whether a file is one of the bulk downloads or describes them. */
export const isDownload = (path: string): boolean => path.startsWith('downloads/');

/** Whether a file is a download, or a page that says how old the downloads are. */
export const speaksOfDownloads = (path: string): boolean =>
  isDownload(path) || /^(downloads|index)\.html(\.br|\.gz)?$/.test(path);

/** What says of itself which snapshot it is of, and is not counted among the files of one. */
export const isAnnouncement = (path: string): boolean =>
  path === 'snapshot.json' ||
  path.startsWith('changes/') ||
  /^feeds\/snapshots\.(atom|json)(\.gz|\.br)?$/.test(path);

/** What may differ between two builds of one register: the time of the build, its number, and what names them. */
export const isOfTheBuild = (path: string): boolean =>
  isAnnouncement(path) ||
  /^downloads(\/(register\.sqlite(\.gz)?|datapackage\.json|SHA256SUMS|README\.txt)|\.html(\.gz|\.br)?)$/.test(
    path,
  );

/** Whether a file is another in each month: a document, and the list that names it with its digest. */
export const isOfTheMonth = (path: string): boolean =>
  path === '.well-known/security.txt' || path === 'downloads/documents.sha256.gz';

/** Whether a file is for finding records: pages of ids, names and owners. */
export const isForFinding = (path: string): boolean => /^api\/v1\/(ids|lookup|owners)[./]/.test(path);

/** Whether a file answers one of the API's endpoints, and isn't made of them, as pages are. */
export const isEndpoint = (path: string): boolean =>
  /^(api\/v1\.json$|api\/v1\/(?!openapi\.json$)|group\/|user\/)/.test(path) && !isForFinding(path);

/** Whether a file is one more name of a record's, which counts as nothing. */
export const isAlias = (path: string): boolean => /^api\/v1\/\w+\/platform\//.test(path);

/** The part of a tree that follows from the register and the options alone. */
export const lasting = (tree: Tree): Tree => new Map([...tree].filter(([path]) => !isOfTheBuild(path)));

export function json(tree: Tree, path: string): unknown {
  const file = tree.get(path);
  if (file === undefined) throw new Error(`no "${path}" in the tree`);
  return JSON.parse(file.text);
}

type Hashes = Readonly<Record<string, string>>;

/** The names under which two records differ. */
export const namesThatDiffer = (found: Hashes, expected: Hashes): string[] =>
  Object.keys({ ...expected, ...found }).filter((name) => found[name] !== expected[name]);

/** How two records differ, in words; nobody reads hundreds of them. */
export const differing = (found: Hashes, expected: Hashes): string[] =>
  namesThatDiffer(found, expected)
    .slice(0, 12)
    .map((name) => `${name} is ${!(name in found) ? 'missing' : name in expected ? 'another' : 'extra'}`);
