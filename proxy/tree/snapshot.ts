import { closeSync, realpathSync, type Stats } from 'node:fs';

import type { BucketName, Quotas } from '../limiter/gcra.js';
import { errorCode, type Log } from '../log.js';
import { describeFile, identityOf, openFile, readWhole, type PublishedFile, type Tree } from './files.js';
import { Router, type HeaderList, type RouteMatch } from './router.js';
import {
  describeSnapshot,
  ERROR_CODES,
  parseSnapshot,
  SNAPSHOT_FILE,
  SnapshotError,
  type ErrorCode,
  type RouteDeclaration,
  type Snapshot,
} from './schema.js';

/** The snapshot in service, and all that is computed once for it. */

export interface ActiveSnapshot extends Tree {
  readonly snapshot: Snapshot;
  /** snapshot.json as accepted; a broken one does not replace it. */
  readonly document: PublishedFile;
  readonly router: Router;
  /** By the bucket of the request: headers of 204 to OPTIONS, of 404 and 308, and of all other errors. */
  readonly headers: Readonly<
    Record<BucketName, Readonly<Record<'options' | 'notFound' | 'error', HeaderList>>>
  >;
  /** URL of the page that explains the errors. */
  readonly documentation: string;
  /** What browsers get instead of problem documents, by the code of the error. */
  readonly errorPages: ReadonlyMap<ErrorCode, ErrorPage>;
}

export interface ErrorPage {
  readonly body: Buffer;
  /** Content-Type, and the headers that protect pages. */
  readonly headers: HeaderList;
}

/** How often snapshot.json is looked at. 1 s. */
const LOOK_MS = 1_000;
/** A larger snapshot.json is invalid. 64 MiB. */
const SNAPSHOT_MAX_BYTES = 64 * 1024 * 1024;

/** Keeps the newest valid snapshot in service. */
export class Snapshots {
  /** Undefined before the first snapshot. */
  current: ActiveSnapshot | undefined;
  readonly #dist: string;
  readonly #log: Log;
  /** Root and identity of the snapshot.json that was read last, valid or not. */
  #lastRead = '';
  /** What was wrong at the last look; logged once, and not every second. */
  #problem: string | undefined;
  #timer: NodeJS.Timeout | undefined;

  /** @param dist the published tree */
  constructor(dist: string, log: Log) {
    this.#dist = dist;
    this.#log = log;
  }

  /** Whether snapshot.json, at the last look, was the one in service. */
  get isCurrent(): boolean {
    return this.#problem === undefined;
  }

  /**
   * Looks now, and then every second. A missing snapshot is no error: the proxy waits.
   *
   * @throws SnapshotError if it is invalid, and errors of the file system
   */
  start(): void {
    this.#update();
    this.#timer = setInterval(() => this.look(), LOOK_MS).unref();
  }

  stop(): void {
    clearInterval(this.#timer);
  }

  /** Looks for a new snapshot.json. Problems are logged, and the last good snapshot stays in service. */
  look(): void {
    try {
      this.#update();
    } catch (error) {
      const isInvalid = error instanceof SnapshotError;
      // What could not be read is read again at the next look.
      if (!isInvalid) this.#lastRead = '';
      this.#complain(
        isInvalid ? error.message : `${SNAPSHOT_FILE} can't be read (${errorCode(error) ?? String(error)})`,
      );
    }
  }

