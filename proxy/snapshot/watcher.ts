import { BUILT_IN, createHeaderTables, type HeaderTables } from './headers.js';
import { emptyRouter, type Router } from './router.js';
import { BUCKETS, DEFAULT_QUOTAS, type BucketName, type Quota, type Quotas } from '../limiter/gcra.js';
import { errorCode, type Dependencies, type Log } from '../log.js';
import { TimeoutError } from '../timeout.js';
import type { Disk } from '../tree/disk.js';
import { NO_ERROR_PAGES, readErrorPages, type ErrorPages } from './error-pages.js';
import { cachedFile, type CachedFile } from '../tree/file-cache.js';
import type { FileRead } from '../tree/files.js';
import { DATA_PACKAGE, NO_DIGESTS, readPublishedDigests, type PublishedDigests } from '../tree/digests.js';
import { parseSnapshot, SNAPSHOT_FILE, SnapshotError, titleOf, type Snapshot } from './snapshot.js';

/** The polling interval, after which a new snapshot is in service: 1000 ms (= 1 second). */
const POLL_MS = 1_000;

/** A larger snapshot.json is invalid. 64 MiB. */
const SNAPSHOT_MAX_BYTES = 64 * 1024 * 1024;

/** Limits set by the operator; those that are not set follow the snapshot. */
export type QuotaOverrides = Readonly<Record<BucketName, Partial<Quotas[BucketName]>>>;

/** The snapshot in service and what is derived from it, computed once. */
export interface ActiveSnapshot {
  /** Counts the snapshots in service. Data from another epoch may be outdated. */
  readonly epoch: number;
  /** Undefined before the first snapshot, when every response is a 503. */
  readonly snapshot: Snapshot | undefined;
  /** The tree's folder with all links resolved, so that it stays the same for a whole epoch. */
  readonly root: string;
  /** snapshot.json as accepted; a broken one does not replace it. */
  readonly document: CachedFile | undefined;
  readonly router: Router;
  readonly quotas: Quotas;
  /** A download of at least this many bytes costs a token, a smaller one its share. */
  readonly downloadTokenBytes: number;
  readonly headers: HeaderTables;
  /** URL of the page that explains the errors. */
  readonly documentation: string;
  readonly errorPages: ErrorPages;
  readonly digests: PublishedDigests;
}

/**
 * Keeps the newest valid snapshot in service. It polls in the background, so that no request waits
 * for the file system to determine the current one.
 */
export class SnapshotWatcher {
  readonly #dist: string;
  readonly #overrides: QuotaOverrides;
  readonly #disk: Disk;
  readonly #log: Log;
  #active: ActiveSnapshot;
  /** The last snapshot.json that was read, valid or not. */
  #seen: Pick<FileRead, 'identity' | 'root'> | undefined;
  #isPresent = false;
  #isReadable = false;
  #poll: Promise<void> | undefined;
  #nextPoll: Promise<void> | undefined;
  #timer: NodeJS.Timeout | undefined;
  /** The last problem logged, so that it is logged once and not every second. */
  #lastProblem = '';
  /** The same of the limits set by hand. */
  #lastLimits = '';

  /**
   * @param dist the published tree
   * @param overrides limits set by flag or environment, which override the snapshot's
   */
  constructor(dist: string, overrides: QuotaOverrides, disk: Disk, { log }: Pick<Dependencies, 'log'>) {
    this.#dist = dist;
    this.#overrides = overrides;
    this.#disk = disk;
    this.#log = log;
    this.#active = activate(undefined, 0, dist, undefined, overrides);
  }

  get active(): ActiveSnapshot {
    return this.#active;
  }

  /** Whether the last poll found a snapshot.json. If not, a missing file proves nothing. */
  get isPresent(): boolean {
    return this.#isPresent;
  }

  /** Whether the last poll's snapshot.json is the one in service. */
  get isReadable(): boolean {
    return this.#isReadable;
  }

