/** One attempt to make the tree equal to a snapshot of its origin. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Failure, isInterrupt } from '../../base/errors.js';
import { ifExists, makeFolder } from '../../base/files.js';
import type { Verifier } from '../../base/keys.js';
import { publishing } from '../log/sign.js';
import { publishCopiedLog } from '../log/publish-entry.js';
import { isSound, lacksDownloads, withPublished } from '../../state/published.js';
import type { Changes } from '../../state/next.js';
import { Publisher } from '../../publish/publisher.js';
import { PATHS } from '../../routes/paths.js';
import type { ChangeIndex } from '../../tree/changes.js';
import { readManifest } from '../../tree/manifest.js';
import type { Manifest } from '../../tree/snapshot-json.js';
import { MovedOn } from './client.js';
import { fetchBundles, fetchDocuments, fetchFeeds, fetchMissing, foresee, stepsFrom } from './fetch.js';
import { fetchedIn, type Fetched, type Run } from './files.js';
import { isLeftOut } from '../../routes/exports.js';
import { DocumentLines } from './lines.js';
import { fetchCheckpoint, fetchLog, type LogReport } from './log.js';
import { JSON_BYTES, addresses, parseChangeIndex, type Origin, type OriginSnapshot } from './origin.js';
import { requireOurs } from './ours.js';
import { ownChanges, stageAll } from './stage.js';

/** How many paths a message names. */
const SHOWN = 5;

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

/** @throws MovedOn; Failure environment, busy, invalid, interrupted */
export async function copy(
  run: Run,
  snapshot: OriginSnapshot,
  { startsOver, keys, acceptsUnsigned }: CopyOptions,
): Promise<Copied> {
  const { tree, progress, withoutDownloads } = run;
  const { origin, content } = snapshot;
  const { sequence } = origin;
  const { id } = origin.tree;
  // Whoever gives a key trusts what it has signed, and nothing else.
  if (keys.length === 0) requireOurs(origin);
  const signed = await fetchCheckpoint(run, origin, keys);
  const published = ifExists(() => readFileSync(tree.manifest));
  const base = baseIn(run, id);
  const isAsAsked = lacksDownloads(tree) === withoutDownloads;
  const isHeld = base !== undefined && published?.equals(content) === true && isAsAsked;
  /** Of a snapshot that the copy has the log was accepted before. */
  const logOf = async () => {
    const log = await fetchLog(run, snapshot, signed, acceptsUnsigned || isHeld);
    if (log.report?.isSigned === false) requireOurs(origin);
    return log;
  };
  if (isHeld && signed?.isHeld !== false)
    return { fetched: 'nothing', changes: null, log: (await logOf()).report };
  if (base !== undefined && base.sequence > sequence)
    throw new MovedOn(`snapshot ${sequence} is older than snapshot ${base.sequence}, which the copy has`);
  foresee(run, origin, startsOver ? undefined : base?.sequence);
  // If the copy is given up, what was fetched stays: to the publisher, these folders are not new.
  tree.prepare();
  let log: Awaited<ReturnType<typeof fetchLog>> | undefined;
  const after = async (): Promise<void> => {
    const publishLog = (): void => {
      if (log !== undefined) publishCopiedLog(tree, id, log.files);
    };
    if (log?.report === null) publishLog();
    else await publishing(tree, progress, publishLog);
  };
  const opening = { routes: origin.routes, copyOf: id, withoutDownloads, after };
  const publisher = await Publisher.open(tree, opening, progress);
  let prepared: Awaited<ReturnType<typeof prepare>>;
  try {
    log = await logOf();
    const isFollowed = !startsOver && publisher.previous?.digest === base?.digest;
    prepared = await prepare(publisher, run, origin, isFollowed ? base : undefined);
  } catch (error) {
    publisher.abort(isInterrupt(error));
    throw error;
  }
  const { plan, own, fetched } = prepared;
  await publisher.commit({ ...plan, sequence }, { manifest: content, own }, progress);
  return { fetched, changes: plan.changes, log: log.report };
}

/**
 * The snapshot of the copy, if bundles can lead on from it: its state is sound, no repair has marked
 * documents as damaged, and it doesn't lack downloads that it is to have.
 * @param id the tree of the origin
 * @throws Failure environment: the published tree is not known to be a copy
 */
function baseIn({ tree, withoutDownloads }: Run, id: string): Manifest | undefined {
  const published = readManifest(tree.manifest);
  if (published === undefined) return undefined;
  const isOfOrigin = published.tree.id === id;
  const described = withPublished(tree, ({ newest }) => newest?.described);
  // Without its state, a copy can't be told from its origin.
  if (described?.isCopy !== true && !(isOfOrigin && described?.isCopy === undefined)) {
    throw Failure.environment(
      `"${tree.out}" holds a tree that is not known to be a copy: choose another folder with --out, ` +
        `or if it is one, delete it and its state "${tree.state}"`,
    );
  }
  const hasAll = withoutDownloads || described?.withoutDownloads === undefined;
  const isWhole = isSound(tree, published.digest) && described?.marked === undefined && hasAll;
  return isOfOrigin && isWhole ? published : undefined;
}

/** @param before what the copy has, if bundles may lead on from there */
async function prepare(publisher: Publisher, run: Run, origin: Origin, before: Manifest | undefined) {
  const { tree, progress } = run;
  const index = await fetchIndex(run, origin);
  const steps = before && stepsFrom(before, index);
  makeFolder(fetchedIn(tree));
  const file = join(fetchedIn(tree), 'lines.sqlite');
  const lines = new DocumentLines(file, origin.tree.bytes, addresses(origin), progress);
  try {
    const session = { ...run, lines, origin, index, taken: new Map<string, Fetched>() };
    const documents = steps === undefined ? await fetchDocuments(session) : undefined;
    if (steps !== undefined) await fetchBundles(session, steps);
    await fetchMissing(session);
    const feeds = await fetchFeeds(session);
    const { put, removed } = ownChanges(session);
    const restored = await stageAll(publisher, session, documents);
    const plan = await progress.blocking(() => publisher.plan(progress));
    if (plan.digest !== origin.digest) {
      const absent = lines.missing.flatMap(({ path, route, fetched }) =>
        fetched === undefined && !isLeftOut(run, route) ? [path] : [],
      );
      const note =
        absent.length === 0 ? '' : `; the origin has nothing at ${absent.slice(0, SHOWN).join(', ')}`;
      throw new MovedOn(`the copy has the digest ${plan.digest}, expected ${origin.digest}${note}`);
    }
    const followed = steps?.length === 0 ? 'nothing' : 'changes';
    const fetched: Copied['fetched'] = steps === undefined ? 'everything' : followed;
    return { fetched, plan, own: { put: new Map([...feeds, ...put, ...restored]), removed } };
  } finally {
    lines.close();
  }
}

/** The index of the changes of a snapshot. @throws MovedOn: it is of another */
async function fetchIndex(
  { client, progress }: Run,
  { tree, sequence, digest }: Origin,
): Promise<ChangeIndex> {
  const { content } = await client.read({ path: PATHS.changes, bucket: 'api', bytes: JSON_BYTES });
  const index = await progress.blocking(() => parseChangeIndex(content));
  if (index.tree === tree.id && index.sequence === sequence && index.digest === digest) return index;
  throw new MovedOn(`${PATHS.changes} is of snapshot ${index.sequence}, expected ${sequence}`);
}
