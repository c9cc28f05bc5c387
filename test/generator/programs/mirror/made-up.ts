/**
 * An origin of made-up documents, as docs/format.md describes one and no builder makes it: it can
 * break any rule. Its files are written here, independently of the generator.
 */
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { gzipSync } from 'node:zlib';
import { ended, listening } from '../../../support/ports.js';
import { digestOf, sha256 } from '../../publish/support.js';
import { MEMBERS } from '../../tree/members.js';

/** Bodies by URL path. */
export type Documents = Readonly<Record<string, string | Buffer>>;

const id = [{ name: 'id', in: 'path' as const, type: 'id', description: '' }];
export const limit = {
  name: 'limit',
  in: 'query' as const,
  type: 'integer',
  minimum: 1,
  maximum: 3,
  default: 2,
  description: '',
};
const GZIP = { type: 'application/gzip' };
const HTML = { type: 'text/html; charset=utf-8', file: 'index.html' };
export const route = (name: string, path: string, cacheClass: string, more: object = {}) => ({
  name,
  path,
  file: /\.\w+$/.test(path) ? path.slice(1) : `${path.slice(1)}.json`,
  class: cacheClass,
  bucket: ['page', 'download'].includes(cacheClass) ? cacheClass : 'api',
  type: 'application/json; charset=utf-8',
  description: '',
  headers: {},
  ...more,
});

export const ROUTES = [
  route('group', '/api/v1/group/{id}', 'record', { parameters: id }),
  route('stats', '/api/v1/stats', 'summary'),
  route('largest', '/api/v1/largest', 'summary', {
    file: 'api/v1/largest/{limit}.json',
    parameters: [limit],
  }),
  route('own', '/brand.bin', 'summary', { type: 'application/octet-stream' }),
  route('documents-group', '/downloads/documents/group.ndjson.gz', 'download', GZIP),
  route('documents-other', '/downloads/documents/other.ndjson.gz', 'download', GZIP),
  route('datapackage', '/downloads/datapackage.json', 'download'),
  route('front-page', '/', 'page', HTML),
  route('snapshot', '/snapshot.json', 'summary'),
  route('changes', '/changes/index.json', 'summary'),
  // It has no files of its own.
  route('group-page', '/group/{id}', 'page', { ...HTML, parameters: id, requires: 'group' }),
];
export type MadeUpRoute = Omit<(typeof ROUTES)[number], 'description' | 'headers'>;

/** The documents of a register with these groups, without its downloads. */
export const documentsOf = (groups: Readonly<Record<number, string>>, word = 'a'): Documents => ({
  ...Object.fromEntries(
    Object.entries(groups).map(([key, name]) => [
      `/api/v1/group/${key}`,
      JSON.stringify({ id: Number(key), name }),
    ]),
  ),
  '/api/v1/stats': JSON.stringify({ groups: Object.keys(groups).length, word }),
  ...Object.fromEntries([1, 2, 3].map((n) => [`/api/v1/largest?limit=${n}`, JSON.stringify({ n, word })])),
  // No UTF-8 text, and so large that a fifth of the tree has room for lists and bundles.
  '/brand.bin': Buffer.concat([
    Buffer.from([0xff, 0x00, 0xfe, 0x80]),
    Buffer.from(word),
    Buffer.alloc(50_000),
  ]),
  '/': `<h1>${word} ünïcode</h1>`,
});

const isGroup = (path: string): boolean => path.startsWith('/api/v1/group/');
const isDownload = (path: string): boolean => path.startsWith('/downloads/');

/** The line of a document in a bundle or download; what is no text or a download has no body there. */
const line = (path: string, content: Buffer): string => {
  const body = content.toString();
  const hasBody = !isDownload(path) && content.equals(Buffer.from(body));
  return JSON.stringify({ path, sha256: sha256(content), bytes: content.length, ...(hasBody && { body }) });
};
/** A gzip file of these lines. */
export const zipped = (lines: readonly string[]): Buffer =>
  gzipSync(lines.map((text) => `${text}\n`).join(''));
