/**
 * Collects what proves that a document is in the newest snapshot of a signed log. Browsers use this
 * file too: nothing here is of Node alone.
 */
import { Failure } from '../../../base/errors.js';
import { backoffMs, parseJson } from '../../../base/portable.js';
import { inclusionPath, subtreesOf, tilePartOf } from './subtrees.js';
import { TILE_WIDTH, entriesPath, tilePath } from './tiles.js';
import { base64Of, bytesOfBase64, parseChunks, parsePages, parseRoutes } from './chunk-text.js';
import { checkpointIn, parseEntry, proofText, splitEntries } from './text.js';
import { headOver, hex, leafHash, pathIn, rootOf, sha256, splitHashes } from './web-merkle.js';

/** Which document is meant, and what the route table says of it. */
export interface ProofRequest {
  /** As in the digest, with its query: `/api/v1/largest?limit=10`. */
  readonly path: string;
  /** The name of its route. */
  readonly route: string;
  /** Its key if the route has a parameter, and the form of its keys. */
  readonly key?: { readonly value: number; readonly parse: (text: string) => number } | undefined;
}

export interface ProofSource {
  /** A published file by its URL path; undefined if there is none. */
  readonly get: (path: string) => Promise<Uint8Array | undefined>;
  /** The document itself, of any size; undefined if there is none. */
  readonly document: (path: string) => Promise<HashedDocument | undefined>;
  /** Waits, before files are asked for again that were of different snapshots. */
  readonly wait: (ms: number) => Promise<void>;
}

export interface HashedDocument {
  /** Hexadecimal. */
  readonly sha256: string;
  /** Undefined if there are more bytes than a proof may hold. */
  readonly body: Uint8Array | undefined;
}

export interface Proven {
  /** The text of a .tlog-proof file. */
  readonly text: string;
  readonly sha256: string;
  /** Of the snapshot. */
  readonly sequence: number;
  /** Of its entry in the log. */
  readonly index: number;
  readonly origin: string;
}

/** A proof holds documents of at most 1 MiB. */
export const MOST_BODY_BYTES = 1024 * 1024;

/** How often files are asked for, and the first of the pauses, which double: 15 s in all. */
const TRIES = 5;

/** Files are not of one snapshot. It passes once a snapshot is published and caches have expired. */
class Mismatch extends Error {}

/** @throws Failure invalid: the tree has no log, or the document can't be found in it */
export async function prove(request: ProofRequest, source: ProofSource): Promise<Proven> {
  for (let tries = 1; ; tries += 1) {
    try {
      return await collect(request, source);
    } catch (error) {
      if (!(error instanceof Mismatch)) throw error;
      if (tries === TRIES) throw Failure.invalid(error.message);
      await source.wait(backoffMs(tries));
    }
  }
}

async function collect(request: ProofRequest, source: ProofSource): Promise<Proven> {
  const { path, route } = request;
  const log = logOf(textOf(await needed(source, '/snapshot.json')));
  const files = new Map<string, Uint8Array>();
  const file = async (name: string): Promise<Uint8Array> => {
    const content = files.get(name) ?? (await needed(source, `${log}/${name}`));
    files.set(name, content);
    return content;
  };
  const note = textOf(await file('checkpoint'));
  const { origin, size, root } = checkpointIn(note);
  if (size === 0) throw Failure.invalid('no snapshot is signed yet');
  const index = size - 1;
  const routes = textOf(await file('index/routes.txt'));
  const entry = await lastEntry(file, size);
  const { sequence, digest } = parseEntry(textOf(entry));
  if (hex(await sha256(utf8(routes))) !== digest) throw new Mismatch(moving(sequence));
  const { count = 0, root: head } = parseRoutes(routes).find(({ name }) => name === route) ?? {};
  const document = await source.document(path);
  const find = (key: ProofRequest['key']): Promise<FoundChunk | undefined> =>
    key === undefined
      ? onlyChunk(`${document?.sha256 ?? ''}  ${path}\n`)
      : chunkOf(key, (name) => file(`index/${route}/${name}`));
  const chunk = count === 0 ? undefined : await find(request.key);
  // The only chunk is made of the document, so it isn't the index that is of another snapshot.
  if (request.key !== undefined && chunk !== undefined && chunk.head !== head)
    throw new Mismatch(moving(sequence));
  const line = chunk?.text.split('\n').find((each) => each.slice(64) === `  ${path}`);
  const isListed = chunk?.head === head && line?.slice(0, 64) === document?.sha256;
  if (chunk === undefined || document === undefined || !isListed)
    throw different(document !== undefined, line !== undefined, path, sequence);

  const hashes = await logPath(file, size);
  if (base64Of(await rootOf(await leafHash(entry), index, size, hashes)) !== root)
    throw Failure.invalid(`the log is damaged: its tiles don’t lead to the checkpoint of size ${size}`);
  const text = proofText({
    index,
    hashes: hashes.map(base64Of),
    checkpoint: note,
    document: {
      path,
      body: bodyOf(document),
      chunk: chunk.text,
      leaf: chunk.leaf,
      leaves: chunk.leaves,
      hashes: chunk.hashes.map(base64Of),
      route,
      routes,
      entry: textOf(entry),
    },
  });
  return { text, sha256: document.sha256, sequence, index, origin };
}

const moving = (sequence: number): string =>
  `the files of the log are of different snapshots: the one after ${sequence} is being published, or a cache is older than another; try again in some minutes`;

