import { close } from 'node:fs';
import { Worker } from 'node:worker_threads';

import { TimeoutError } from '../timeout.js';
import type { FileRead, ReadRequest } from './files.js';

/** A disk that takes longer for a read hangs. 5 s. */
const HANGING_MS = 5_000;

/**
 * Reads files in a separate thread. If a disk hangs (a network file system without its server),
 * only reads from it wait, not files in memory. Synchronous reads there also cost less than half of
 * Node's asynchronous ones: a file takes four of them, each a round trip to a thread.
 */
export interface Disk {
  /** Whether a read takes too long at present. Until it ends, every read fails at once. */
  readonly isHanging: boolean;
  /** See {@link readNow}. @throws TimeoutError if the disk hangs */
  readonly read: (request: ReadRequest) => Promise<FileRead | undefined>;
  /** Ends the thread. Reads in progress never settle. */
  readonly close: () => Promise<void>;
}

/** A message to the worker: the requests of one turn of the event loop. */
export type Batch = readonly ReadRequest[];
/** Its reply, in the same order. */
export type Results = readonly (
  { readonly file: FileRead | undefined } | { readonly message: string; readonly code: string | undefined }
)[];

interface Pending {
  readonly resolve: (file: FileRead | undefined) => void;
  readonly reject: (error: Error) => void;
}

/** The requests of one turn, and when they were sent; without requests once they were given up. */
interface Sent {
  readonly atMs: number;
  pending: readonly Pending[];
}

/**
 * Starts the thread.
 *
 * @param worker the compiled disk-worker.ts
 */
export function openDisk(worker: URL, hangingMs = HANGING_MS): Disk {
  // Files that the thread leaves open are closed here.
  const thread = new Worker(worker, { trackUnmanagedFds: false });
  const sent: Sent[] = [];
  let batch: ReadRequest[] = [];
  let waiting: Pending[] = [];
  let isHanging = false;
  let timer: NodeJS.Timeout | undefined;

  const hangs = (): TimeoutError => new TimeoutError(`the disk did not answer within ${hangingMs} ms`);
  const watch = (): void => {
    const [oldest] = sent;
    if (timer !== undefined || isHanging || oldest === undefined) return;
    const elapsedMs = performance.now() - oldest.atMs;
    timer = setTimeout(() => {
      // After a pause of this process, the reply may be there, and timers come first.
      setImmediate(() => {
        timer = undefined;
        if (sent[0] === oldest) giveUp();
        else watch();
      });
    }, hangingMs - elapsedMs);
    timer.unref();
  };
  const giveUp = (): void => {
    isHanging = true;
    for (const entry of sent) {
      for (const { reject } of entry.pending) reject(hangs());
      entry.pending = [];
    }
  };

  const send = (): void => {
    thread.postMessage(batch);
    sent.push({ atMs: performance.now(), pending: waiting });
    batch = [];
    waiting = [];
    watch();
  };
  thread.on('message', (results: Results) => {
    isHanging = false;
    const pending = sent.shift()?.pending ?? [];
    for (const [index, result] of results.entries()) {
      const read = pending[index];
      if (!('file' in result)) read?.reject(Object.assign(new Error(result.message), { code: result.code }));
      else if (read !== undefined) read.resolve(result.file);
      else if (result.file?.descriptor !== undefined) close(result.file.descriptor);
    }
    watch();
  });

  return {
    get isHanging() {
      return isHanging;
    },
    read: (request) =>
      new Promise((resolve, reject) => {
        if (isHanging) {
          reject(hangs());
          return;
        }
        if (batch.length === 0) setImmediate(send);
        batch.push(request);
        waiting.push({ resolve, reject });
      }),
    close: async () => {
      clearTimeout(timer);
      await thread.terminate();
    },
  };
}
