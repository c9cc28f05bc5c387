/**
 * An origin of made-up documents, as docs/format.md describes one and no builder makes it: it can
 * break any rule. Its files are written here, independently of the generator.
 */
import { createHash } from 'node:crypto';
import { createServer } from 'node:http';
import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import { gzipSync } from 'node:zlib';
import { ended, listening } from '../../support/ports.js';
import { digestOf, sha256 } from '../publish/support.js';
import { MEMBERS } from '../tree/members.js';

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
const route = (name: string, path: string, file: string, cacheClass: string, more: object = {}) => ({
  name,
  path,
  file,
  class: cacheClass,
  bucket: cacheClass === 'page' ? 'page' : 'api',
  type: 'application/json; charset=utf-8',
  description: '',
  headers: {},
  ...more,
});
const download = (name: string, file: string) =>
  route(name, `/downloads/${file}`, `downloads/${file}`, 'download', {
    bucket: 'download',
    type: 'application/gzip',
  });
const HTML = { type: 'text/html; charset=utf-8' };

export const ROUTES = [
  route('group', '/api/v1/group/{id}', 'api/v1/group/{id}.json', 'record', { parameters: id }),
  route('stats', '/api/v1/stats', 'api/v1/stats.json', 'summary'),
  route('largest', '/api/v1/largest', 'api/v1/largest/{limit}.json', 'summary', { parameters: [limit] }),
  route('own', '/brand.bin', 'brand.bin', 'summary', { type: 'application/octet-stream' }),
  download('documents-group', 'documents/group.ndjson.gz'),
  download('documents-other', 'documents/other.ndjson.gz'),
  route('datapackage', '/downloads/datapackage.json', 'downloads/datapackage.json', 'download'),
  route('front-page', '/', 'index.html', 'page', HTML),
  route('snapshot', '/snapshot.json', 'snapshot.json', 'summary'),
  route('changes', '/changes/index.json', 'changes/index.json', 'summary'),
  // It has no files of its own.
  route('group-page', '/group/{id}', 'index.html', 'page', { ...HTML, parameters: id, requires: 'group' }),
];
export type MadeUpRoute = Omit<(typeof ROUTES)[number], 'description' | 'headers'>;

/** Bytes that are no UTF-8 text. */
const BINARY = Buffer.from([0xff, 0x00, 0xfe, 0x80]);

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
  '/brand.bin': Buffer.concat([BINARY, Buffer.from(word)]),
  '/': `<h1>${word} ünïcode</h1>`,
});

const bytesOf = (body: string | Buffer): Buffer => (typeof body === 'string' ? Buffer.from(body) : body);
const isGroup = (path: string): boolean => path.startsWith('/api/v1/group/');
const isDownload = (path: string): boolean => path.startsWith('/downloads/');
const isText = (body: string | Buffer): boolean =>
  typeof body === 'string' || body.equals(Buffer.from(body.toString('utf8')));

const line = (path: string, body: string | Buffer, hasBody = isText(body)) =>
  JSON.stringify({
    path,
    sha256: sha256(bytesOf(body)),
    bytes: bytesOf(body).length,
    ...(hasBody && !isDownload(path) && { body: body.toString() }),
  });
const zipped = (lines: readonly string[]): Buffer =>
  // Two members, as a builder that works in parts writes.
  Buffer.concat(
    [lines.slice(0, 1), lines.slice(1)].map((part) => gzipSync(part.map((text) => `${text}\n`).join(''))),
  );

/** What is served at a path in place of its file; false for the file. */
export type Instead = (request: IncomingMessage, response: ServerResponse, body?: Buffer) => boolean;

interface Published {
  readonly sequence: number;
  readonly digest: string;
  readonly all: Documents;
}

export class MadeUpOrigin {
  /** The responses, by path. */
  readonly files = new Map<string, Buffer>();
  /** The paths that were asked for, each with the range if there is one. */
  readonly log: string[] = [];
  instead: Instead = () => false;
  routes: readonly MadeUpRoute[] = ROUTES;
  tree = 'a'.repeat(16);
  limits = { tokens: 1_000_000, refill_seconds: 0.001 };
  /** Further members of snapshot.json. */
  members: object = {};
  readonly history: Published[] = [];
  #changes: object[] = [];
  #oldest = 1;
  readonly #server: Server;

  constructor() {
    this.#server = createServer((request, response) => this.#respond(request, response));
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
    [this.#changes, this.#oldest] = [[], 1];
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
    const downloads =
      keepsDownloads && last !== undefined ? ofDownloads(last.all) : this.#downloads(documents);
    const all = { ...documents, ...downloads };
    const hashes = new Map(Object.entries(all).map(([path, body]) => [path, sha256(bytesOf(body))]));
    const digest = digestOf(hashes, this.routes);
    const sequence = (last?.sequence ?? 0) + 1;
    if (!keepsDownloads) this.#downloaded = { sequence, digest };
    this.history.push({ sequence, digest, all });
    this.#serve(all);
    this.#describe(last);
    this.announce();
  }

  #downloaded = { sequence: 1, digest: '' };

  #downloads(documents: Documents): Documents {
    const all = Object.entries(documents);
    const lines = {
      group: all.filter(([path]) => isGroup(path)).map(([, body]) => body.toString()),
      other: all.filter(([path]) => !isGroup(path) && path !== '/').map(([path, body]) => line(path, body)),
    };
    const files = Object.entries(lines).map(
      ([name, each]) => [`documents/${name}.ndjson.gz`, zipped(each)] as const,
    );
    const resources = files.map(([path, body]) => ({
      path,
      bytes: body.length,
      hash: `sha256:${sha256(body)}`,
    }));
    return {
      ...Object.fromEntries(files.map(([path, body]) => [`/downloads/${path}`, body])),
      '/downloads/datapackage.json': JSON.stringify({ resources }),
    };
  }

