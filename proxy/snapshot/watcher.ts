import { errorCode, type Dependencies, type Log } from '../log.js';
import { type Disk, type FileRead } from '../tree/read.js';
import { TimeoutError } from '../timeout.js';
import { activate, describeOverrides, type ActiveSnapshot, type QuotaOverrides } from './active.js';
import { describeSnapshot, parseSnapshot, SNAPSHOT_FILE, SnapshotError } from './schema.js';

/** The polling interval, after which a new snapshot is in service: 1000 ms (= 1 second). */
const POLL_MS = 1_000;

/** A larger snapshot.json is invalid. 64 MiB. */
const SNAPSHOT_MAX_BYTES = 64 * 1024 * 1024;

/**
 * Keeps the newest valid snapshot in service. It polls in the background, so that no request waits
 * for the file system to determine the current one.
 */
export class SnapshotWatcher {
  readonly #dist: string;
  readonly #overrides: QuotaOverrides;
  readonly #disk: Disk;
  readonly #log: Log;
  #active: ActiveSnapshot | undefined;
  /** The last snapshot.json that was read, valid or not. */
  #seen: Pick<FileRead, 'identity' | 'root'> | undefined;
  #isPresent = false;
  #isReadable = false;
  #poll: Promise<void> | undefined;
  #nextPoll: Promise<void> | undefined;
  #timer: NodeJS.Timeout | undefined;
  /** The last problem logged, so that it is logged once and not every second. */
  #lastProblem = '';
  /** The last line about limits that differ from the published ones. */
  #lastOverrides = '';

  /**
   * @param dist the published tree
   * @param overrides limits set by flag or environment, which override the snapshot's
   */
  constructor(dist: string, overrides: QuotaOverrides, disk: Disk, { log }: Pick<Dependencies, 'log'>) {
    this.#dist = dist;
    this.#overrides = overrides;
    this.#disk = disk;
    this.#log = log;
  }

  /** Undefined before the first snapshot. */
  get active(): ActiveSnapshot | undefined {
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
      if (this.#poll === undefined) void this.poll();
    }, POLL_MS);
    this.#timer.unref();
  }

  stop(): void {
    clearInterval(this.#timer);
  }

  /**
   * Settles after a poll that began after the call. Never rejects; problems are logged, and the last
   * good snapshot stays in service.
   */
  poll(): Promise<void> {
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
    const [seen, before] = [this.#seen, this.#active];
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
      this.#isReadable = file.identity === before?.document.identity && file.root === before.root;
      return;
    }
    const read = file.bytes === undefined ? await this.#disk.read(request) : file;
    const { bytes, digest } = read ?? {};
    if (read === undefined || bytes === undefined || digest === undefined) {
      throw new SnapshotError(
        `${SNAPSHOT_FILE} can't be read whole: expected at most ${SNAPSHOT_MAX_BYTES} bytes`,
      );
    }
    // A new file's problem is logged on a line of its own, and only once.
    this.#seen = { identity: read.identity, root: read.root };
    this.#lastProblem = '';
    const snapshot = parseSnapshot(bytes.toString('utf8'));
    const epoch = (before?.epoch ?? 0) + 1;
    this.#active = await activate(snapshot, { ...read, digest }, epoch, this.#overrides, this.#disk);
    // The next build makes a hard link to snapshot.json, which changes its identity, and a build
    // without changes writes only its time.
    const isKnown =
      this.#isReadable &&
      before?.root === read.root &&
      describeSnapshot(before.snapshot) === describeSnapshot(snapshot);
    this.#isReadable = true;
    if (!isKnown) this.#log(`serving ${describeSnapshot(snapshot)}`);
    const overrides = describeOverrides(this.#active);
    if (overrides !== '' && overrides !== this.#lastOverrides) this.#log(overrides);
    this.#lastOverrides = overrides;
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
    const consequence = this.#active
      ? `still serving ${describeSnapshot(this.#active.snapshot)}`
      : 'responding 503 until there is a good one';
    const line = `${problem}: ${consequence}`;
    if (line !== this.#lastProblem) this.#log(line);
    this.#lastProblem = line;
  }
}
