/** Reads single files of a published tree, from a service or from a folder. */
import { createHash } from 'node:crypto';
import { existsSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import type { Effects } from '../build/build.js';
import { Failure } from '../errors.js';
import type { HashedDocument } from '../log/prove.js';
import { follow } from '../progress.js';
import { chunksOf } from '../files.js';
import type { Bucket } from '../routes/index.js';

/** Where a file is, at a service and in a folder. */
export interface PublishedFile {
  readonly path: string;
  /** Relative to the tree. */
  readonly file: string;
  readonly bucket: Bucket;
}

export interface PublishedFiles {
  /**
   * The hash of a file, and its content up to `most` bytes; undefined if there is no such file.
   * @param longest how many bytes it may have at all
   * @throws Failure environment: it can't be read; invalid: it is longer
   */
  readonly read: (file: PublishedFile, most: number, longest: number) => Promise<HashedDocument | undefined>;
  readonly wait: (ms: number) => Promise<void>;
  /** The number of requests so far; 0 for a folder. */
  readonly requests: () => number;
  readonly close: () => void;
}

/** @param from the URL of a service, or a folder. @throws Failure environment: it is neither */
export async function openPublished(from: string, { generator, progress }: Effects): Promise<PublishedFiles> {
  if (/^https?:\/\//.test(from)) {
    const base = baseUrlOf(from);
    if (base === undefined)
      throw Failure.usage(`"${from}" is no base URL: expected one without a path, user name or query`);
    const { Client } = await import('../mirror/client.js');
    const client = new Client(base, `${generator.name}/${generator.version} (prove)`, progress);
    progress.start(`asking ${from}`, 0, 'bytes');
    return {
      read: ({ path, bucket }, most, longest) =>
        client.get(
          // All files must be of one snapshot.
          () => ({ path, bucket, headers: { 'Cache-Control': 'no-cache' } }),
          ({ status, chunks }) => hashing(path, status === 200 ? chunks : undefined, most, longest),
        ),
      wait: (ms) => client.wait(ms),
      requests: () => client.requests,
      close: () => {
        client.close();
        progress.stop();
      },
    };
  }
  if (!existsSync(join(from, 'snapshot.json')))
    throw Failure.environment(`"${from}" is no published tree and no http or https URL`);
  return {
    read: ({ path, file }, most, longest) => hashing(path, chunksIn(join(from, file)), most, longest),
    wait: async (ms) => {
      progress.start('waiting for the next snapshot', 0, 'files');
      await follow(setTimeout(ms), () => 0, progress);
      progress.stop();
    },
    requests: () => 0,
    close: () => undefined,
  };
}

/** The base URL of a service; undefined if a text is none. */
export function baseUrlOf(text: string): URL | undefined {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  return url && /^https?:$/.test(url.protocol) && url.href === `${url.origin}/` ? url : undefined;
}

/** The content of a file; undefined if there is none. */
const chunksIn = (file: string): Iterable<Buffer> | undefined =>
  statSync(file, { throwIfNoEntry: false })?.isFile() === true ? chunksOf(file) : undefined;

async function hashing(
  path: string,
  chunks: Iterable<Buffer> | AsyncIterable<Buffer> | undefined,
  most: number,
  longest: number,
): Promise<HashedDocument | undefined> {
  if (chunks === undefined) return undefined;
  const hash = createHash('sha256');
  const kept: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of chunks) {
    hash.update(chunk);
    bytes += chunk.length;
    if (bytes > longest) throw Failure.invalid(`${path} has more than ${longest} bytes`);
    // A folder's chunks share one buffer.
    if (bytes <= most) kept.push(Buffer.from(chunk));
  }
  return { sha256: hash.digest('hex'), body: bytes <= most ? Buffer.concat(kept) : undefined };
}