/** What it means that a document is there, or listed, or both with different content. */
function different(isThere: boolean, isListed: boolean, path: string, sequence: number): Mismatch | Failure {
  if (!isThere && !isListed) return Failure.invalid(`signed snapshot ${sequence} has no document ${path}`);
  if (!isThere)
    return new Mismatch(
      `signed snapshot ${sequence} lists ${path}, which is not there: it was removed since`,
    );
  return new Mismatch(
    isListed
      ? `${path} is not as signed snapshot ${sequence} lists it: it is newer than that snapshot, or a cache has an older copy; try again in some minutes`
      : `${path} is not yet in a signed snapshot (the newest is ${sequence}), or it was removed and a cache still has it; try again in some minutes`,
  );
}

/** The path of the log. @param text the content of snapshot.json */
function logOf(text: string): string {
  const snapshot = parseJson(text);
  if (typeof snapshot !== 'object' || snapshot === null)
    throw Failure.invalid('/snapshot.json is invalid: expected an object in JSON');
  if (!('log' in snapshot)) throw Failure.invalid('the snapshots of this tree are not signed');
  const { log } = snapshot;
  const path = typeof log === 'object' && log !== null && 'path' in log ? log.path : undefined;
  if (typeof path === 'string' && /^\/log\/[0-9a-f]{16}$/.test(path)) return path;
  throw Failure.invalid('/snapshot.json is invalid: expected the path of the log in log.path');
}

async function needed({ get }: ProofSource, path: string): Promise<Uint8Array> {
  const content = await get(path);
  if (content !== undefined) return content;
  throw new Mismatch(`${path} is not there: a snapshot is being published, or the log is incomplete`);
}

type ReadFile = (name: string) => Promise<Uint8Array>;

/** A chunk that has a document's line if any does, and where it is among the chunks of its route. */
interface FoundChunk {
  readonly text: string;
  readonly leaf: number;
  readonly leaves: number;
  readonly hashes: readonly Uint8Array[];
  /** The head over all chunks that follows from these, in base64. */
  readonly head: string;
}

const onlyChunk = async (text: string): Promise<FoundChunk> => ({
  text,
  leaf: 0,
  leaves: 1,
  hashes: [],
  head: base64Of(await leafHash(utf8(text))),
});

/** @returns undefined if no chunk can have the key */
async function chunkOf(
  { value, parse }: NonNullable<ProofRequest['key']>,
  file: ReadFile,
): Promise<FoundChunk | undefined> {
  const pages = parsePages(textOf(await file('chunks.txt')));
  // Keys ascend.
  const isUpTo = ({ first }: { readonly first: string }): boolean => parse(first) <= value;
  const page = pages.findLastIndex(isUpTo);
  if (page < 0) return undefined;
  const chunks = parseChunks(textOf(await file(`chunks-${page}.txt`)));
  const at = chunks.findLastIndex(isUpTo);
  const chunk = chunks[at];
  // The list is of another snapshot than the list of lists; which of them is wrong shows next time.
  if (chunk === undefined) throw new Mismatch('the lists of chunks are of different snapshots');
  const text = textOf(await file(`${chunk.first}.txt`));
  const [leaf, leaves] = [page * TILE_WIDTH + at, pages.reduce((sum, { count }) => sum + count, 0)];
  // Lists are as long as tiles are wide, so a list is a subtree.
  const hashes = [
    ...(await pathIn(
      chunks.map((each) => bytesOfBase64(each.leaf)),
      at,
    )),
    ...(await pathIn(
      pages.map((each) => bytesOfBase64(each.head)),
      page,
    )),
  ];
  const head = base64Of(await rootOf(await leafHash(utf8(text)), leaf, leaves, hashes));
  return { text, leaf, leaves, hashes, head };
}

async function lastEntry(file: ReadFile, size: number): Promise<Uint8Array> {
  const at = (size - 1) % TILE_WIDTH;
  const bundle = await file(entriesPath(Math.floor((size - 1) / TILE_WIDTH), at + 1));
  const entry = splitEntries(bundle)[at];
  if (entry === undefined) throw Failure.invalid('the log is damaged: a bundle has too few entries');
  return entry;
}

/** The hashes that prove the newest entry to be in the log, from its tiles. */
async function logPath(file: ReadFile, size: number): Promise<Uint8Array[]> {
  const hashes = [];
  // All that is to the left of the newest entry are complete subtrees.
  for (const subtree of inclusionPath(size - 1, size).flatMap(subtreesOf)) {
    const { level, n, width, first, count } = tilePartOf(subtree, size);
    const tile = await file(tilePath(level, n, width));
    hashes.push(await headOver(splitHashes(tile.subarray(first * 32, (first + count) * 32))));
  }
  return hashes;
}

/** The text of a document; null if it is not UTF-8, or too large. */
function bodyOf({ body }: HashedDocument): string | null {
  if (body === undefined) return null;
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(body);
  } catch {
    return null;
  }
}

/** A document that is in memory. */
export const hashed = async (content: Uint8Array): Promise<HashedDocument> => ({
  sha256: hex(await sha256(content)),
  body: content.length > MOST_BODY_BYTES ? undefined : content,
});

const utf8 = (text: string): Uint8Array => new TextEncoder().encode(text);
const textOf = (bytes: Uint8Array): string => new TextDecoder('utf-8', { ignoreBOM: true }).decode(bytes);