/** Two members, as a builder that works in parts writes. */
const zippedInParts = (lines: readonly string[]): Buffer =>
  Buffer.concat([lines.slice(0, 1), lines.slice(1)].map(zipped));

type Bodies = Readonly<Record<string, Buffer>>;

function downloadsOf(documents: Bodies): Bodies {
  const all = Object.entries(documents);
  const others = all.filter(([path]) => !isGroup(path) && path !== '/');
  const files = {
    'documents/group.ndjson.gz': zippedInParts(
      all.flatMap(([path, body]) => (isGroup(path) ? String(body) : [])),
    ),
    'documents/other.ndjson.gz': zippedInParts(others.map(([path, body]) => line(path, body))),
  };
  const resources = Object.entries(files).map(([path, body]) => ({
    path,
    bytes: body.length,
    hash: `sha256:${sha256(body)}`,
  }));
  const described = { ...files, 'datapackage.json': Buffer.from(JSON.stringify({ resources })) };
  return Object.fromEntries(Object.entries(described).map(([path, body]) => [`/downloads/${path}`, body]));
}

/** What is served at a path in place of its file; false for the file. */
export type Instead = (request: IncomingMessage, response: ServerResponse, body?: Buffer) => boolean;

interface Published {
  readonly sequence: number;
  readonly digest: string;
  readonly all: Bodies;
}

export class MadeUpOrigin {
  /** The responses, by path. */
  readonly files = new Map<string, Buffer>();
  /** The paths that were asked for, each with its Range or Cache-Control. */
  readonly log: string[] = [];
  readonly history: Published[] = [];
  instead!: Instead;
  routes!: readonly MadeUpRoute[];
  tree!: string;
  limits!: { tokens: number; refill_seconds: number };
  /** Further members of snapshot.json. */
  members!: object;
  /** As the index of the changes has them, the newest first. */
  #changes!: readonly object[];
  #downloaded = { sequence: 1, digest: '' };
  readonly #server = createServer((request, response) => this.#respond(request, response));

  constructor() {
    this.reset();
  }

  /** @returns its URL */
  start = async (): Promise<string> => `http://127.0.0.1:${await listening(this.#server)}`;
  stop = (): Promise<void> => ended(this.#server);

  /** Forgets everything, and has published nothing. */
  reset(): void {
    this.files.clear();
    for (const list of [this.log, this.history]) list.length = 0;
    this.instead = () => false;
    [this.routes, this.tree, this.members] = [ROUTES, 'a'.repeat(16), {}];
    this.limits = { tokens: 1_000_000, refill_seconds: 0.001 };
    this.#changes = [];
  }

  /** Responds otherwise to the first requests for a file that is there. */
  atFirst(file: string, times: number, respond: (response: ServerResponse, body: Buffer) => void): void {
    let count = 0;
    this.instead = ({ url }, response, body) => {
      if (url !== file || body === undefined || (count += 1) > times) return false;
      respond(response, body);
      return true;
    };
  }

  /** The paths asked for since the last call. */
  asked(): string[] {
    return this.log.splice(0);
  }

  /** Publishes a snapshot. @param keepsDownloads whether they stay those of an earlier snapshot */
  publish(documents: Documents, keepsDownloads = false): void {
    const last = this.history.at(-1);
    const own: Bodies = Object.fromEntries(
      Object.entries(documents).map(([path, body]) => [path, Buffer.from(body)]),
    );
    const kept = Object.entries(last?.all ?? {}).filter(([path]) => isDownload(path));
    const all: Bodies = { ...own, ...(keepsDownloads ? Object.fromEntries(kept) : downloadsOf(own)) };
    const hashes = new Map(Object.entries(all).map(([path, body]) => [path, sha256(body)]));
    const [sequence, digest] = [(last?.sequence ?? 0) + 1, digestOf(hashes, this.routes)];
    if (!keepsDownloads) this.#downloaded = { sequence, digest };
    this.history.push({ sequence, digest, all });
    for (const path of this.files.keys()) if (!path.startsWith('/changes/')) this.files.delete(path);
    for (const [path, body] of Object.entries(all)) this.files.set(path, body);
    this.#describe({ sequence, digest, all }, last);
    this.announce();
  }

  /** Adds the bundle that leads from the last snapshot. */
  #describe({ sequence, digest, all }: Published, last?: Published): void {
    const common = { sequence, digest, as_of: null, built_at: '2026-12-01T00:00:00Z', counts: {} };
    if (last === undefined) {
      this.#changes = [{ ...common, ...NO_FILES }];
      return;
    }
    const step = { from: last.sequence, from_digest: last.digest };
    const header = JSON.stringify({ ...step, tree: this.tree, to: sequence, to_digest: digest });
    const put = Object.entries(all).filter(([path, body]) => last.all[path]?.equals(body) !== true);
    const gone = Object.keys(last.all).filter((path) => all[path] === undefined);
    const deleted = gone.map((path) => JSON.stringify({ path, deleted: true }));
    const lines = [header, ...put.map(([path, body]) => line(path, body)), ...deleted];
    const bundle = this.#add(`/changes/${sequence}.ndjson.gz`, zipped(lines));
    this.#changes = [{ ...common, ...step, bundle }, ...this.#changes];
  }

