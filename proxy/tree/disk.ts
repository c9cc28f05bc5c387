import { Worker } from 'node:worker_threads';

import type { FileRead, ReadRequest } from './files.js';

/**
 * Reads files in a separate thread. If a disk hangs (a network file system without its server),
 * only reads from it wait, not files in memory. Synchronous reads there also cost less than half of
 * Node's asynchronous ones: a file takes four of them, each a round trip to a thread.
 */
export interface Disk {
  /** See {@link readNow}. */
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

/**
 * Starts the thread.
 *
 * @param worker the compiled disk-worker.ts
 */
export function openDisk(worker: URL): Disk {
  const thread = new Worker(worker);
  const sent: Pending[][] = [];
  let batch: ReadRequest[] = [];
  let waiting: Pending[] = [];

  const send = (): void => {
    thread.postMessage(batch);
    sent.push(waiting);
    batch = [];
    waiting = [];
  };
  thread.on('message', (results: Results) => {
    for (const [index, { resolve, reject }] of (sent.shift() ?? []).entries()) {
      const result = results[index];
      if (result === undefined) reject(new Error('the disk thread left a read without a result'));
      else if ('file' in result) resolve(result.file);
      else reject(Object.assign(new Error(result.message), { code: result.code }));
    }
  });

  return {
    read: (request) =>
      new Promise((resolve, reject) => {
        if (batch.length === 0) setImmediate(send);
        batch.push(request);
        waiting.push({ resolve, reject });
      }),
    close: async () => {
      await thread.terminate();
    },
  };
}
