/** The worker threads of a build, and the queue of their jobs. */
import { availableParallelism } from 'node:os';
import { setTimeout } from 'node:timers/promises';
import { Worker } from 'node:worker_threads';
import { Failure, codeOf } from '../../base/errors.js';
import type { Connection } from '../../register/snapshot.js';
import type { Call, Input, JobName, JobOutput, Reply } from './jobs.js';

/** Threads at most. Fewer leave the disk idle during computation; what more gain was not measured. */
const MOST = 4;
const FEWEST = 2;

/** The size of V8's young generation. Its default of 48 MB takes more memory and is no faster. */
const YOUNG_MB = 8;

/** Called with the number of steps done since the last call. */
export type OnProgress = (steps: number) => void;

/** How long a job may continue when its thread is to end, and how long that may take: 250 ms. */
const GRACE_MS = 250;

export interface Options {
  /** Called when a thread takes the job, which may have waited. */
  readonly onStart?: () => void;
  readonly onProgress?: OnProgress;
  /** Where the job writes: two jobs don't write to the same folder while others wait. */
  readonly folder?: string;
  /** Whether the job comes before all that wait. */
  readonly isNext?: boolean;
}

interface WaitingJob {
  readonly folder: string | undefined;
  readonly start: (thread: Thread) => Promise<unknown>;
}

/** The register that a thread opens (see `Register.join`). */
export interface RegisterSource {
  readonly file: string;
  readonly notMeasured: readonly string[];
}

/** Whether a thread's data is a register. */
export const isSource = (data: unknown): data is RegisterSource =>
  typeof data === 'object' &&
  data !== null &&
  'file' in data &&
  typeof data.file === 'string' &&
  'notMeasured' in data &&
  Array.isArray(data.notMeasured);

/** Runs a build's jobs, several at a time. */
export interface Pool {
  /** The connections to the register. Each has its own read transaction until that is restarted. */
  readonly threads: readonly Connection[];
  /** Queues a job for the first free thread. Rejects with its failure, or if the thread ended. */
  run<Name extends JobName>(name: Name, input: Input<Name>, options?: Options): Promise<JobOutput<Name>>;
  /** Runs a job in each thread. */
  all<Name extends JobName>(name: Name, input: Input<Name>): Promise<void>;
  /** Ends the threads. Queued jobs never settle. A thread inside SQLite ends as soon as it is not. */
  close(): Promise<void>;
}

export class ThreadPool implements Pool {
  readonly threads: readonly Thread[];
  /** Busy threads, with the folders that they write to. */
  readonly #busy = new Map<Thread, string | undefined>();
  readonly #waiting: WaitingJob[] = [];

  /**
   * Starts the threads, which open the register.
   * @param module the threads' module (worker.js)
   * @param notMeasured see `Register.open`
   */
  constructor(module: URL, register: string, notMeasured: readonly string[] = []) {
    const threads = Math.min(Math.max(availableParallelism(), FEWEST), MOST);
    this.threads = Array.from({ length: threads }, () => new Thread(module, { file: register, notMeasured }));
  }

  run<Name extends JobName>(
    name: Name,
    input: Input<Name>,
    { folder, isNext = false, onProgress, onStart }: Options = {},
  ): Promise<JobOutput<Name>> {
    const done = new Promise<JobOutput<Name>>((resolve, reject) => {
      this.#waiting.splice(isNext ? 0 : this.#waiting.length, 0, {
        folder,
        start: (thread) => {
          onStart?.();
          return thread.ask(name, input, onProgress).then(resolve, reject);
        },
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
    // Two threads that create files in one folder are no faster than one.
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

/** The main thread's handle of a worker, which has its own connection and runs jobs in order. */
export class Thread implements Connection {
  readonly #worker: Worker;
  #failure: unknown;
  #last: Promise<unknown> = Promise.resolve();

  constructor(module: URL, register: RegisterSource) {
    this.#worker = new Worker(module, {
      workerData: register,
      resourceLimits: { maxYoungGenerationSizeMb: YOUNG_MB },
    });
    this.#worker.on('error', (error) => (this.#failure ??= asThreadFailure(error)));
    this.#worker.on('exit', () => (this.#failure ??= new TypeError('a thread ended')));
  }

  async restartRead(clock: Date): Promise<void> {
    await this.ask('restartRead', clock);
  }

  /** Runs a job after the earlier ones. Rejects with its failure, or if the thread ended. */
  ask<Name extends JobName>(
    name: Name,
    input: Input<Name>,
    onProgress?: OnProgress,
  ): Promise<JobOutput<Name>> {
    const asked = this.#last.then(() => this.#ask(name, input, onProgress));
    this.#last = asked.catch(() => undefined);
    return asked;
  }

  #ask<Name extends JobName>(
    name: Name,
    input: Input<Name>,
    onProgress?: OnProgress,
  ): Promise<JobOutput<Name>> {
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
   * Ends the thread after a grace period: if it ends during an SQLite error, the driver aborts the
   * whole process, and an error in one thread usually hits the others, too.
   */
  async close(): Promise<void> {
    await Promise.race([this.#last, setTimeout(GRACE_MS, undefined, { ref: false })]);
    // Whatever it is in, it runs no more JavaScript.
    await Promise.race([this.#worker.terminate(), setTimeout(GRACE_MS, undefined, { ref: false })]);
  }
}

/** A full heap ends a thread: the machine, or a limit given to Node, has too little memory. */
function asThreadFailure(error: unknown): unknown {
  if (codeOf(error) !== 'ERR_WORKER_OUT_OF_MEMORY') return error;
  return Failure.environment('a thread has run out of memory (see --max-old-space-size of node)');
}