  #add(file: string, content: Buffer) {
    this.files.set(file, content);
    return { file, bytes: content.length, sha256: sha256(content) };
  }

  /** Has another bundle to the newest snapshot. */
  putBundle(content: Buffer): void {
    const [newest, ...older] = this.#changes;
    const bundle = this.#add(`/changes/${this.history.length}.ndjson.gz`, content);
    this.#changes = [{ ...newest, bundle }, ...older];
    this.announce();
  }

  /** Has no bundles, since those to the newest snapshot were too large. */
  cap(): void {
    this.#changes = this.#changes.map((change) => ({ ...change, ...NO_FILES }));
    this.announce();
  }

  /** Has no bundles but the newest, as after a takedown. */
  takeDown(): void {
    const [newest = {}, ...older] = this.#changes;
    this.#changes = [newest, ...older.map((change) => ({ ...change, ...NO_FILES }))];
    this.announce();
  }

  /** Writes snapshot.json and the index of the changes. @param members what to say instead */
  announce(members: object = {}, builtAt = '2026-12-01T00:00:00Z'): void {
    const { sequence, digest, all } = this.history.at(-1) ?? { sequence: 0, digest: '', all: {} };
    const bytes = Object.values(all).reduce((sum, body) => sum + body.length, 0);
    const { routes, limits, tree } = this;
    const snapshot = {
      format: 5,
      sequence,
      as_of: null,
      built_at: builtAt,
      digest,
      tree: { id: tree, files: Object.keys(all).length, bytes },
      downloads: { as_of: null, ...this.#downloaded },
      ...MEMBERS,
      limits: { api: limits, download: { ...limits, token_bytes: 1 }, page: limits },
      compressed_from: 4096,
      routes,
      ...this.members,
      ...members,
    };
    const [downloads, changes] = [this.#downloaded, this.#changes];
    const index = { tree, sequence, digest, oldest: 1, downloads, changes };
    this.files.set('/snapshot.json', Buffer.from(JSON.stringify(snapshot)));
    this.files.set('/changes/index.json', Buffer.from(JSON.stringify(index)));
    for (const format of ['atom', 'json'])
      this.files.set(`/feeds/snapshots.${format}`, Buffer.from(`feed ${sequence}`));
  }

  #respond(request: IncomingMessage, response: ServerResponse): void {
    const { url = '', headers } = request;
    this.log.push([url, headers.range ?? headers['cache-control'] ?? []].flat().join(' '));
    if (this.instead(request, response, this.files.get(url))) return;
    // It may have published.
    const body = this.files.get(url);
    if (body === undefined) {
      response.writeHead(404).end('not found');
      return;
    }
    const etag = `"${sha256(body)}"`;
    const type = url.endsWith('.json') ? 'application/json' : 'application/octet-stream';
    if (headers['if-none-match'] === etag) response.writeHead(304, { etag }).end();
    else response.writeHead(200, { etag, 'content-type': type, 'content-length': body.length }).end(body);
  }
}

const NO_FILES = { from: null, from_digest: null, bundle: null };
