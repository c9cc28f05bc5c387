/** Makes a copy of a published tree, or brings it up to date: fetch, stage, compare, commit. */
import { hash } from 'node:crypto';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { z } from 'zod';
import { Failure, addUnchangedNote, asFailure } from '../../base/errors.js';
import type { Verifier } from '../../base/keys.js';
import { ifExists, makeFolder, readJson } from '../../base/files.js';
import { backoffMs } from '../../base/portable.js';
import { completeCommit } from '../../publish/commit.js';
import { isSqliteError, reasonOf } from '../../base/sqlite/sqlite.js';
import type { Tree } from '../../tree/tree.js';
import { PATIENCE_MINUTES, boundsFor } from './bounds.js';
import { Client, MovedOn, type ClientEffects } from './client.js';
import { copy, type Copied } from './copy.js';
import { FetchedFiles, deleteFetched, type Run } from './files.js';
import { NotSignedYet } from './log.js';
import { SNAPSHOT_BYTES, parseOrigin } from './origin.js';

/** How often a copy is begun because the origin moves on. */
const TRIES = 100;
/** How often if its snapshot.json stays the same, and how often if that is not signed yet. */
const TRIES_UNCHANGED = 2;
const TRIES_UNSIGNED = 5;

export interface Mirrored extends Copied {
  readonly origin: string;
  readonly sequence: number;
  readonly digest: string;
  readonly asOf: string | null;
  readonly requests: number;
  /** In the bodies of responses. */
  readonly bytes: number;
}

/** What the state remembers: the ETag of the snapshot.json that the copy has. */
const recordSchema = z.object({ origin: z.string(), etag: z.string(), sha256: z.string() });
const recordFile = ({ mirror: folder }: Tree): string => join(folder, 'origin.json');

export interface MirrorOptions {
  /** Those of the origin's signed log; without any, it must have the keys of the first copy. */
  readonly keys?: readonly Verifier[];
  /** How long it may wait, in all, until something is received again. */
  readonly patienceMinutes?: number;
  /** Whether the copy is to have no files of the bulk downloads. */
  readonly withoutDownloads?: boolean;
}

/**
 * @param base an http or https URL without a path
 * @throws Failure invalid: the copy would not equal its origin; environment: network or disk; busy
 */
export async function mirror(
  base: URL,
  tree: Tree,
  effects: ClientEffects,
  { keys = [], patienceMinutes = PATIENCE_MINUTES, withoutDownloads = false }: MirrorOptions = {},
): Promise<Mirrored> {
  const { progress } = effects;
  await completeCommit(tree, progress);
  const client = new Client(base, 'mirror', effects, boundsFor(patienceMinutes));
  const run = { tree, client, files: new FetchedFiles(tree, client), progress, withoutDownloads };
  try {
    const copied = untilEqual(base.origin, run, keys).catch((error: unknown) => {
      throw error instanceof MovedOn
        ? Failure.invalid(`no copy equals ${base.origin}: ${error.message}`)
        : error;
    });
    return await addUnchangedNote(copied.finally(() => deleteFetched(tree)));
  } catch (error) {
    if (isSqliteError(error))
      throw Failure.environment(`state folder "${tree.state}" can't be written: ${reasonOf(error)}`);
    throw asFailure(error, `state folder "${tree.state}"`);
  } finally {
    client.close();
  }
}

/** Copies the snapshot that is published, and begins again if there is another one by then. @throws also MovedOn */
async function untilEqual(base: string, run: Run, keys: readonly Verifier[]): Promise<Mirrored> {
  const { tree, client, progress } = run;
  const held = ifExists(() => readFileSync(tree.manifest));
  let headers = conditionsFor(base, tree, held);
  let startsOver = false;
  /** The snapshot.json of the last attempt, and how often it failed. */
  let last: Buffer | undefined;
  let failures = 0;
  for (let tries = 1; ; tries += 1) {
    progress.start(`asking ${base}`, 0, 'bytes');
    const file = { path: '/snapshot.json', bucket: 'api', bytes: SNAPSHOT_BYTES } as const;
    const { status, content: received, etag } = await client.read(file, headers);
    const content = status === 304 && held !== undefined ? held : received;
    progress.stop();
    const origin = await progress.blocking(() => parseOrigin(content));
    client.copies(origin);
    if (last?.equals(content) !== true) failures = 0;
    try {
      const acceptsUnsigned = failures + 1 >= TRIES_UNSIGNED;
      const copied = await copy(run, { origin, content }, { startsOver, keys, acceptsUnsigned });
      const record = { origin: base, etag, sha256: hash('sha256', content) };
      makeFolder(tree.mirror);
      if (etag !== undefined) writeFileSync(recordFile(tree), JSON.stringify(record));
      const { sequence, digest, as_of: asOf } = origin;
      const { requests, bytes } = client;
      return { origin: base, sequence, digest, asOf, ...copied, requests, bytes };
    } catch (error) {
      if (!(error instanceof MovedOn)) throw error;
      progress.stop();
      failures += 1;
      const isLast = failures >= (error instanceof NotSignedYet ? TRIES_UNSIGNED : TRIES_UNCHANGED);
      if (tries >= TRIES || (isLast && startsOver)) throw error;
      startsOver ||= isLast;
      last = content;
      // An older response may come from a cache.
      headers = { 'Cache-Control': 'no-cache' };
      await client.wait(backoffMs(failures));
    }
  }
}

/** The headers of a request that gets a 304 if the origin's snapshot.json is the one that the copy has. */
function conditionsFor(base: string, tree: Tree, held: Buffer | undefined): Readonly<Record<string, string>> {
  const { data } = recordSchema.safeParse(readJson(recordFile(tree)));
  const isOfCopy = held !== undefined && data?.origin === base && data.sha256 === hash('sha256', held);
  return isOfCopy ? { 'If-None-Match': data.etag } : {};
}
