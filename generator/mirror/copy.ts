/** One attempt to make the tree equal to a snapshot of its origin. */
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Failure, isInterrupt } from '../errors.js';
import { ifExists, makeFolder } from '../files.js';
import type { Verifier } from '../keys.js';
import { updateChunkIndex } from '../log/chunk-index.js';
import { publishCopiedLog } from '../log/publish-entry.js';
import type { Progress } from '../progress.js';
import { readChangeIndex } from '../tree/changes.js';
import type { ChangeIndex } from '../tree/changes.js';
import { copiedTrees, isCopy, recordCopies } from '../publish/copied.js';
import { isSound, readIndex } from '../tree/index-json.js';
import type { Changes } from '../publish/index-route.js';
import { Publisher } from '../publish/publisher.js';
import { readManifest } from '../tree/manifest.js';
import type { Manifest } from '../tree/snapshot-json.js';
import type { Tree } from '../tree/tree.js';
import { PATHS } from '../routes/paths.js';
import type { Client } from './client.js';
import { fetchBundles, fetchDocuments, fetchMissing, stepsFrom } from './fetch.js';
import type { Run } from './fetch.js';
import { fetchedIn } from './files.js';
import type { Fetched } from './files.js';
import { Damaged, Lines } from './lines.js';
import { fetchCheckpoint, fetchLog } from './log.js';
import { holdsLog } from './log-entries.js';
import type { CopiedLog, LogReport } from './log.js';
import { MovedOn, addresses, fetchBuffer, parseChangeIndex } from './origin.js';
import type { Origin, Snapshot } from './origin.js';
import { requireOurs } from './ours.js';
import { fetchFeeds, ownChanges } from './own-files.js';
import { stageAll } from './stage.js';

export interface Copied {
  readonly fetched: 'nothing' | 'changes' | 'everything';
  /** Numbers of documents; null if none was compared. */
  readonly changes: Readonly<Changes> | null;
  /** Null if the tree is not signed. */
  readonly log: LogReport | null;
}

export interface CopyOptions {
  /** Whether to copy everything, since the bundles can't be used. */
  readonly startsOver: boolean;
  /** The keys of the log that the operator gave. */
  readonly keys: readonly Verifier[];
  /** Whether the snapshot is accepted if it is not in the log yet, and the one before is. */
  readonly acceptsUnsigned: boolean;
}

/** Whether the index describes the tree, and no repair has marked documents in it as damaged. */
function isWhole(tree: Tree): boolean {
  const { digest } = readManifest(tree.manifest) ?? {};
  return (
    digest !== undefined &&
    isSound(tree.index, digest) &&
    Object.keys(readIndex(tree.index).routes).length > 0
  );
}

/** @throws MovedOn; Failure environment, busy, invalid, interrupted */
export async function copy(
  run: Run,
  snapshot: Snapshot,
  { startsOver, keys, acceptsUnsigned }: CopyOptions,
): Promise<Copied> {
  const { tree, client, progress } = run;
  const { origin, content } = snapshot;
  // Who gives a key trusts what it has signed, and nothing else.
  if (keys.length === 0) requireOurs(origin);
  const signed = await fetchCheckpoint(tree, client, origin, keys);
  const published = ifExists(() => readFileSync(tree.manifest));
  const before = readManifest(tree.manifest);
  const isSameTree = before?.tree.id === origin.tree.id;
  if (before !== undefined) requireCopy(tree, isSameTree);
  const isBase = before !== undefined && isSameTree && isWhole(tree);
  const isHeld = isBase && published?.equals(content) === true;
  if (isHeld && (!signed || (await holdsLog(tree, client, origin, signed.checkpoint, signed.note)))) {
    const { report } = await fetchLog(tree, client, snapshot, signed, true);
    if (report?.coversManifest === false) requireOurs(origin);
    return { fetched: 'nothing', changes: null, log: report };
  }
  if (isBase && before.sequence > origin.sequence) {
    throw new MovedOn(
      `snapshot ${origin.sequence} is older than snapshot ${before.sequence}, which the copy has`,
    );
  }
  // If the copy is given up, what was fetched stays: to the publisher, these folders are not new.
  tree.prepare();
  let log: CopiedLog | undefined;
  const publisher = await Publisher.open(
    tree,
    {
      routes: () => origin.routes,
      copyOf: origin.tree.id,
      after: async () => {
        recordCopies(tree, [origin.tree.id]);
        updateChunkIndex(tree);
        if (log !== undefined)
          publishCopiedLog(tree, { id: origin.tree.id, sequence: origin.sequence }, log.files);
      },
    },
    progress,
  );
  let prepared: Awaited<ReturnType<typeof prepare>>;
  try {
    // A snapshot that the copy has was accepted before.
    log = await fetchLog(tree, client, snapshot, signed, acceptsUnsigned || isHeld);
    if (log.report?.coversManifest !== true) requireOurs(origin);
    const isFollowed = isBase && !startsOver && publisher.previous?.digest === before.digest;
    prepared = await prepare(publisher, run, origin, isFollowed ? before : undefined);
    // A commit that is interrupted leaves one tree or the other.
    recordCopies(tree, [...copiedTrees(tree), origin.tree.id]);
  } catch (error) {
    publisher.abort(isInterrupt(error));
    throw error;
  }
  const { plan, own, fetched } = prepared;
  await publisher.commit({ ...plan, sequence: origin.sequence }, { manifest: content, own }, progress);
  return { fetched, changes: plan.changes, log: log.report };
}

