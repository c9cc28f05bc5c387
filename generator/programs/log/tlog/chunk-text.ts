/**
 * The texts below `index/` of a signed log: the routes whose lines the digest is the hash of, and
 * their chunks. Browsers use this file too: nothing in it is of Node alone. Parsers accept only what
 * is written here, and throw Failure invalid.
 */
import { Failure } from '../../../base/errors.js';

/** A line of `index/routes.txt`: what is published at a route. */
export interface RouteHead {
  readonly name: string;
  /** Number of documents. */
  readonly count: number;
  /** The head over the route's chunks, in base64. */
  readonly root: string;
}

/** A line of `index/ROUTE/chunks-N.txt`. */
export interface ChunkLeaf {
  /** The key of the chunk's first document, as in its URL. */
  readonly first: string;
  /** The hash of the chunk, in base64. */
  readonly leaf: string;
}

/** A line of `index/ROUTE/chunks.txt`, for one of those files. */
export interface ChunkPage {
  /** The key of the first document of the first chunk, as in its URL. */
  readonly first: string;
  /** Number of chunks. */
  readonly count: number;
  /** The head over the chunks, in base64. */
  readonly head: string;
}

/** A group that matches base64 of 32 bytes. The last character has two unused bits, which must be zero. */
export const HASH = '([A-Za-z0-9+/]{42}[AEIMQUYcgkosw048]=)';
/** Decimal, without leading zeros. */
export const INTEGER = String.raw`(0|[1-9]\d{0,15})`;
const KEY = String.raw`([\w-][\w.-]*)`;

const COUNTED = new RegExp(`^${KEY} ${INTEGER} ${HASH}$`);
const UNCOUNTED = new RegExp(`^${KEY} ${HASH}$`);

/** @throws Failure invalid: beyond 2^53-1, or not in the form that has no leading zeros */
export function integerOf(digits: string, what: string): number {
  const integer = Number(digits);
  if (Number.isSafeInteger(integer) && String(integer) === digits && integer >= 0) return integer;
  throw Failure.invalid(`${what} is invalid: expected an integer up to 2^53-1, without leading zeros`);
}

/** The groups of each line's match. */
function linesOf(text: string, line: RegExp, expected: string): string[][] {
  const lines = text.split('\n');
  if (lines.pop() !== '') throw Failure.invalid(`expected lines ${expected}, each with an end of line`);
  return lines.map((each) => {
    const match = line.exec(each);
    if (match === null) throw Failure.invalid(`expected a line ${expected}`);
    return match.slice(1);
  });
}

/** @param text `index/routes.txt` */
export function parseRoutes(text: string): RouteHead[] {
  const routes = linesOf(text, COUNTED, 'ROUTE COUNT ROOT').map(([name = '', count = '', root = '']) => ({
    name,
    count: integerOf(count, `the count of the route ${name}`),
    root,
  }));
  if (new Set(routes.map(({ name }) => name)).size === routes.length) return routes;
  throw Failure.invalid('expected one line for each route');
}

export const chunkLine = ({ first, leaf }: ChunkLeaf): string => `${first} ${leaf}\n`;

/** @param text `index/ROUTE/chunks-N.txt` */
export const parseChunks = (text: string): ChunkLeaf[] =>
  linesOf(text, UNCOUNTED, 'FIRST HASH').map(([first = '', leaf = '']) => ({ first, leaf }));

export const pageLine = ({ first, count, head }: ChunkPage): string => `${first} ${count} ${head}\n`;

/** @param text `index/ROUTE/chunks.txt` */
export const parsePages = (text: string): ChunkPage[] =>
  linesOf(text, COUNTED, 'FIRST COUNT HEAD').map(([first = '', count = '', head = '']) => ({
    first,
    count: integerOf(count, 'the count of chunks'),
    head,
  }));

/** @throws Failure invalid: not base64, or not the one form of its bytes */
export function bytesOfBase64(text: string): Uint8Array {
  const bytes = decoded(text);
  if (bytes !== undefined && base64Of(bytes) === text) return bytes;
  throw Failure.invalid('expected base64 (RFC 4648, section 4)');
}

function decoded(text: string): Uint8Array | undefined {
  try {
    return Uint8Array.from(atob(text), (character) => character.charCodeAt(0));
  } catch {
    return undefined;
  }
}

export function base64Of(bytes: Uint8Array): string {
  // A call has room for some ten thousand arguments.
  let binary = '';
  for (let at = 0; at < bytes.length; at += 8192)
    binary += String.fromCharCode(...bytes.subarray(at, at + 8192));
  return btoa(binary);
}
