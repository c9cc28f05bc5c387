/**
 * The digest of a tree: SHA-256 over one line a file, `SHA256  URL-path LF` (the format of sha256sum), sorted by
 * the bytes of the path. Whoever holds a copy can compute it with `sort` and `sha256sum`; layout plays no part.
 */
import { createHash } from 'node:crypto';
import { filler, urlTemplate } from '../routes.js';
import { LedgerReader } from './ledger.js';
import type { PublishedRoute } from './manifest.js';

/** Numbers of one length sort as text as they do by value, so a ledger is at most 16 sorted runs. */
const LONGEST_KEY = String(Number.MAX_SAFE_INTEGER).length;
/** 256 entries, 12 KiB: a dozen routes of 16 runs each stay below 3 MB. */
const RUN_BUFFER_ENTRIES = 256;
/** What is hashed at once: 64 KiB. */
const LINES_BYTES = 64 * 1024;
/** A SHA-256 in hex. */
const HASH_CHARACTERS = 64;

/** A run of a ledger whose paths come out sorted. */
class Run {
  readonly #reader: LedgerReader;
  readonly #url: (key: number) => string;
  /** The path under the cursor; undefined at the end. */
  path: string | undefined;

  constructor(reader: LedgerReader, url: (key: number) => string) {
    this.#reader = reader;
    this.#url = url;
    this.#read();
  }

  #read(): void {
    const key = this.#reader.peekKey();
    this.path = key === undefined ? undefined : this.#url(key);
  }

  /** Writes the hash of the file under the cursor. */
  writeHash(target: Uint8Array, offset: number): void {
    this.#reader.writeHash(target, offset);
  }

  next(): void {
    this.#reader.next();
    this.#read();
    if (this.path === undefined) this.#reader.close();
  }
}

function* runsOf(folder: string, route: PublishedRoute): Generator<Run> {
  const whole = LedgerReader.open(folder, route.name, 1);
  if (whole === undefined) return;
  const url = filler(urlTemplate(route));
  let start = 0;
  for (let length = 1; length <= LONGEST_KEY; length += 1) {
    const end = length === LONGEST_KEY ? whole.size : whole.countBelow(10 ** length);
    const reader = end > start ? LedgerReader.open(folder, route.name, RUN_BUFFER_ENTRIES) : undefined;
    reader?.restrict({ start, end });
    if (reader !== undefined) yield new Run(reader, url);
    start = end;
  }
  whole.close();
}

/** Paths are ASCII, where the order of JavaScript strings is that of their bytes. */
const before = (a: Run, b: Run): boolean => (a.path ?? '') < (b.path ?? '');

/** Calls for every file of a ledger, in order of the bytes of its URL path. Memory does not grow with the tree. */
function inOrder(
  folder: string,
  routes: readonly PublishedRoute[],
  take: (path: string, run: Run) => void,
): void {
  const runs = routes
    .flatMap((route) => [...runsOf(folder, route)])
    .toSorted((a, b) => (before(a, b) ? -1 : 1));
  for (let first = runs.at(0); first !== undefined; first = runs.at(0)) {
    if (first.path !== undefined) take(first.path, first);
    first.next();
    if (first.path === undefined) {
      runs.shift();
      continue;
    }
    // Mostly the same run goes on; otherwise it sinks to where it belongs.
    for (let at = 1; ; at += 1) {
      const other = runs[at];
      if (other === undefined || before(first, other)) break;
      runs[at - 1] = other;
      runs[at] = first;
    }
  }
}

/** The digest of the tree that a ledger describes, in hex. */
export function treeDigest(folder: string, routes: readonly PublishedRoute[]): string {
  const digest = createHash('sha256');
  const lines = Buffer.alloc(LINES_BYTES);
  let used = 0;
  inOrder(folder, routes, (path, run) => {
    const rest = `  ${path}\n`;
    if (used + HASH_CHARACTERS + rest.length > LINES_BYTES) {
      digest.update(lines.subarray(0, used));
      used = 0;
    }
    run.writeHash(lines, used);
    used += HASH_CHARACTERS;
    used += lines.write(rest, used, 'latin1');
  });
  return digest.update(lines.subarray(0, used)).digest('hex');
}