/** @throws Failure environment: the published tree is not known to be a copy */
function requireCopy(tree: Tree, isOfOrigin: boolean): void {
  // Without its state, a copy can't be told from its origin.
  if (isCopy(tree) || (isOfOrigin && !existsSync(tree.index))) return;
  throw Failure.environment(
    `"${tree.out}" holds a tree that is not known to be a copy: choose another folder with --out, ` +
      `or if it is one, delete it and its state "${tree.state}"`,
  );
}

/** @param before what the copy has, if bundles may lead on from there */
async function prepare(publisher: Publisher, run: Run, origin: Origin, before: Manifest | undefined) {
  const { tree, client, progress } = run;
  publisher.next.hasChanges = false;
  // Then only the time of the build is another, or the snapshot that the downloads are of.
  const isSame = before?.sequence === origin.sequence && before.digest === origin.digest;
  const index = isSame ? heldIndex(tree, origin) : await fetchIndex(client, origin, progress);
  const steps = before && stepsFrom(before, index);
  makeFolder(fetchedIn(tree));
  const scratch = join(fetchedIn(tree), 'lines');
  const lines = new Lines(scratch, origin.tree.bytes, addresses(origin), () => client.pause());
  try {
    const session = { ...run, lines, origin, index, taken: new Map<string, Fetched>() };
    const documents = steps === undefined ? await fetchDocuments(session) : undefined;
    if (steps !== undefined) await fetchBundles(session, steps);
    await fetchMissing(session);
    const feeds = isSame ? [] : await fetchFeeds(session);
    const { put, removed } = ownChanges(session);
    await stageAll(publisher, origin, documents, lines, progress);
    const plan = await progress.blocking(() => publisher.plan());
    if (plan.digest !== origin.digest)
      throw new MovedOn(`the copy has the digest ${plan.digest}, expected ${origin.digest}`);
    const fetched: Copied['fetched'] = isSame ? 'nothing' : steps === undefined ? 'everything' : 'changes';
    return { fetched, plan, own: { put: new Map([...feeds, ...put]), removed } };
  } catch (error) {
    throw error instanceof Damaged
      ? new MovedOn(`the origin's downloads are damaged: ${error.message}`)
      : error;
  } finally {
    lines.close();
  }
}

/** The index of the changes that the copy has, with what the origin says of its downloads. */
function heldIndex(tree: Tree, { sequence, digest, tree: { id }, downloads }: Origin): ChangeIndex {
  const held = readChangeIndex(tree) ?? { tree: id, sequence, digest, oldest: sequence, changes: [] };
  return { ...held, downloads: { sequence: downloads.sequence, digest: downloads.digest } };
}

/** The index of the changes of a snapshot. @throws MovedOn: it is of another */
async function fetchIndex(
  client: Client,
  { tree, sequence, digest }: Origin,
  progress: Progress,
): Promise<ChangeIndex> {
  const { content } = await fetchBuffer(client, PATHS.changes);
  const index = await progress.blocking(() => parseChangeIndex(content));
  if (index.tree === tree.id && index.sequence === sequence && index.digest === digest) return index;
  throw new MovedOn(`${PATHS.changes} is of snapshot ${index.sequence}, expected ${sequence}`);
}
