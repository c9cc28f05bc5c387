/** Downloaded files by the hash of their content, so that each is fetched once, whenever a run is killed. */
import { createHash } from 'node:crypto';
import {
  closeSync,
  existsSync,
  lstatSync,
  mkdirSync,
  openSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { chunksOf } from '../files.js';
import { measure } from '../tree/measure.js';
import type { Measured } from '../tree/measure.js';
import type { Bucket } from '../routes/index.js';
import type { Client, OriginResponse } from './client.js';
import { MovedOn } from './origin.js';

/** A file of the origin. */
export interface Wanted {
  readonly path: string;
  readonly bucket: Bucket;
  readonly bytes: number;
  /** Undefined if nothing says it; then `bytes` is the most that it can be. */
  readonly sha256: string | undefined;
}

export interface Fetched {
  readonly file: string;
  readonly bytes: number;
  readonly hash: Buffer;
}

/** 8 MiB, which take some milliseconds. */
const AT_ONCE_BYTES = 8 * 1024 * 1024;
/** Names the snapshot that the files are of. */
const SNAPSHOT = 'snapshot';

export class Objects {
  readonly #folder: string;
  readonly #earlier: string;
  readonly #client: Client;

  /**
   * @param parent has two folders: one for this snapshot, and one for that of the last attempts,
   * from which files are taken over. Those of yet earlier attempts are deleted
   */
  constructor(parent: string, client: Client, digest: string) {
    [this.#folder, this.#earlier] = objectFolders(parent);
    this.#client = client;
    const snapshot = join(this.#folder, SNAPSHOT);
    if (existsSync(snapshot) && readFileSync(snapshot, 'utf8') === digest) return;
    if (existsSync(snapshot)) {
      rmSync(this.#earlier, { recursive: true, force: true });
      renameSync(this.#folder, this.#earlier);
    }
    mkdirSync(this.#folder, { recursive: true });
    writeFileSync(snapshot, digest);
  }

  /** Takes over a file from the earlier snapshot. */
  #takeOver(name: string): void {
    const [file, earlier] = [this.path(name), join(this.#earlier, name)];
    if (!existsSync(file) && existsSync(earlier)) renameSync(earlier, file);
  }

  /** Where a file is or will be. */
  path(name: string): string {
    return join(this.#folder, name);
  }

  /** @returns a file with this content; undefined if it was not fetched, or was damaged since */
  async find(sha256: string): Promise<Fetched | undefined> {
    this.#takeOver(sha256);
    const file = this.path(sha256);
    if (!existsSync(file)) return undefined;
    const measured = await this.measure(file);
    return measured.hash.toString('hex') === sha256 ? { file, ...measured } : undefined;
  }

  /** Size and SHA-256 of a file of any size; signals are handled meanwhile. */
  async measure(file: string): Promise<Measured> {
    const found = lstatSync(file);
    if (!found.isFile() || found.size <= AT_ONCE_BYTES) return measure(file);
    const sum = createHash('sha256');
    let bytes = 0;
    for (const chunk of chunksOf(file)) {
      sum.update(chunk);
      bytes += chunk.length;
      await this.#client.pause();
    }
    return { bytes, hash: sum.digest() };
  }

  /** Fetches a file, or the rest of it. @throws MovedOn: it is not there, or has another content */
  async fetch(wanted: Wanted): Promise<Fetched> {
    const { path, bucket, bytes, sha256 } = wanted;
    const found = sha256 === undefined ? undefined : await this.find(sha256);
    if (found !== undefined) return found;
    const name = `${sha256 ?? 'unknown'}.partial`;
    const [partial, tag] = [this.path(name), this.path(`${name}.etag`)];
    if (sha256 !== undefined) for (const each of [name, `${name}.etag`]) this.#takeOver(each);
    // Without a hash, nothing would show that the parts are of two files.
    if (sha256 === undefined) rmSync(tag, { force: true });
    const start = (): number => (existsSync(tag) && existsSync(partial) ? statSync(partial).size : 0);
    if (sha256 === undefined || start() !== bytes) {
      await this.#client.get(
        () => {
          const from = start();
          const cost = this.#client.limits.costOf(bytes - from, bytes);
          if (from === 0) return { path, bucket, cost };
          const headers = { 'If-Range': readFileSync(tag, 'utf8') };
          return { path, bucket, cost, start: from, headers };
        },
        (response) => receive(response, wanted, partial, tag),
      );
    }
    const measured = await this.measure(partial);
    const hex = measured.hash.toString('hex');
    rmSync(tag, { force: true });
    if (hex !== (sha256 ?? hex)) {
      rmSync(partial);
      throw new MovedOn(`${path} has SHA-256 ${hex}, expected ${sha256 ?? ''}`);
    }
    renameSync(partial, this.path(hex));
    return { file: this.path(hex), ...measured };
  }
}

/** The folders of files: those of the snapshot that is copied, and those of an earlier attempt. */
export const objectFolders = (parent: string): readonly [string, string] => [
  join(parent, 'files'),
  join(parent, 'earlier-files'),
];

async function receive(
  { status, headers, chunks }: OriginResponse,
  { path, bytes, sha256 }: Wanted,
  partial: string,
  tag: string,
): Promise<void> {
  const range = /^bytes (\d+)-\d+\/(\d+)$/.exec(headers['content-range'] ?? '');
  const from = status === 206 && range !== null ? Number(range[1]) : 0;
  const isExpected =
    status === 206 ? from === sizeOf(partial) && range?.[2] === String(bytes) : status === 200;
  const length = headers['content-length'] === undefined ? undefined : Number(headers['content-length']);
  const isLength = length === undefined || (sha256 === undefined ? length <= bytes : from + length === bytes);
  if (!isExpected || !isLength) {
    for (const file of [partial, tag]) rmSync(file, { force: true });
    throw new MovedOn(
      `${path}: the response is ${status} with ${length ?? 'unknown'} bytes, expected 200 with ${bytes}`,
    );
  }
  if (status === 200) {
    rmSync(tag, { force: true });
    writeFileSync(partial, '');
    // A weak tag permits no ranges (RFC 9110, section 13.1.5).
    if (sha256 !== undefined && headers.etag?.startsWith('"') === true) writeFileSync(tag, headers.etag);
  }
  const descriptor = openSync(partial, 'a');
  try {
    let received = from;
    for await (const chunk of chunks) {
      received += chunk.length;
      if (received > bytes) throw new MovedOn(`${path} has more than ${bytes} bytes`);
      writeFileSync(descriptor, chunk);
    }
  } finally {
    closeSync(descriptor);
  }
}

const sizeOf = (file: string): number => (existsSync(file) ? statSync(file).size : 0);
