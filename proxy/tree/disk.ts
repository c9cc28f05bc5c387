import { Worker } from 'node:worker_threads';

import type { FileRead, ReadRequest } from './files.js';

/**
 * The disk, behind a thread of its own. A disk that hangs (a network file system whose server is gone) then stops the
 * reads that need it, and nothing that is in memory. Reading there in plain system calls also costs less than half of
 * what Node's asynchronous calls do: each of those is a trip of its own to a thread, and a file takes four.
 */
export interface Disk {
  /** See {@link readNow}. */
  readonly read: (request: ReadRequest) => Promise<FileRead | undefined>;
  /** Ends the thread. Reads that are under way never settle. */
  readonly close: () => Promise<void>;
}

/** What the worker gets: the requests of one turn of the event loop. */
export type Batch = readonly ReadRequest[];
/** What it sends back, in the same order. */
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
