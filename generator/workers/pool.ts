/** The worker threads of a build, and the queue of what they are to do. */
import { availableParallelism } from 'node:os';
import { setTimeout } from 'node:timers/promises';
import { Worker } from 'node:worker_threads';
import { Failure, codeOf } from '../errors.js';
import type { Renewable } from '../register/snapshot.js';
import type { Call, Input, JobName, Output, Reply } from './jobs.js';

/** More threads than these were not tried; fewer leave the disk idle while something is computed. */
const MOST = 4;
const FEWEST = 2;

/** Young objects of a thread before they are collected: with V8's default, 48 MB, threads take more and are no faster. */
const YOUNG_MB = 8;

/** Called with how many steps of a job were done since the last time. */
export type OnProgress = (steps: number) => void;

/** How long a thread may go on with its job when it is to end: 250 ms. */
const GRACE_MS = 250;

export interface Options {
  readonly onProgress?: OnProgress;
  /** What the job writes into: while others wait, no two jobs write into the same at once. */
  readonly folder?: string;
}

interface Waiting {
  readonly folder: string | undefined;
  readonly start: (thread: Thread) => Promise<unknown>;
}

/** Does a build's jobs, several at once. */
export interface Pool {
  /** What reads the register, each at a state of its own until it is renewed. */
  readonly threads: readonly Renewable[];
  /** Rejects with the job's failure. */
  run<Name extends JobName>(name: Name, input: Input<Name>, options?: Options): Promise<Output<Name>>;
  /** Has each thread do a job. */
  all<Name extends JobName>(name: Name, input: Input<Name>): Promise<void>;
  /** Ends the threads. Jobs that wait are never done. */
  close(): Promise<void>;
}

export class ThreadPool implements Pool {
  readonly threads: readonly Thread[];
  /** Threads at work, with the folders that they write into. */
  readonly #busy = new Map<Thread, string | undefined>();
  readonly #waiting: Waiting[] = [];

  /**
   * Starts the threads, which open the register.
   * @param module what they run (worker.js)
   */
  constructor(module: URL, register: string) {
    const threads = Math.min(Math.max(availableParallelism(), FEWEST), MOST);
    this.threads = Array.from({ length: threads }, () => new Thread(module, register));
  }

  run<Name extends JobName>(
    name: Name,
    input: Input<Name>,
    { folder, onProgress }: Options = {},
  ): Promise<Output<Name>> {
    const done = new Promise<Output<Name>>((resolve, reject) => {
      this.#waiting.push({
        folder,
        start: (thread) => thread.ask(name, input, onProgress).then(resolve, reject),
      });
    });
    this.#startNext();
    return done;
  }

  async all<Name extends JobName>(name: Name, input: Input<Name>): Promise<void> {
    await Promise.all(this.threads.map((thread) => thread.ask(name, input)));
  }

  #startNext(): void {
    const thread = this.threads.find((candidate) => !this.#busy.has(candidate));
    if (thread === undefined || this.#waiting.length === 0) return;
    const written = new Set(this.#busy.values());
    // Two threads that make files in one folder are no faster than one.
    const apart = this.#waiting.findIndex(({ folder }) => folder === undefined || !written.has(folder));
    const [next] = this.#waiting.splice(Math.max(apart, 0), 1);
    if (next === undefined) return;
    this.#busy.set(thread, next.folder);
    void next.start(thread).finally(() => {
      this.#busy.delete(thread);
      this.#startNext();
    });
  }

  async close(): Promise<void> {
    this.#waiting.length = 0;
    await Promise.all(this.threads.map((thread) => thread.close()));
  }
}

/** A thread with a connection of its own to the register, as the main thread sees it. It does one thing after the other. */
export class Thread implements Renewable {
  readonly #worker: Worker;
  #failure: unknown;
  #last: Promise<unknown> = Promise.resolve();

  constructor(module: URL, register: string) {
    this.#worker = new Worker(module, {
      workerData: register,
      resourceLimits: { maxYoungGenerationSizeMb: YOUNG_MB },
    });
    this.#worker.on('error', (error) => (this.#failure ??= asThreadFailure(error)));
    this.#worker.on('exit', () => (this.#failure ??= new TypeError('a thread ended')));
  }

  /** Begins the read transaction anew. */
  async renew(): Promise<void> {
    await this.ask('renew', undefined);
  }

  /** Has the thread do a job when it is done with those before. Rejects with its failure, or where the thread ended. */
  ask<Name extends JobName>(name: Name, input: Input<Name>, onProgress?: OnProgress): Promise<Output<Name>> {
    const asked = this.#last.then(() => this.#ask(name, input, onProgress));
    this.#last = asked.catch(() => undefined);
    return asked;
  }

  #ask<Name extends JobName>(name: Name, input: Input<Name>, onProgress?: OnProgress): Promise<Output<Name>> {
    const worker = this.#worker;
    return new Promise((resolve, reject) => {
      const settle = (): void => {
        worker.off('message', onMessage);
        worker.off('exit', onExit);
      };
      const onMessage = (reply: Reply<Name>): void => {
        if (reply.is === 'progress') {
          onProgress?.(reply.steps);
          return;
        }
        settle();
        if (reply.is === 'done') resolve(reply.output);
        else reject(Failure.from(reply.failure));
      };
      const onExit = (): void => {
        settle();
        reject(this.#failure);
      };
      if (this.#failure !== undefined) {
        reject(this.#failure);
        return;
      }
      worker.on('message', onMessage);
      worker.on('exit', onExit);
      const call: Call<Name> = { name, input };
      worker.postMessage(call);
    });
  }

  /**
   * Ends the thread, a moment after it was to do nothing more: the SQLite driver ends the whole process where an error
   * of SQLite meets the end of its thread, and what breaks one thread mostly breaks the others, too.
   */
  async close(): Promise<void> {
    await Promise.race([this.#last, setTimeout(GRACE_MS, undefined, { ref: false })]);
    await this.#worker.terminate();
  }
}

/** A heap that is full ends a thread: the machine, or a limit that Node was given, has too little memory for it. */
function asThreadFailure(error: unknown): unknown {
  if (codeOf(error) !== 'ERR_WORKER_OUT_OF_MEMORY') return error;
  return Failure.environment('a thread has run out of memory (see --max-old-space-size of node)');
}
