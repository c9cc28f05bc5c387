import { close } from 'node:fs';

import { TimeoutError } from '../timeout.js';
import { readFile, type FileRead, type ReadRequest } from './files.js';

/** A read that takes longer hangs. 5 s. */
const HANGING_MS = 5_000;
/** So many reads run at once; others wait, and their time has not begun. */
const MAX_READS = 64;

/** Reads files. If the disk hangs (a network file system without its server), only reads wait. */
export interface Disk {
  /** See {@link readFile}. @throws TimeoutError if the disk hangs */
  readonly read: (request: ReadRequest) => Promise<FileRead | undefined>;
}

interface Pending {
  readonly request: ReadRequest;
  readonly resolve: (file: FileRead | undefined) => void;
  readonly reject: (error: unknown) => void;
}

/**
 * While a read hangs, the reads that wait fail, and new ones fail at once. It keeps its place until
 * it returns, since it keeps one of Node's threads.
 */
export function openDisk(hangingMs = HANGING_MS, read = readFile): Disk {
  const waiting: Pending[] = [];
  let running = 0;
  let hanging = 0;

  const hangs = (): TimeoutError => new TimeoutError(`the disk did not answer within ${hangingMs} ms`);

  const start = ({ request, resolve, reject }: Pending): void => {
    let isDone = false;
    let isLate = false;
    const giveUp = (): void => {
      if (isDone) return;
      isLate = true;
      hanging += 1;
      for (const each of [{ reject }, ...waiting.splice(0)]) each.reject(hangs());
    };
    // After a pause of this process the file may be there, and timers come first.
    const timer = setTimeout(() => setImmediate(giveUp), hangingMs);
    const end = (settle: () => void): void => {
      isDone = true;
      clearTimeout(timer);
      if (isLate) hanging -= 1;
      settle();
      const next = waiting.shift();
      if (next === undefined) running -= 1;
      else start(next);
    };
    read(request).then(
      (file) =>
        end(() => {
          if (!isLate) resolve(file);
          else if (file?.descriptor !== undefined) close(file.descriptor);
        }),
      (error: unknown) => end(() => reject(error)),
    );
  };

  return {
    read: (request) =>
      new Promise((resolve, reject) => {
        const pending = { request, resolve, reject };
        if (hanging > 0) {
          reject(hangs());
        } else if (running < MAX_READS) {
          running += 1;
          // The reads of one turn of the event loop start together at its end, which costs less.
          setImmediate(start, pending);
        } else {
          waiting.push(pending);
        }
      }),
  };
}
