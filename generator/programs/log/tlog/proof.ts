/** Reads and verifies proofs (C2SP tlog-proof), offline. */
import { isUtf8 } from 'node:buffer';
import { hash } from 'node:crypto';
import { z } from 'zod';
import { Failure } from '../../../base/errors.js';
import { parseJson } from '../../../base/portable.js';
import { leafHash, verifyInclusion } from './merkle.js';
import { openNote } from './note.js';
import type { Verifier } from '../../../base/keys.js';
import { HASH, INTEGER, bytesOfBase64, integerOf, parseRoutes } from './chunk-text.js';
import { PROOF_TYPE, parseCheckpoint, parseEntry, type DocumentPath, type Proof } from './text.js';

/** What a proof shows: the document had that content in that snapshot of the tree. */
export interface VerifiedProof {
  /** The path of the document's URL. */
  readonly path: string;
  /** Of its content, in hex. */
  readonly sha256: string;
  readonly tree: string;
  readonly sequence: number;
  readonly asOf: string | null;
  /** The log, and the number of the snapshot's entry. */
  readonly origin: string;
  readonly index: number;
  /** Keys whose signature of the checkpoint holds, as `NAME+ID`; the log's is one of them. */
  readonly signedBy: readonly string[];
  /** Whether the content is in the proof. Otherwise only one that was passed is compared. */
  readonly isBodyIncluded: boolean;
}

const count = z.int().nonnegative();
const extraSchema = z.strictObject({
  type: z.literal(PROOF_TYPE),
  path: z.string(),
  body: z.string().nullable(),
  chunk: z.string(),
  leaf: count,
  leaves: count,
  hashes: z.array(z.string()),
  route: z.string(),
  routes: z.string(),
  entry: z.string(),
});

const HEAD = new RegExp(
  String.raw`^c2sp\.org/tlog-proof@v1\nextra (\S+)\nindex ${INTEGER}\n((?:${HASH}\n)*)$`,
);

/** @throws Failure invalid: not a proof of a document; verifies nothing */
export function parseProof(text: string): Proof {
  const end = text.indexOf('\n\n');
  const [head, extra = '', index = '', hashes = ''] = HEAD.exec(text.slice(0, end + 1)) ?? [];
  if (head === undefined) {
    throw Failure.invalid(
      'the proof is invalid: expected lines c2sp.org/tlog-proof@v1, extra, index, hashes',
    );
  }
  return {
    index: integerOf(index, 'the index of the proof'),
    hashes: hashes.split('\n').slice(0, -1),
    checkpoint: text.slice(end + 2),
    document: parseExtra(extra),
  };
}

function parseExtra(encoded: string): DocumentPath {
  const bytes = Buffer.from(bytesOfBase64(encoded));
  const { data } = extraSchema.safeParse(isUtf8(bytes) ? parseJson(bytes.toString()) : undefined);
  if (data === undefined)
    throw Failure.invalid(`the proof is invalid: expected extra with the JSON of ${PROOF_TYPE}`);
  const { type: _, ...document } = data;
  return document;
}

const sha256 = (content: string | Uint8Array): string => hash('sha256', content);

/**
 * Verifies a proof, from the document to the signature of the checkpoint.
 * @param verifiers the log's keys, and any others; the origin must be the name of one that has signed
 * @param body the content to compare
 * @throws Failure invalid, with the reason
 */
export function verifyProof(text: string, verifiers: readonly Verifier[], body?: Uint8Array): VerifiedProof {
  const { index, hashes, checkpoint, document } = parseProof(text);
  const note = openNote(checkpoint, verifiers);
  const { origin, size, root } = parseCheckpoint(note.text);
  if (!note.verified.some(({ name }) => name === origin)) {
    throw Failure.invalid(
      'the checkpoint is not signed by the key of its log: expected a key named as its origin',
    );
  }
  const { tree, sequence, asOf, digest } = parseEntry(document.entry);
  if (!isIncluded(document.entry, index, size, hashes, root)) {
    throw Failure.invalid(`the entry of snapshot ${sequence} is not in the log at ${index}`);
  }
  if (sha256(document.routes) !== digest) {
    throw Failure.invalid(`the routes are not those of snapshot ${sequence}`);
  }
  const route = parseRoutes(document.routes).find(({ name }) => name === document.route);
  if (route === undefined) throw Failure.invalid(`snapshot ${sequence} has no such route`);
  if (!isIncluded(document.chunk, document.leaf, document.leaves, document.hashes, route.root)) {
    throw Failure.invalid(`the chunk is not in the route ${route.name} of snapshot ${sequence}`);
  }
  const content = listedContent(document);
  for (const [what, each] of [
    ['content', document.body],
    ['document to compare', body],
  ] as const) {
    if (each === null || each === undefined || sha256(each) === content) continue;
    throw Failure.invalid(`the ${what} is not that of snapshot ${sequence}: expected the SHA-256 ${content}`);
  }
  return {
    path: document.path,
    sha256: content,
    tree,
    sequence,
    asOf,
    origin,
    index,
    signedBy: note.verified.map(({ name, id }) => `${name}+${id}`),
    isBodyIncluded: document.body !== null,
  };
}

const isIncluded = (
  leaf: string,
  index: number,
  size: number,
  hashes: readonly string[],
  root: string,
): boolean => verifyInclusion(leafHash(leaf), index, size, hashes.map(bytesOfBase64), bytesOfBase64(root));

/** The SHA-256 that the chunk has for the document, in hex. */
function listedContent({ chunk, path }: DocumentPath): string {
  const listed = chunk.split('\n').filter((line) => line.slice(64) === `  ${path}`);
  const [line = ''] = listed;
  if (listed.length === 1 && /^[0-9a-f]{64} /.test(line)) return line.slice(0, 64);
  throw Failure.invalid('the chunk is not of the document: expected one line with its SHA-256 and path');
}
