/**
 * What a snapshot publishes besides documents and snapshot.json: what leads there from the previous one
 * (list, bundle and index of changes), and the feed of snapshots. The digest leaves these out; the state
 * records the hashes of the feed.
 */
import { createHash, hash } from 'node:crypto';
import { rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Progress } from '../base/progress.js';
import { KEPT_LISTS, indexOf, withoutFiles, mostChangeBytes, downloadsOf } from './change-index.js';
import { FileWriter, chunksOf, readText } from '../base/files.js';
import { OwnFolder } from '../base/links.js';
import type { Announcement, FeedFile, NextSnapshot, RenderSnapshotFeed } from './plan.js';
import {
  INDEX_FILE,
  filesIn,
  readChangeIndex,
  untrackedFiles,
  listFile,
  bundleFile,
  type Change,
  type ChangeFile,
} from '../tree/changes.js';
import type { Tree } from '../tree/tree.js';
import { bundleParts, hasRoom, routePart, type BundleRoom, type StagePaths } from './stage.js';
import { Sink } from '../tree/sink.js';
import { GzipFile } from './gzip.js';
import { totalOf, type ComparedRoute } from '../state/next.js';
import { nextRoutes } from './compared-routes.js';
import type { Manifest } from '../tree/snapshot-json.js';
import { isDeepStrictEqual } from 'node:util';
import type { Described } from '../state/schema.js';
import type { OwnFile } from '../state/state.js';
import { isVariant, urlTemplate, urlsOf } from '../routes/route.js';

/** The SHA-256 of each file, in hex. */
const sumsOf = (files: readonly FeedFile[]): Record<string, string> =>
  Object.fromEntries(files.map(({ file, body }) => [file, hash('sha256', body)]));

/** What is staged besides documents, for the state. */
interface Announced {
  readonly own: readonly OwnFile[];
  /** The hashes of the feed. */
  readonly feed: Record<string, string>;
}

/** Stages them. */
export async function stageMade(
  snapshot: NextSnapshot,
  { kinds, snapshotFeed }: Announcement,
  progress: Progress,
): Promise<Announced> {
  const { tree, spec } = snapshot;
  const changes = await stageChanges(snapshot, kinds, progress);
  const feed = snapshotFeed(changes);
  const [writer, own] = [new FileWriter(spec.paths.tree), new OwnFolder(tree.out)];
  for (const { file, body } of feed) {
    own.pathOf(file);
    writer.write(file, Buffer.from(body));
  }
  return {
    own: [
      ...filesIn(changes.slice(0, 1)).map(({ file }) => ({
        name: file.slice(1),
        isPut: true,
        isCached: false,
      })),
      ...untrackedFiles(tree, changes).map((name) => ({ name, isPut: false, isCached: true })),
      ...feed.map(({ file }) => ({ name: file, isPut: true, isCached: true })),
    ],
    feed: sumsOf(feed),
  };
}

/** Stages the index, with list and bundle if they are kept. @returns the changes in it, newest first */
async function stageChanges(
  snapshot: NextSnapshot,
  kinds: Announcement['kinds'],
  progress: Progress,
): Promise<readonly Change[]> {
  const { tree, treeId, previous, manifest, spec, next, isTakedown } = snapshot;
  const { sequence, digest, as_of, built_at } = manifest;
  const published = readChangeIndex(tree);
  // Only an unbroken chain is useful; if the index was lost, a new one starts here.
  const isChain = published?.tree === treeId && published.sequence === previous?.sequence;
  const step = previous && {
    tree: treeId,
    from: previous.sequence,
    to: sequence,
    // As published: if the tree was altered since, copies of it were not.
    from_digest: isChain ? published.digest : previous.digest,
    to_digest: digest,
  };
  const counts = Object.fromEntries(
    Object.entries(kinds).map(([kind, name]) => {
      const route = spec.routes.get(name);
      const { added = 0, changed = 0, removed = 0 } = route === undefined ? {} : next.changesOf(route);
      return [kind, { added, changed, removed }];
    }),
  );
  const bundle = step && (await writeBundle(snapshot, step, progress));
  const list = bundle && writeList(snapshot, step);
  const newest: Change = {
    sequence,
    from: step?.from ?? null,
    from_digest: step?.from_digest ?? null,
    digest,
    as_of,
    built_at,
    counts,
    file: list?.file ?? null,
    bytes: list?.bytes ?? null,
    sha256: list?.sha256 ?? null,
    bundle: bundle ?? null,
  };
  const earlier = isChain ? published.changes : [];
  const all = [newest, ...(isTakedown ? earlier.map(withoutFiles) : earlier)].slice(0, KEPT_LISTS);
  const index = indexOf(manifest, all);
  writeFileSync(join(spec.paths.last, INDEX_FILE), JSON.stringify(index));
  if (!index.changes.includes(newest))
    for (const { file } of filesIn([newest])) rmSync(join(spec.paths.last, file));
  return index.changes;
}

