/** Following the changes of a register: every document that is new, changed or removed, with its body. */
import type { Document, RegisterClient, RequestOptions } from './client.js';

/** A snapshot that a copy holds. The first is that of a `download`. */
export interface Position {
  /** `tree.id` of `/snapshot.json`. */
  readonly tree: string;
  readonly sequence: number;
  readonly digest: string;
}

export type Change =
  /** A new or changed document, whose SHA-256 has been verified. */
  | { readonly kind: 'put'; readonly path: string; readonly sha256: string; readonly body: string }
  /** The same of a document that is no text, or a download: fetch it from its path. */
  | { readonly kind: 'fetch'; readonly path: string; readonly sha256: string }
  /** A further name of a document, whose body is that of the path `as`: it came before, or is in the copy. */
  | { readonly kind: 'same'; readonly path: string; readonly as: string; readonly sha256: string }
  | { readonly kind: 'deleted'; readonly path: string }
  /** All changes up to this snapshot have been yielded: store it with the copy. */
  | ({ readonly kind: 'reached' } & Position);

/** No changes lead from the position to the published snapshot: take the documents again. */
export class StartOverError extends Error {
  override readonly name = 'StartOverError';
}

/** A larger bundle is not held in memory. */
const MOST_BUNDLE_BYTES = 1024 * 1024 * 1024;
/** The most characters of a line, which has a document. */
const MOST_CHARACTERS = 64 * 1024 * 1024;

type Index = Document<'/changes/index.json'>;

/** A bundle, and the snapshot it leads to. */
interface Step {
  readonly to: number;
  readonly digest: string;
  readonly file: string;
  readonly bytes: number;
  readonly sha256: string;
}

/** The file of a download, and the snapshot that it is of. */
export interface Download {
  readonly bytes: ArrayBuffer;
  readonly position: Position;
}

/**
 * Fetches a file below `/downloads/` with the SHA-256 that `/snapshot.json` says. If a cache has
 * another, it asks once past caches.
 * @throws {ProblemError} and {ResponseError} as `get`
 * @throws {Error} if the file has another SHA-256 all the same; the message says for how long it may
 */
export async function download(
  client: RegisterClient,
  file: string,
  options: RequestOptions = {},
): Promise<Download> {
  const { tree, downloads } = await client.get('/snapshot.json', {}, options);
  const { sequence, digest } = downloads;
  const expected = downloads.files.find((each) => each.file === file);
  if (expected === undefined) throw new Error(`${file}: expected a file that /snapshot.json names`);
  let until = '';
  for (const query of ['', `?snapshot=${sequence}`]) {
    const response = await client.fetch(file + query, options);
    const bytes = await response.arrayBuffer();
    const position = { tree: tree.id, sequence, digest };
    if ((await sha256Of(bytes)) === expected.sha256) return { bytes, position };
    until = freshUntil(response.headers);
  }
  throw new Error(`${file} is not that of snapshot ${sequence}: caches may have another until ${until}`);
}

/** Until when caches may have a response; an hour is what the service says of downloads. */
function freshUntil(headers: Headers): string {
  const lifetime = /max-age=(\d+)/.exec(headers.get('cache-control') ?? '')?.[1] ?? 3600;
  const seconds = Number(lifetime) - (Number(headers.get('age')) || 0);
  return new Date(Date.now() + 1000 * Math.max(0, seconds)).toISOString();
}

/**
 * Yields what changed since a position, bundle by bundle. It ends at the snapshot that was published
 * when it began; without changes it makes one request. If a cache still has an earlier snapshot than
 * the copy, nothing is yielded: ask again later. Changes before a `reached` may be applied
 * again after an interruption, with the same result.
 * @throws {StartOverError} if the tree is another one, or the position is older than `oldest`
 * @throws {ProblemError} and {ResponseError} as `get`
 * @throws {Error} if a bundle or document doesn't have its SHA-256: try again later
 */
export async function* changesSince(
  client: RegisterClient,
  position: Position,
  options: RequestOptions = {},
): AsyncGenerator<Change, void, undefined> {
  const index = await client.get('/changes/index.json', {}, options);
  assertKnown(index, position);
  // A cache may have the index of an earlier snapshot than the copy: the next run finds what it lacks.
  let at = position;
  while (at.sequence < index.sequence) {
    const step = nextStep(index, at.sequence);
    const bytes = await bytesOf(await client.fetch(step.file, options), step);
    await assertHash(bytes, step.sha256, step.file);
    yield* changesIn(bytes, step, at);
    at = { tree: at.tree, sequence: step.to, digest: step.digest };
    yield { kind: 'reached', ...at };
  }
}

/** Throws unless bundles lead from the position to the published snapshot. */
function assertKnown(index: Index, { tree, sequence, digest }: Position): void {
  if (index.tree !== tree) throw new StartOverError(`the tree is "${index.tree}", and was "${tree}"`);
  if (sequence < index.oldest)
    throw new StartOverError(
      `the changes lead from snapshot ${index.oldest} to ${index.sequence}, and the copy has ${sequence}`,
    );
  const published =
    [index, ...index.changes].find((each) => each.sequence === sequence)?.digest ??
    index.changes.find(({ from }) => from === sequence)?.from_digest;
  if (published !== undefined && published !== null && published !== digest)
    throw new StartOverError(`snapshot ${sequence} has the digest ${published}, and the copy ${digest}`);
}