  #serve(all: Documents): void {
    for (const path of this.files.keys()) if (!path.startsWith('/changes/')) this.files.delete(path);
    for (const [path, body] of Object.entries(all)) this.files.set(path, bytesOf(body));
  }

  /** Adds the list and the bundle that lead from the last snapshot. */
  #describe(last: Published | undefined): void {
    const [now] = this.history.slice(-1);
    if (now === undefined) return;
    const { sequence, digest, all } = now;
    const common = { sequence, digest, as_of: null, built_at: '2026-12-01T00:00:00Z', counts: {} };
    if (last === undefined) {
      const none = { from: null, from_digest: null, file: null, bytes: null, sha256: null, bundle: null };
      this.#changes = [{ ...common, ...none }];
      return;
    }
    const step = { from: last.sequence, from_digest: last.digest };
    const header = { ...step, tree: this.tree, to: sequence, to_digest: digest };
    const put = Object.entries(all).filter(([path, body]) => !same(last.all[path], body));
    const gone = Object.keys(last.all).filter((path) => all[path] === undefined);
    const bodies = [
      JSON.stringify(header),
      ...put.map(([path, body]) => line(path, body)),
      ...gone.map((path) => JSON.stringify({ path, deleted: true })),
    ];
    // No mirror reads what a list says.
    const list = this.#add(`/changes/${sequence}.json`, Buffer.from(JSON.stringify(header)));
    const bundle = this.#add(`/changes/${sequence}.ndjson.gz`, zipped(bodies));
    this.#changes.unshift({ ...common, ...step, ...list, bundle });
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

  /** Has no bundle to the newest snapshot, as if it were too large. */
  dropBundle(): void {
    const [newest, ...older] = this.#changes;
    this.#changes = [{ ...newest, bundle: null }, ...older];
    this.#oldest = this.history.at(-1)?.sequence ?? 1;
    this.files.delete(`/changes/${this.#oldest}.ndjson.gz`);
    this.announce();
  }

  /** Deletes all lists and bundles but the newest, as a takedown does. */
  takeDown(): void {
    const [newest] = this.#changes;
    const none = { file: null, bytes: null, sha256: null, bundle: null };
    this.#changes = this.#changes.map((change) => (change === newest ? change : { ...change, ...none }));
    this.#oldest = (this.history.at(-1)?.sequence ?? 1) - 1;
    const kept = new Set([`/changes/${this.#oldest + 1}.json`, `/changes/${this.#oldest + 1}.ndjson.gz`]);
    for (const path of this.files.keys())
      if (path.startsWith('/changes/') && !kept.has(path)) this.files.delete(path);
    this.announce();
  }

  /** Writes snapshot.json and the index of the changes. @param members what to say instead */
  announce(members: object = {}, builtAt = '2026-12-01T00:00:00Z'): void {
    const now = this.history.at(-1);
    if (now === undefined) return;
    const { sequence, digest, all } = now;
    const bytes = Object.values(all).reduce((sum, body) => sum + bytesOf(body).length, 0);
    const { routes, limits, tree } = this;
    const snapshot = {
      format: 4,
      sequence,
      as_of: null,
      built_at: builtAt,
      digest,
      tree: { id: tree, files: Object.keys(all).length, bytes },
      downloads: { as_of: null, ...this.#downloaded },
      ...MEMBERS,
      limits: { api: limits, download: limits, page: limits },
      compressed_from: 4096,
      routes,
      ...this.members,
      ...members,
    };
    this.files.set('/snapshot.json', Buffer.from(JSON.stringify(snapshot)));
    const index = {
      tree,
      sequence,
      digest,
      oldest: this.#oldest,
      downloads: this.#downloaded,
      changes: this.#changes,
    };
    this.files.set('/changes/index.json', Buffer.from(JSON.stringify(index)));
    for (const format of ['atom', 'json'])
      this.files.set(`/feeds/snapshots.${format}`, Buffer.from(`feed ${sequence}`));
  }

  #respond(request: IncomingMessage, response: ServerResponse): void {
    const { url = '', headers } = request;
    const { range } = headers;
    this.log.push(range === undefined ? url : `${url} ${range}`);
    if (this.instead(request, response, this.files.get(url))) return;
    const body = this.files.get(url);
    if (body === undefined) {
      response.writeHead(404).end('not found');
      return;
    }
    const etag = `"${createHash('sha1').update(body).digest('hex')}"`;
    if (headers['if-none-match'] === etag) {
      response.writeHead(304, { etag }).end();
      return;
    }
    const start = Number(/^bytes=(\d+)-$/.exec(range ?? '')?.[1] ?? 0);
    if (start > 0 && headers['if-range'] === etag) {
      const part = body.subarray(start);
      const content = `bytes ${start}-${body.length - 1}/${body.length}`;
      response.writeHead(206, { etag, 'content-range': content, 'content-length': part.length }).end(part);
      return;
    }
    response.writeHead(200, { etag, 'content-length': body.length }).end(body);
  }
}

const same = (one: string | Buffer = '', other: string | Buffer = ''): boolean =>
  bytesOf(one).equals(bytesOf(other));

const ofDownloads = (all: Documents): Documents =>
  Object.fromEntries(Object.entries(all).filter(([path]) => isDownload(path)));