// Change lists: what changed, for copies and caches that fetch documents themselves

/** The ends of a change list or bundle, in the words of its first line. */
interface ChangeStep {
  readonly tree: string;
  readonly from: number;
  readonly to: number;
  readonly from_digest: string;
  readonly to_digest: string;
}

/** Writes the staged change list of a snapshot. */
function writeList(snapshot: NextSnapshot, step: ChangeStep): ChangeFile {
  const file = listFile(step.to);
  const sink = new Sink(join(snapshot.spec.paths.last, file));
  const write = (text: string): void => sink.write(Buffer.from(text));
  const writeAll = (entries: Iterable<string>): void => {
    let separator = '';
    for (const entry of entries) {
      write(separator + entry);
      separator = ',\n';
    }
  };
  try {
    // One entry per line, so that it can be read as a stream.
    write(`${JSON.stringify(step).slice(0, -1)},"put":[\n`);
    writeAll(putEntries(snapshot));
    write('\n],"delete":[\n');
    writeAll(deletedPaths(snapshot));
    write('\n]}\n');
    return { file: `/${file}`, ...sink.finish() };
  } finally {
    sink.close();
  }
}

/** All routes that are compared, in the order of a change list: that of their names, each with a space. */
const byName = ({ spec }: NextSnapshot): readonly ComparedRoute[] =>
  [...spec.routes.values()].toSorted(({ route: a }, { route: b }) =>
    routePart(a.name, '') < routePart(b.name, '') ? -1 : 1,
  );

/** New and changed documents, as JSON. All variants of one are one entry: its checksum is over their lines of the digest. */
function* putEntries(snapshot: NextSnapshot): Generator<string> {
  const { next } = snapshot;
  for (const compared of byName(snapshot)) {
    const { added, changed } = next.changesOf(compared);
    if (added + changed === 0) continue;
    const { id, route } = compared;
    if (isVariant(route)) {
      const digest = createHash('sha256');
      for (const { text } of next.chunks(compared)) digest.update(text);
      const { documents, bytes } = next.summary(id);
      yield JSON.stringify({ path: urlTemplate(route), documents, sha256: digest.digest('hex'), bytes });
      continue;
    }
    const urls = urlsOf(route);
    for (const { key, bytes, hash: sum } of next.differences(id, 'put'))
      yield JSON.stringify({ path: urls(key)[0], sha256: sum?.toString('hex'), bytes });
  }
}

/** The paths of removed documents, as JSON, but of those that another route has now. */
function* deletedPaths(snapshot: NextSnapshot): Generator<string> {
  const { next, spec } = snapshot;
  for (const { id, route, isFormer } of byName(snapshot)) {
    const urls = urlsOf(route);
    const successor = isFormer
      ? [...spec.routes.values()].find((each) => !each.isFormer && each.route.path === route.path)
      : undefined;
    const found = successor && next.finder(successor.id);
    for (const key of next.removedKeys(id))
      if (found?.(key) === undefined) yield JSON.stringify(urls(key)[0]);
  }
}

// Bundles: the bodies of everything that changed, in one gzip file (RFC 1952) of one member, since
// browsers decompress no more. Its lines are JSON: the step, then each new or changed document, then each
// removed one