function nextStep({ changes }: Index, at: number): Step {
  const next = changes.find(({ sequence }) => sequence === at + 1);
  if (next?.bundle === null || next?.bundle === undefined)
    throw new StartOverError(`there is no bundle from snapshot ${at} to ${at + 1}`);
  if (next.bundle.bytes > MOST_BUNDLE_BYTES)
    throw new StartOverError(`the bundle from snapshot ${at} to ${at + 1} has ${next.bundle.bytes} bytes`);
  return { to: next.sequence, digest: next.digest, ...next.bundle };
}

/** The bytes of a bundle, of which there are no more than the list of changes says. */
async function bytesOf({ body }: Response, { file, bytes }: Step) {
  const all = new Uint8Array(bytes);
  const reader = body?.getReader();
  let at = 0;
  for (let read = await reader?.read(); read?.done === false; read = await reader?.read()) {
    if (at + read.value.length > bytes) {
      await reader?.cancel();
      throw new Error(`${file}: expected ${bytes} bytes, got more`);
    }
    all.set(read.value, at);
    at += read.value.length;
  }
  return all.subarray(0, at);
}

/** The changes in a bundle, whose first line says what it leads from and to. */
async function* changesIn(bytes: Bundle, step: Step, at: Position): AsyncGenerator<Change> {
  let isFirst = true;
  for await (const text of linesIn(bytes, step.file)) {
    const line: unknown = JSON.parse(text);
    if (!isObject(line)) throw new Error(`${step.file}: expected lines of objects, got ${text}`);
    if (isFirst) assertStep(line, step, at);
    else yield await changeIn(line, step.file);
    isFirst = false;
  }
  if (isFirst) throw new Error(`${step.file}: expected lines`);
}

function assertStep(line: Line, { to, digest, file }: Step, at: Position): void {
  const expected = {
    tree: at.tree,
    from: at.sequence,
    to,
    from_digest: at.digest,
    to_digest: digest,
  };
  for (const [name, value] of Object.entries(expected))
    if (line[name] !== value)
      throw new Error(`${file}: expected ${name} ${String(value)}, got ${String(line[name])}`);
}

type Line = Readonly<Record<string, unknown>>;

const isObject = (value: unknown): value is Line => typeof value === 'object' && value !== null;

/** Copies have files of these names. */
const isPath = (path: string): boolean => path.startsWith('/') && !/[/\\]\.\.?(?:[/\\]|$)/.test(path);

async function changeIn({ path, deleted, sha256, same_as: as, body }: Line, file: string): Promise<Change> {
  if (typeof path !== 'string' || !isPath(path))
    throw new Error(`${file}: expected a path that begins with "/" and has no "..", got "${String(path)}"`);
  if (deleted === true) return { kind: 'deleted', path };
  if (typeof sha256 !== 'string') throw new Error(`${file}: expected a SHA-256 of ${path}`);
  if (typeof as === 'string' && isPath(as)) return { kind: 'same', path, as, sha256 };
  if (typeof body !== 'string') return { kind: 'fetch', path, sha256 };
  await assertHash(new TextEncoder().encode(body), sha256, `${path} in ${file}`);
  return { kind: 'put', path, sha256, body };
}

/** Named so that versions of TypeScript with and without a generic `Uint8Array` agree. */
type Bytes = Parameters<typeof crypto.subtle.digest>[1];
type Bundle = Awaited<ReturnType<typeof bytesOf>>;

async function sha256Of(bytes: Bytes): Promise<string> {
  const hash = new Uint8Array(await crypto.subtle.digest('SHA-256', bytes));
  return Array.from(hash, (byte) => byte.toString(16).padStart(2, '0')).join('');
}

async function assertHash(bytes: Bytes, sha256: string, what: string): Promise<void> {
  const hex = await sha256Of(bytes);
  if (hex !== sha256) throw new Error(`${what}: expected the SHA-256 ${sha256}, got ${hex}`);
}

/** The lines of a gzip file. */
async function* linesIn(bytes: Bundle, file: string): AsyncGenerator<string> {
  const decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });
  const reader = new Blob([bytes]).stream().pipeThrough(new DecompressionStream('gzip')).getReader();
  // Since Node 22, the error of a cut stream has no message.
  const next = async (): ReturnType<typeof reader.read> =>
    reader.read().catch((cause: unknown) => {
      throw new Error(`${file}: expected a whole gzip file`, { cause });
    });
  let rest = '';
  for (let read = await next(); !read.done; read = await next()) {
    const [end = '', ...others] = decoder.decode(read.value, { stream: true }).split('\n');
    // The rest is never split again: a long line takes time in proportion to its length.
    rest += end;
    if (rest.length > MOST_CHARACTERS)
      throw new Error(`${file}: expected lines of ${MOST_CHARACTERS} characters at most`);
    for (const line of others) {
      yield rest;
      rest = line;
    }
  }
  if (rest + decoder.decode() !== '') throw new Error(`${file}: expected a line break after the last line`);
}