  /**
   * Polls once, and then every second. A missing snapshot and a disk that hangs are no errors: the
   * proxy waits.
   *
   * @throws SnapshotError if it is invalid, and errors of the file system
   */
  async start(): Promise<void> {
    await this.#look().catch((error: unknown) => {
      if (!(error instanceof TimeoutError)) throw error;
      this.#logFailure(error);
    });
    this.#timer = setInterval(() => {
      // No further poll starts while one hangs with the disk.
      if (this.#poll === undefined) void this.confirm();
    }, POLL_MS);
    this.#timer.unref();
  }

  stop(): void {
    clearInterval(this.#timer);
  }

  /**
   * Polls again: settles after a poll that began after the call. Never rejects; problems are
   * logged, and the last good snapshot stays in service.
   */
  confirm(): Promise<void> {
    if (this.#poll === undefined) return this.#startPoll();
    this.#nextPoll ??= this.#poll.then(() => {
      this.#nextPoll = undefined;
      return this.#startPoll();
    });
    return this.#nextPoll;
  }

  #startPoll(): Promise<void> {
    this.#poll = this.#look()
      .catch((error: unknown) => this.#logFailure(error))
      .finally(() => {
        this.#poll = undefined;
      });
    return this.#poll;
  }

  async #look(): Promise<void> {
    const seen = this.#seen;
    const request = { root: this.#dist, path: SNAPSHOT_FILE, maxBytes: SNAPSHOT_MAX_BYTES };
    const file = await this.#disk.read({ ...request, known: seen?.identity });
    this.#isPresent = file !== undefined;
    if (file === undefined) {
      this.#seen = undefined;
      this.#isReadable = false;
      this.#logProblem(`no ${SNAPSHOT_FILE}`);
      return;
    }
    if (file.identity === seen?.identity && file.root === seen.root) {
      this.#isReadable = file.identity === this.#active.document?.identity && file.root === this.#active.root;
      return;
    }
    const read = file.bytes === undefined ? await this.#disk.read(request) : file;
    if (read?.bytes === undefined || read.digest === undefined) {
      throw new SnapshotError(
        `${SNAPSHOT_FILE} can't be read whole: expected at most ${SNAPSHOT_MAX_BYTES} bytes`,
      );
    }
    // A new file's problem is logged on a line of its own, and only once.
    this.#seen = { identity: read.identity, root: read.root };
    this.#lastProblem = '';
    const snapshot = parseSnapshot(Buffer.from(read.bytes).toString('utf8'));
    const document = cachedFile(SNAPSHOT_FILE, read, read.digest);
    const errorPages = await readErrorPages(snapshot, read.root, this.#disk);
    const digests = snapshot.routes.some(({ file }) => file === DATA_PACKAGE)
      ? await readPublishedDigests(read, this.#disk)
      : NO_DIGESTS;
    const before = this.#isReadable ? this.#active : undefined;
    this.#active = {
      ...activate(snapshot, this.#active.epoch + 1, read.root, document, this.#overrides),
      errorPages,
      digests,
    };
    this.#isReadable = true;
    // The next build makes a hard link to snapshot.json, which changes its identity, and a build
    // without changes writes only its time.
    const isNews = before?.snapshot === undefined || titleOf(before.snapshot) !== titleOf(snapshot);
    if (isNews || before?.root !== read.root) this.#log(`serving ${titleOf(snapshot)}`);
    this.#logLimits(snapshot);
  }

  /** Says so if limits set by hand differ from those that the published texts state. */
  #logLimits(snapshot: Snapshot): void {
    const published = describe(publishedQuotas(snapshot));
    const ours = describe(this.#active.quotas);
    const line =
      ours === published ? '' : `limits set by hand: ${ours}; the published texts say ${published}`;
    if (line !== '' && line !== this.#lastLimits) this.#log(line);
    this.#lastLimits = line;
  }

  #logFailure(error: unknown): void {
    this.#isReadable = false;
    this.#logProblem(
      error instanceof SnapshotError
        ? error.message
        : `${SNAPSHOT_FILE} can't be read (${errorCode(error) ?? String(error)})`,
    );
  }

  #logProblem(problem: string): void {
    const { snapshot } = this.#active;
    const consequence = snapshot
      ? `still serving ${titleOf(snapshot)}`
      : 'responding 503 until there is a good one';
    const line = `${problem}: ${consequence}`;
    if (line !== this.#lastProblem) this.#log(line);
    this.#lastProblem = line;
  }
}

/** Explains the errors before the first snapshot; relative, as no base URL is known. */
const DEFAULT_DOCUMENTATION = '/developers';

function activate(
  snapshot: Snapshot | undefined,
  epoch: number,
  root: string,
  document: CachedFile | undefined,
  overrides: QuotaOverrides,
): ActiveSnapshot {
  const quotas = quotasOf(snapshot, overrides);
  return {
    epoch,
    snapshot,
    root,
    document,
    router: snapshot?.router ?? emptyRouter(),
    quotas,
    downloadTokenBytes: snapshot?.limits.download.token_bytes ?? 1,
    headers: createHeaderTables(snapshot?.headers ?? BUILT_IN, quotas),
    documentation: snapshot ? snapshot.service.base_url + snapshot.service.docs : DEFAULT_DOCUMENTATION,
    errorPages: NO_ERROR_PAGES,
    digests: NO_DIGESTS,
  };
}

/** Each value is taken from the first of: operator, snapshot, default. */
function quotasOf(snapshot: Snapshot | undefined, overrides: QuotaOverrides): Quotas {
  const published = snapshot === undefined ? DEFAULT_QUOTAS : publishedQuotas(snapshot);
  return {
    api: { ...published.api, ...overrides.api },
    download: { ...published.download, ...overrides.download },
    page: { ...published.page, ...overrides.page },
  };
}

/** The limits as published in this snapshot. */
function publishedQuotas({ limits: { api, download, page } }: Snapshot): Quotas {
  return { api: quotaOf(api), download: quotaOf(download), page: quotaOf(page) };
}

function quotaOf({ tokens, refill_seconds: seconds }: Snapshot['limits'][BucketName]): Quota {
  return { burst: tokens, emissionIntervalMs: Math.round(seconds * 1000) };
}

const describe = (quotas: Quotas): string =>
  BUCKETS.map((bucket) => {
    const { burst, emissionIntervalMs } = quotas[bucket];
    return `${bucket} ${burst}, one back in ${emissionIntervalMs / 1000} s`;
  }).join('; ');