  /** Takes a new snapshot.json into service. @throws as `start` does */
  #update(): void {
    const root = realpathSync.native(this.#dist);
    const opened = openFile(root, SNAPSHOT_FILE);
    if (opened === undefined) {
      this.#lastRead = '';
      return this.#complain(`no ${SNAPSHOT_FILE}`);
    }
    closeSync(opened.descriptor);
    if (this.#lastRead === `${root} ${identityOf(opened.stats)}`) return;
    const { stats = opened.stats, bytes } = readWhole(root, SNAPSHOT_FILE, SNAPSHOT_MAX_BYTES) ?? {};
    const wasCurrent = this.isCurrent;
    // Should the new file be invalid, that is logged even if the one before was as well.
    this.#problem = undefined;
    this.#lastRead = `${root} ${identityOf(stats)}`;
    if (bytes === undefined)
      throw new SnapshotError(
        `${SNAPSHOT_FILE} can't be read whole: expected at most ${SNAPSHOT_MAX_BYTES} bytes`,
      );
    const next = activate(parseSnapshot(bytes.toString('utf8')), root, stats, bytes);
    // A build without changes renews only built_at, of which the operator need not hear.
    const isKnown = wasCurrent && this.current?.version === next.version;
    this.current = next;
    if (!isKnown) this.#log(`serving ${describeSnapshot(next.snapshot)}`);
  }

  #complain(problem: string): void {
    if (problem === this.#problem) return;
    this.#problem = problem;
    const consequence = this.current
      ? `still serving ${describeSnapshot(this.current.snapshot)}`
      : 'responding 503 until there is a good one';
    this.#log(`${problem}: ${consequence}`);
  }
}

/** Computes, once for a snapshot, what requests need of it. */
function activate(snapshot: Snapshot, root: string, stats: Stats, bytes: Buffer): ActiveSnapshot {
  const { headers: declared, limits, service, sequence, digest, downloads, files } = snapshot;
  const headersWith = (fields: Readonly<Record<string, string>>, bucket: BucketName): HeaderList =>
    Object.entries({
      ...declared.all,
      'RateLimit-Policy': rateLimitPolicy(bucket, limits),
      ...fields,
    }).flat();
  const headersOf = (bucket: BucketName) => ({
    options: headersWith(declared.options, bucket),
    notFound: headersWith(declared.not_found, bucket),
    error: headersWith(declared.error, bucket),
  });
  return {
    root,
    version: `${root} ${sequence} ${digest}`,
    hashes: new Map([...downloads.files, ...files].map((each) => [each.file.slice(1), each])),
    changedMs: stats.ctimeMs,
    snapshot,
    document: describeFile(SNAPSHOT_FILE, { stats, bytes }),
    router: new Router(snapshot, (route) => headersWith(declared.content[route.class], route.bucket)),
    headers: { api: headersOf('api'), download: headersOf('download'), page: headersOf('page') },
    documentation: service.base_url + service.docs,
    errorPages: readErrorPages(snapshot, root),
  };
}

/**
 * RateLimit-Policy (draft-ietf-httpapi-ratelimit-headers-10 §3): q tokens, w seconds to refill an
 * empty bucket; a list if two limits apply. No `pk`: it would reveal addresses.
 */
function rateLimitPolicy(bucket: BucketName, quotas: Quotas): string {
  const names = bucket === 'download' ? (['download', 'api'] as const) : [bucket];
  return names
    .map((name) => {
      const { burst, emissionIntervalMs } = quotas[name];
      return `"${name}";q=${burst};w=${Math.ceil((burst * emissionIntervalMs) / 1000)}`;
    })
    .join(', ');
}

/** A larger error page is not used. 256 KiB. */
const PAGE_MAX_BYTES = 256 * 1024;

/** Whether people open a route: its content is an HTML page. */
const isPage = (route: RouteDeclaration): boolean =>
  route.class === 'page' && route.type.startsWith('text/html');

/**
 * Reads the error pages that a snapshot names, so that no number of errors costs memory. One that
 * can't be read is left out until the next snapshot: the error is then a problem document.
 */
function readErrorPages({ errors, routes, headers }: Snapshot, root: string): ActiveSnapshot['errorPages'] {
  const pages = new Map<ErrorCode, ErrorPage>();
  const { 'Content-Security-Policy': policy } = headers.content.page;
  const protection = policy === undefined ? [] : ['Content-Security-Policy', policy];
  for (const code of ERROR_CODES) {
    const route = routes.find(({ path }) => path === errors[code].page);
    if (route === undefined || !isPage(route)) continue;
    try {
      const body = readWhole(root, route.file, PAGE_MAX_BYTES)?.bytes;
      if (body !== undefined) pages.set(code, { body, headers: [...protection, 'Content-Type', route.type] });
    } catch {
      // The error has no page.
    }
  }
  return pages;
}

/**
 * The page of an error, if a person may have opened this address: the route is that of a page, or
 * there is no route, and the path has no extension and is not among those for programs. A browser gets
 * the page, everything else the problem document.
 */
export function findErrorPage(
  { errorPages, snapshot }: ActiveSnapshot,
  match: RouteMatch,
  code: ErrorCode,
): ErrorPage | undefined {
  if (match.kind === 'redirect') return undefined;
  const { route, path } = match;
  const isForPeople =
    route !== undefined
      ? isPage(route.declaration)
      : match.kind === 'refusal' &&
        match.code === 'not_found' &&
        !path.includes('.', path.lastIndexOf('/')) &&
        !snapshot.problems_below.some((prefix) => path === prefix || path.startsWith(`${prefix}/`));
  return isForPeople ? errorPages.get(code) : undefined;
}
