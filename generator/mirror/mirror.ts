/** Makes a copy of a published tree, or brings it up to date: fetch, stage, compare, commit. */
import { hash } from 'node:crypto';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { z } from 'zod';
import type { Effects } from '../build.js';
import { addUnchangedNote } from '../build.js';
import { Failure, asFailure } from '../errors.js';
import type { Verifier } from '../log/note.js';
import type { Progress } from '../progress.js';
import { makeFolder, readJson } from '../files.js';
import { backoffMs } from '../portable.js';
import { completeCommit } from '../publish/recover.js';
import type { Tree } from '../tree/tree.js';
import { Client } from './client.js';
import { copy, deleteFetched, isWhole } from './copy.js';
import type { Copied } from './copy.js';
import { NotSignedYet } from './log.js';
import { MovedOn, SNAPSHOT_BYTES, StartOver, fetchBuffer, parseOrigin } from './origin.js';
import type { Origin } from './origin.js';

/** How often a copy is begun because the origin moves on, and how often if its snapshot.json stays. */
const TRIES = 5;
const TRIES_UNCHANGED = 2;

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

/**
 * @param base an http or https URL without a path
 * @param keys those of the origin's signed log; without any, it must have the keys of the first copy
 * @throws Failure invalid: the copy would not equal its origin; environment: network or disk; busy
 */
export async function mirror(
  base: URL,
  tree: Tree,
  { progress, generator }: Effects,
  keys: readonly Verifier[] = [],
): Promise<Mirrored> {
  await completeCommit(tree, progress);
  const client = new Client(base, `${generator.name}/${generator.version} (mirror)`, progress);
  try {
    return await addUnchangedNote(bringUpToDate(base.origin, tree, client, keys, progress));
  } catch (error) {
    throw asFailure(error, `state folder "${tree.state}"`);
  } finally {
    client.close();
  }
}

async function bringUpToDate(
  base: string,
  tree: Tree,
  client: Client,
  keys: readonly Verifier[],
  progress: Progress,
): Promise<Mirrored> {
  const published = existsSync(tree.manifest) ? readFileSync(tree.manifest) : undefined;
  const succeed = ({ sequence, digest, as_of: asOf }: Origin, copied: Copied): Mirrored => {
    deleteFetched(tree);
    const { requests, bytes } = client;
    return { origin: base, sequence, digest, asOf, ...copied, requests, bytes };
  };
  let headers = conditionsFor(base, tree, published);
  let startsOver = false;
  let last: Buffer | undefined;
  let unchanged = 0;
  for (let tries = 1; ; tries += 1) {
    progress.start(`asking ${base}`, 0, 'bytes');
    const response = await fetchBuffer(client, '/snapshot.json', { headers, most: SNAPSHOT_BYTES });
    progress.stop();
    const { content, etag } = response ?? { content: published ?? Buffer.alloc(0), etag: undefined };
    const origin = await progress.blocking(() => parseOrigin(content));
    client.limits.set(origin.limits);
    client.allow(origin.tree.bytes);
    try {
      const options = { startsOver, keys, acceptsUnsigned: tries >= TRIES };
      const copied = await copy(tree, client, { origin, content }, options, progress);
      const record = { origin: base, etag, sha256: hash('sha256', content) };
      makeFolder(tree.mirror);
      if (etag !== undefined) writeFileSync(recordFile(tree), JSON.stringify(record));
      return succeed(origin, copied);
    } catch (error) {
      if (error instanceof StartOver && !startsOver) {
        startsOver = true;
        continue;
      }
      if (!(error instanceof MovedOn || error instanceof StartOver)) throw error;
      unchanged = last?.equals(content) === true ? unchanged + 1 : 1;
      const isGivenUp = unchanged >= TRIES_UNCHANGED && !(error instanceof NotSignedYet);
      if (tries >= TRIES || isGivenUp) {
        throw Failure.invalid(`no copy equals ${base}: ${error.message}`);
      }
      last = content;
      // An older response may come from a cache.
      headers = { 'Cache-Control': 'no-cache' };
      await client.wait(backoffMs(tries));
    }
  }
}

/** The headers of a request that gets a 304 if the copy is up to date. */
function conditionsFor(
  base: string,
  tree: Tree,
  published: Buffer | undefined,
): Readonly<Record<string, string>> {
  if (published === undefined) return {};
  const { data } = recordSchema.safeParse(readJson(recordFile(tree)));
  const isOfCopy = data?.origin === base && data.sha256 === hash('sha256', published);
  return isOfCopy && isWhole(tree) ? { 'If-None-Match': data.etag } : {};
}