/**
 * Stages the bundle of a snapshot. If it has more bytes than a tenth of the tree, and compressed more
 * than its room, there is none: whoever follows takes the documents with less effort.
 * @returns undefined, and no file, if it were too large
 */
async function writeBundle(
  snapshot: NextSnapshot,
  step: ChangeStep,
  progress: Progress,
): Promise<ChangeFile | undefined> {
  const { bundle, paths } = snapshot.spec;
  if (bundle === undefined || !hasRoom(bundle)) return undefined;
  const name = bundleFile(step.to);
  const path = join(paths.last, name);
  const file = new GzipFile(path);
  const { added, changed, removed } = totalOf(
    [...snapshot.spec.routes.values()].map((route) => snapshot.next.changesOf(route)),
  );
  progress.start('bundling what changed, for copies', added + changed + removed, 'documents');
  try {
    file.line(JSON.stringify(step));
    for (const piece of piecesOf(snapshot)) {
      file.write(piece);
      const isAboveBoth = file.raw > snapshot.manifest.tree.bytes / 10 && file.bytes > bundle.compressed;
      if (isAboveBoth || file.bytes > mostChangeBytes(snapshot.manifest)) {
        file.close();
        rmSync(path);
        return undefined;
      }
      await progress.advance(linesIn(piece));
    }
    const { bytes, sha256 } = file.finish();
    return { file: `/${name}`, bytes, sha256 };
  } finally {
    file.close();
    progress.finish();
  }
}

/** The lines of the documents, in pieces, each of which is valid until the next. */
function* piecesOf(snapshot: NextSnapshot): Generator<Buffer> {
  const { spec } = snapshot;
  for (const { name } of nextRoutes(spec.routes))
    for (const part of bundleParts(spec.paths, name)) {
      yield* chunksOf(part);
      yield NEWLINE;
    }
  for (const path of deletedPaths(snapshot)) yield Buffer.from(`{"path":${path},"deleted":true}\n`);
}

const NEWLINE = Buffer.from('\n');

function linesIn(piece: Buffer): number {
  let lines = 0;
  for (let at = piece.indexOf(NEWLINE); at >= 0; at = piece.indexOf(NEWLINE, at + 1)) lines += 1;
  return lines;
}

/** The largest bundle of a small tree: 64 MiB. */
const BUNDLE_BYTES = 64 * 1024 * 1024;

/** Lines of JSON are not expected to be compressed by more than 16 to 1. */
const COMPRESSED_TO = 16;

/**
 * The room for staged lines: whatever has more is over both limits. A tree that more than doubles
 * changes by more than a tenth anyway.
 * @param compressed there is a bundle up to this size, compressed, or up to a tenth of the tree
 */
export const roomFor = ({ tree }: Pick<Manifest, 'tree'>, compressed = BUNDLE_BYTES): BundleRoom => ({
  compressed,
  staged: new BigInt64Array(new SharedArrayBuffer(BigInt64Array.BYTES_PER_ELEMENT)),
  most: BigInt(Math.ceil(Math.max(tree.bytes / 5, COMPRESSED_TO * compressed))),
});

// A build that changes no document

/** Stages what differs, besides snapshot.json. @returns the hashes of the feed, if they are known */
export function stageUnchanged(
  tree: Tree,
  { snapshotFeed: before }: Described,
  paths: StagePaths,
  manifest: Manifest,
  snapshotFeed: RenderSnapshotFeed,
): Described['snapshotFeed'] {
  const changes = readChangeIndex(tree);
  // If that is unreadable, a repair starts a new one.
  if (changes === undefined) return before;
  const feed = snapshotFeed(changes.changes);
  const [files, own] = [new FileWriter(paths.tree), new OwnFolder(tree.out)];
  for (const { file, body } of feed)
    if (readText(own.readable(file)) !== body) files.write(file, Buffer.from(body));
  const relabelled = { ...changes, ...downloadsOf(manifest) };
  if (!isDeepStrictEqual(changes, relabelled))
    files.write(INDEX_FILE, Buffer.from(JSON.stringify(relabelled)));
  return sumsOf(feed);
}
