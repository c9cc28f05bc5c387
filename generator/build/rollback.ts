/** Publishes the previous snapshot as a new one, so that mirrors follow as usual. */
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { z } from 'zod';
import { Failure, addUnchangedNote, isInterrupt } from '../errors.js';
import { NO_HASH, entriesIn } from '../tree/hash-file.js';
import type { Entry } from '../tree/hash-file.js';
import type { Effects } from './build.js';
import { RECORD_ROUTES } from './removal-guard.js';
import { snapshotLog } from '../outputs/snapshot.js';
import { describeRoute } from '../outputs/snapshot.js';
import { snapshotFeedOf } from '../outputs/feeds/snapshots.js';
import type { Progress } from '../progress.js';
import { COMPRESSED_FROM_BYTES } from '../tree/codings.js';
import { takenDown } from '../publish/takedown.js';
import { isSound, readIndex } from '../tree/index-json.js';
import { measure } from '../tree/measure.js';
import { Publisher } from '../publish/publisher.js';
import type { AroundCommit, Plan } from '../publish/plan.js';
import { hasLog, isFormer, isRendered } from '../tree/published-routes.js';
import { readManifest } from '../tree/manifest.js';
import { FORMAT, parseSnapshot } from '../tree/snapshot-json.js';
import type { Manifest, Snapshot } from '../tree/snapshot-json.js';
import { keptFile } from '../publish/stage.js';
import type { Tree } from '../tree/tree.js';
import { LOG_HEADERS } from '../routes/headers.js';
import { LOG_ROUTES, ROUTES, filler } from '../routes/index.js';
import type { Route } from '../routes/index.js';
import { PATHS } from '../routes/paths.js';
import { timeAt } from '../schema/time.js';
import type { Words } from '../schema/words.js';
import type { LogKeys } from '../config/signing.js';

export interface RolledBack {
  /** The new snapshot's number, and that of the snapshot whose content it has. */
  readonly sequence: number;
  readonly contentOf: number;
  readonly asOf: string | null;
}

export interface RollbackOptions {
  /** The log that the next snapshot declares, and what is done around its commit. */
  readonly log?: LogKeys | undefined;
  readonly around?: AroundCommit;
  /** What the kinds are called in the feed of snapshots. */
  readonly words?: Words;
}

/**
 * Publishes what the last commit replaced. A second rollback undoes the first.
 * @throws Failure invalid: no previous snapshot is kept (the first has none, and a repair drops it)
 */
export async function rollback(
  tree: Tree,
  { progress, now }: Pick<Effects, 'progress' | 'now'>,
  { log, around = {}, words }: RollbackOptions = {},
): Promise<RolledBack> {
  tree.requirePublished();
  const opened = await addUnchangedNote(open(tree, log, around, progress));
  const { publisher, manifest } = opened;
  const written = asWritten(join(tree.previous, 'snapshot.json'));
  const plan = await addUnchangedNote(restore(opened, progress));
  const added = addedRoutes(manifest, publisher.previous, log);
  const builtAt = timeAt(now().getTime());
  const { sequence } = await publisher.commit(
    plan,
    {
      manifest: ({ treeId, sequence, digest, files, bytes }) =>
        JSON.stringify({
          ...written,
          sequence,
          built_at: builtAt,
          digest,
          tree: { id: treeId, files, bytes },
          compressed_from: COMPRESSED_FROM_BYTES,
          ...(log && { ...withLog(manifest), log: snapshotLog(log, treeId) }),
          routes: [...written.routes, ...added.map((route) => describeRoute(route))],
        }),
      kinds: RECORD_ROUTES,
      snapshotFeed: snapshotFeedOf(manifest, words),
    },
    progress,
  );
  return { sequence, contentOf: manifest.sequence, asOf: manifest.as_of };
}

const members = z.record(z.string(), z.unknown());

const namedFile = z.object({ name: z.string(), file: z.string() });

/** An earlier version had a route for each former asset, whose file is gone. */
const isKept = (route: z.infer<typeof namedFile>): boolean => !isFormer(route) || route.file.includes('{');

