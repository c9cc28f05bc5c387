/**
 * The texts of the log (C2SP tlog-tiles, tlog-checkpoint and tlog-proof). Browsers use this file too: nothing
 * in it is of Node alone. A parser accepts only what the formatter writes, so equal content has
 * equal bytes, except that a checkpoint may have lines of extensions. Parsers throw Failure invalid.
 */
import { Failure } from '../../../base/errors.js';
import { HASH, INTEGER, base64Of, integerOf } from './chunk-text.js';

/** The length of an entry is a 16-bit integer. */
export const MAX_ENTRY_BYTES = 65_535;

export interface Checkpoint {
  /** The name of the log, which is that of its keys. */
  readonly origin: string;
  /** Number of entries. */
  readonly size: number;
  /** The head of the tree of all entries, in base64. */
  readonly root: string;
}

/** An entry of the log: a published snapshot. */
export interface SnapshotEntry {
  /** The tree's id, 16 hex digits. */
  readonly tree: string;
  readonly sequence: number;
  /** ISO 8601 in UTC, to the second. Null if the register has no measurement. */
  readonly asOf: string | null;
  readonly documents: number;
  /** The SHA-256 of the lines of all routes, in hex. */
  readonly digest: string;
  /** The SHA-256, in hex, of snapshot.json with the value of `built_at` replaced by the empty string. */
  readonly manifest: string;
}

const CHECKPOINT = new RegExp(String.raw`^([^\n]+)\n${INTEGER}\n${HASH}\n(?:[^\n]+\n)*$`);
const ENTRY = new RegExp(
  String.raw`^register-api/snapshot@v2\ntree ([0-9a-f]{16})\nsequence ${INTEGER}\n` +
    String.raw`as_of (none|\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ)\n` +
    String.raw`documents ${INTEGER}\ndigest ([0-9a-f]{64})\nmanifest ([0-9a-f]{64})\n$`,
);
export const checkpointText = ({ origin, size, root }: Checkpoint): string => `${origin}\n${size}\n${root}\n`;

/** @param text the text of a note; ignores lines of extensions */
export function parseCheckpoint(text: string): Checkpoint {
  const [all, origin = '', size = '', root = ''] = CHECKPOINT.exec(text) ?? [];
  if (all === undefined)
    throw Failure.invalid('the checkpoint is invalid: expected lines ORIGIN, SIZE, ROOT');
  return { origin, size: integerOf(size, 'the size of the checkpoint'), root };
}

/** The checkpoint in a note, whoever has signed it. */
export const checkpointIn = (note: string): Checkpoint =>
  parseCheckpoint(note.slice(0, note.indexOf('\n\n') + 1));

export const entryText = ({ tree, sequence, asOf, documents, digest, manifest }: SnapshotEntry): string =>
  `register-api/snapshot@v2\ntree ${tree}\nsequence ${sequence}\nas_of ${asOf ?? 'none'}\n` +
  `documents ${documents}\ndigest ${digest}\nmanifest ${manifest}\n`;

export function parseEntry(text: string): SnapshotEntry {
  const [all, tree = '', sequence = '', asOf = '', documents = '', digest = '', manifest = ''] =
    ENTRY.exec(text) ?? [];
  if (all === undefined)
    throw Failure.invalid('the entry is invalid: expected the lines of register-api/snapshot@v2');
  return {
    tree,
    sequence: integerOf(sequence, 'the sequence of the entry'),
    asOf: asOf === 'none' ? null : asOf,
    documents: integerOf(documents, 'the documents of the entry'),
    digest,
    manifest,
  };
}

/** The entries of a bundle: each is its length as a big-endian 16-bit integer, then its bytes. */
export function splitEntries(bundle: Uint8Array): Uint8Array[] {
  const entries = [];
  for (let at = 0; at < bundle.length;) {
    const [high = 0, low = 0] = bundle.subarray(at, at + 2);
    const start = at + 2;
    at = start + high * 256 + low;
    if (at > bundle.length) throw Failure.invalid('the bundle of entries is cut');
    entries.push(bundle.subarray(start, at));
  }
  return entries;
}

export const PROOF_TYPE = 'register-api/document@v1';

/** What leads from a document to the entry of its snapshot; in the line `extra`, as JSON. */
export interface DocumentPath {
  /** The path of the document's URL, with its query. */
  readonly path: string;
  /** Null if it has more than 1 MiB or is not UTF-8. */
  readonly body: string | null;
  /** The lines of the document's chunk, `SHA256  /path` for each document. */
  readonly chunk: string;
  /** The chunk's number, and how many chunks the route has. */
  readonly leaf: number;
  readonly leaves: number;
  /** From the chunk to the route's root, in base64. */
  readonly hashes: readonly string[];
  readonly route: string;
  /** `index/routes.txt`. */
  readonly routes: string;
  /** The entry's text. */
  readonly entry: string;
}

export interface Proof {
  /** The entry's number. */
  readonly index: number;
  /** From the entry to the checkpoint's root, in base64. */
  readonly hashes: readonly string[];
  /** A signed note. */
  readonly checkpoint: string;
  readonly document: DocumentPath;
}

/** The text of a proof, for a file `*.tlog-proof`. */
export function proofText({ index, hashes, checkpoint, document }: Proof): string {
  const extra = new TextEncoder().encode(JSON.stringify({ type: PROOF_TYPE, ...document }));
  const lines = ['c2sp.org/tlog-proof@v1', `extra ${base64Of(extra)}`, `index ${index}`, ...hashes];
  return `${lines.join('\n')}\n\n${checkpoint}`;
}
