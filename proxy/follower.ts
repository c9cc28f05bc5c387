import { join } from 'node:path';

import { SNAPSHOT_CHECK_MS } from './config.js';
import { errorCode, lookAt, openFile, readAll } from './files.js';
import type { Clock } from './limiter/memory-store.js';
import { parseSnapshot, SNAPSHOT_FILE, SnapshotError, type Snapshot } from './snapshot.js';

/** Writes one line for the operator. */
export type Log = (line: string) => void;

/** What the proxy does to the world beside answering; tests hand in their own. */
export interface Effects {
  readonly clock: Clock;
  readonly log: Log;
}

/**
 * Keeps the snapshot in service: the newest that could be read. Looks for a new one when a request comes and
 * the last look is a second old, so an idle proxy does nothing and a busy one makes one stat a second.
 */
export class SnapshotFollower {
  readonly #path: string;
  readonly #effects: Effects;
  #snapshot: Snapshot | undefined;
  #generation = 0;
  /** Identity of the last snapshot.json that was read, good or bad. */
  #seen: string | undefined;
  #lookedAtMs = Number.NEGATIVE_INFINITY;
  #looking: Promise<void> | undefined;
  /** The last line about something wrong, so that it is logged once and not each second. */
  #complaint = '';

  constructor(dist: string, effects: Effects) {
    this.#path = join(dist, SNAPSHOT_FILE);
    this.#effects = effects;
  }

  /** The snapshot in service, undefined before the first one. */
  get snapshot(): Snapshot | undefined {
    return this.#snapshot;
  }

  /**
   * Counts the snapshots taken into service. Whatever was read from the tree under another generation may be
   * out of date.
   */
  get generation(): number {
    return this.#generation;
  }

  /**
   * The first look, at start-up. No snapshot is fine, the proxy waits for one.
   *
   * @throws SnapshotError for one that can't be served by, and what the file system says of one that can't be
   *   read
   */
  async start(): Promise<void> {
    this.#lookedAtMs = this.#effects.clock();
    await this.#look();
  }

  /**
   * Undefined if the last look is fresh, else a promise of the next one. It never rejects: what is wrong is
   * logged, and the last good snapshot stays.
   */
  refresh(): Promise<void> | undefined {
    if (this.#looking !== undefined) return this.#looking;
    const nowMs = this.#effects.clock();
    if (nowMs - this.#lookedAtMs < SNAPSHOT_CHECK_MS) return undefined;
    this.#lookedAtMs = nowMs;
    this.#looking = this.#look()
      .catch((error: unknown) => {
        this.#complain(
          error instanceof SnapshotError
            ? error.message
            : `${SNAPSHOT_FILE} can't be read (${errorCode(error) ?? String(error)})`,
        );
      })
      .finally(() => {
        this.#looking = undefined;
      });
    return this.#looking;
  }

  async #look(): Promise<void> {
    const state = await lookAt(this.#path);
    if (state !== undefined && state.identity === this.#seen) return;
    const file = state && (await openFile(this.#path));
    if (file === undefined) {
      this.#seen = undefined;
      this.#complain(`no ${SNAPSHOT_FILE}`);
      return;
    }
    try {
      const text = (await readAll(file)).toString('utf8');
      // Whatever is wrong with this file is worth a line of its own, and one only.
      this.#seen = file.state.identity;
      this.#complaint = '';
      this.#snapshot = parseSnapshot(text);
    } finally {
      await file.handle.close();
    }
    this.#generation += 1;
    this.#effects.log(`serving ${titleOf(this.#snapshot)}`);
  }

  #complain(complaint: string): void {
    const served = this.#snapshot && `still serving ${titleOf(this.#snapshot)}`;
    const line = `${complaint}: ${served ?? 'answering 503 until there is a good one'}`;
    if (line !== this.#complaint) this.#effects.log(line);
    this.#complaint = line;
  }
}

/** "snapshot 3, as of 2026-11-20T08:00:00Z". */
export function titleOf({ sequence, as_of: asOf }: Snapshot): string {
  return `snapshot ${sequence}, ${asOf === null ? 'of an empty register' : `as of ${asOf}`}`;
}