/** A snapshot.json with its members in their order, so that a build that changes nothing writes it again. */
function asWritten(file: string): Record<string, unknown> & { readonly routes: readonly unknown[] } {
  const all = members.parse(JSON.parse(readFileSync(file, 'utf8')));
  const routes = z.array(members).parse(all['routes']);
  return { ...all, routes: routes.filter((route) => isKept(namedFile.parse(route))) };
}

/** What a snapshot of an earlier version lacks, or one of the time before the log. */
const addedRoutes = (
  { routes }: Snapshot,
  replaced: Manifest | undefined,
  log: LogKeys | undefined,
): readonly Route[] => [
  ...(!routes.some(isFormer) && replaced?.routes.some(isFormer) === true ? ROUTES.filter(isFormer) : []),
  ...(log === undefined || hasLog(routes) ? [] : LOG_ROUTES),
];

const withLog = ({ headers, problems_below: below }: Snapshot): object => ({
  headers: { ...headers, content: { ...headers.content, ...LOG_HEADERS } },
  problems_below: [...new Set([...below, PATHS.log])],
});

interface OpenedRollback {
  readonly publisher: Publisher;
  /** The previous snapshot, and the folder of its replaced files. */
  readonly manifest: Snapshot;
  readonly kept: string;
}

/** Locks the tree and recovers it, which determines the last commit. */
async function open(
  tree: Tree,
  log: LogKeys | undefined,
  around: AroundCommit,
  progress: Progress,
): Promise<OpenedRollback> {
  const { out } = tree;
  let manifest: Snapshot | undefined;
  const publisher = await Publisher.open(
    tree,
    {
      ...around,
      routes: ({ previous }, replaced) => {
        const why = takenDown(tree);
        if (why !== undefined) {
          throw Failure.invalid(`"${out}" keeps no previous snapshot: ${why}`);
        }
        const kept = readManifest(join(previous, 'snapshot.json'));
        if (kept === undefined) throw Failure.invalid(`"${out}" keeps no previous snapshot to go back to`);
        if (kept.format !== FORMAT) {
          throw Failure.invalid(
            `the previous snapshot kept in "${out}" is of format ${kept.format}, expected ${FORMAT}: build again instead`,
          );
        }
        if (!isSound(join(previous, 'index'), kept.digest)) {
          throw Failure.invalid(
            `the previous snapshot kept in "${out}" is damaged, expected its whole index`,
          );
        }
        const snapshot = parseSnapshot(kept, `the previous snapshot kept in "${out}"`);
        manifest = { ...snapshot, routes: snapshot.routes.filter(isKept) };
        return [...manifest.routes, ...addedRoutes(manifest, replaced, log)];
      },
    },
    progress,
  );
  if (manifest === undefined) throw new TypeError('the publisher did not ask for its routes');
  return { publisher, manifest, kept: publisher.tree.previous };
}

async function restore({ publisher, manifest, kept }: OpenedRollback, progress: Progress): Promise<Plan> {
  try {
    progress.start('rolling back', manifest.tree.files, 'files');
    for (const { name, file } of manifest.routes.filter(isRendered)) {
      const fileOf = filler(file);
      for (const entry of entriesIn(join(kept, 'index', name))) {
        const source = keptFile(kept, name, fileOf(entry.key));
        publisher.writer.route(name).putFile(entry, () => restorable(publisher.tree, entry, source));
        await progress.advance(1);
      }
    }
    progress.finish();
    const { absent, counts } = readIndex(join(kept, 'index'));
    publisher.described = { ...publisher.described, absent, ...(counts && { counts }) };
    return await publisher.plan();
  } catch (error) {
    publisher.abort(isInterrupt(error));
    throw error;
  }
}

/** The file of what the last commit replaced. @throws Failure invalid: it was damaged */
function restorable({ out }: Tree, { hash }: Entry, source: string): string {
  if (hash.equals(NO_HASH)) {
    throw Failure.invalid(
      `the previous snapshot of "${out}" can't be restored: files of it were damaged before the repair`,
    );
  }
  if (existsSync(source) && measure(source).hash.equals(hash)) return source;
  throw Failure.invalid(`"${source}" is missing or damaged, expected what was published`);
}
