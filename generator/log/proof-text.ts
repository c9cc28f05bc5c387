/** Writes proofs (C2SP tlog-proof). Browsers use this file too. */
import { base64Of } from './chunk-text.js';

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
