/** The threads of a build. There is one thing that they do: call a function with an input. */
import { statSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { setTimeout } from 'node:timers/promises';
import { Worker } from 'node:worker_threads';
import { Failure, asFailure, codeOf, type FailureParts } from '../base/errors.js';
import type { Context } from '../register/context.js';
import { Register } from '../register/database.js';
import type { Connection } from '../register/snapshot.js';

/** The functions that threads call, with a context and an input. A thread loads the modules of those that it needs. */
const TASKS = {
  restartRead: async () => (await import('./sections.js')).restartRead,
  exclude: async () => (await import('./sections.js')).exclude,
  renderSection: async () => (await import('./sections.js')).renderSection,
  countTable: async () => (await import('./counts.js')).countTable,
  takeStep: async () => (await import('../register/check.js')).takeStep,
  writeTable: async () => (await import('../exports/write-table.js')).writeTable,
  joinLines: async () => (await import('../exports/documents.js')).joinLines,
  writeDatabase: async () => (await import('../exports/database.js')).writeDatabase,
};
export type TaskName = keyof typeof TASKS;
type Task<N extends TaskName> = Awaited<ReturnType<(typeof TASKS)[N]>>;
export type TaskInput<N extends TaskName> = Parameters<Task<N>>[1];
export type TaskOutput<N extends TaskName> = Awaited<ReturnType<Task<N>>>;

/** The tasks that write downloads, as messages name what they write. */
const OF_DOWNLOADS: ReadonlySet<TaskName> = new Set(['writeTable', 'joinLines', 'writeDatabase']);

/** A message to a thread. */
export interface Call {
  readonly name: TaskName;
  readonly input: unknown;
}

/** A message from a thread: any number of `progress`, then `done`, or `failed` if that is expected. */
export type Reply =
  | { readonly is: 'progress'; readonly steps: number }
  | { readonly is: 'done'; readonly output: unknown }
  | { readonly is: 'failed'; readonly failure: FailureParts };

type TaskFunction<Output> = (context: Context, input: unknown) => Output | Promise<Output>;

/** The types of `Threads.run` say what a function takes and returns. */
const isFunction = <Output>(found: unknown): found is TaskFunction<Output> => typeof found === 'function';

/** Calls a function. @throws Failure environment: the disk is full or fails */
export async function perform<Output>(context: Context, { name, input }: Call): Promise<Output> {
  const task: unknown = await TASKS[name]();
  if (!isFunction<Output>(task)) throw new TypeError(`threads have no function ${name}`);
  try {
    return await task(context, input);
  } catch (error) {
    throw asFailure(error, OF_DOWNLOADS.has(name) ? 'the downloads' : 'the documents');
  }
}

/** The register that a thread opens (see `Register.join`). */
export interface RegisterSource {
  readonly file: string;
  readonly notMeasured: readonly string[];
}

export interface TaskOptions {
  /** Called when a thread takes the task, which may have waited. */
  readonly onStart?: () => void;
  /** Called with the number of steps done since the last call. */
  readonly onProgress?: (steps: number) => void;
}

/** Calls functions, several at a time. Inputs and outputs are values that the structured clone algorithm accepts. */
export class Threads {
  /** The connections to the register. Each has a read transaction of its own until that is restarted. */
  readonly connections: readonly Connection[];
  readonly #threads: readonly Thread[];
  readonly #free: Thread[];
  readonly #waiting: ((thread: Thread) => Promise<unknown>)[] = [];

  constructor(threads: readonly Thread[]) {
    this.connections = threads;
    this.#threads = threads;
    this.#free = [...threads];
  }

  /** Has the first free thread call a function. Rejects with its Failure, or if the thread ended. */
  run<N extends TaskName>(
    name: N,
    input: TaskInput<N>,
    { onStart, onProgress }: TaskOptions = {},
  ): Promise<TaskOutput<N>> {
    return new Promise((resolve, reject) => {
      this.#waiting.push((thread) => {
        onStart?.();
        return thread.call<TaskOutput<N>>({ name, input }, onProgress).then(resolve, reject);
      });
      this.#start();
    });
  }

  /** Has each thread call a function. */
  async all<N extends TaskName>(name: N, input: TaskInput<N>): Promise<void> {
    await Promise.all(this.#threads.map((thread) => thread.call({ name, input })));
  }

  #start(): void {
    const thread = this.#waiting.length === 0 ? undefined : this.#free.pop();
    if (thread === undefined) return;
    void this.#waiting
      .shift()?.(thread)
      .finally(() => {
        this.#free.push(thread);
        this.#start();
      });
  }

  /** Ends the threads. Waiting calls never settle. A thread inside SQLite ends as soon as it is not. */
  async close(): Promise<void> {
    this.#waiting.length = 0;
    await Promise.all(this.#threads.map((thread) => thread.close()));
  }
}

/** A thread with a connection of its own, which takes calls in order. */
abstract class Thread implements Connection {
  protected last: Promise<unknown> = Promise.resolve();

  async restartRead(clock: Date): Promise<void> {
    await this.call({ name: 'restartRead', input: clock });
  }

  /** Makes a call after the earlier ones. Rejects with its Failure, or if the thread ended. */
  call<Output>(call: Call, onProgress?: TaskOptions['onProgress']): Promise<Output> {
    const called = this.last.then(() => this.answer<Output>(call, onProgress));
    this.last = called.catch(() => undefined);
    return called;
  }

  protected abstract answer<Output>(call: Call, onProgress: TaskOptions['onProgress']): Promise<Output>;
  abstract close(): Promise<void>;
}

/** Threads at most: fewer leave the disk idle during computation. */
const MOST = 4;
const FEWEST = 2;

/** The size of V8's young generation. Its default of 48 MB takes more memory and is no faster. */
const YOUNG_MB = 8;

/** How long a call may go on when its thread is to end, and how long that may take: 250 ms. */
const GRACE_MS = 250;

/**
 * A register below this size, 1 MiB or some thousand records, has no threads: it is published before one has
 * loaded its modules.
 */
const SMALL_BYTES = 1024 * 1024;

/**
 * Starts as many threads as pay. The register is open already, so that no file of it is opened besides
 * SQLite after that (see `RegisterBytes`).
 * @param module the threads' module (worker.js)
 */
export const startThreads = (module: URL, source: RegisterSource): Threads =>
  statSync(source.file).size < SMALL_BYTES ? new InlineThreads(source) : new WorkerThreads(module, source);

export class WorkerThreads extends Threads {
  constructor(module: URL, source: RegisterSource) {
    const threads = Math.min(Math.max(availableParallelism(), FEWEST), MOST);
    super(Array.from({ length: threads }, () => new WorkerThread(module, source)));
  }
}

/** The main thread's handle of a worker. */
class WorkerThread extends Thread {
  readonly #worker: Worker;
  #failure: unknown;

  constructor(module: URL, source: RegisterSource) {
    super();
    this.#worker = new Worker(module, {
      workerData: source,
      resourceLimits: { maxYoungGenerationSizeMb: YOUNG_MB },
    });
    this.#worker.on('error', (error) => (this.#failure ??= asThreadFailure(error)));
    this.#worker.on('exit', () => (this.#failure ??= new TypeError('a thread ended')));
  }

  protected answer<Output>(call: Call, onProgress: TaskOptions['onProgress']): Promise<Output> {
    const worker = this.#worker;
    return new Promise((resolve, reject) => {
      const settle = (): void => {
        worker.off('message', onMessage);
        worker.off('exit', onExit);
      };
      // The types of `Threads.run` say what a function returns.
      const onMessage = (reply: Exclude<Reply, { is: 'done' }> | { is: 'done'; output: Output }): void => {
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
      worker.postMessage(call);
    });
  }

  /**
   * Ends the thread after a grace period: if it ends during an SQLite error, the driver aborts the
   * whole process, and an error in one thread usually hits the others, too.
   */
  async close(): Promise<void> {
    await Promise.race([this.last, setTimeout(GRACE_MS, undefined, { ref: false })]);
    // Whatever it is in, it runs no more JavaScript.
    await Promise.race([this.#worker.terminate(), setTimeout(GRACE_MS, undefined, { ref: false })]);
  }
}

/** A full heap ends a thread: the machine, or a limit given to Node, has too little memory. */
function asThreadFailure(error: unknown): unknown {
  if (codeOf(error) !== 'ERR_WORKER_OUT_OF_MEMORY') return error;
  return Failure.environment('a thread has run out of memory (see --max-old-space-size of node)');
}

/** Calls functions in this thread, one after the other. */
export class InlineThreads extends Threads {
  constructor(source: RegisterSource) {
    super([new InlineThread(source)]);
  }
}

class InlineThread extends Thread {
  readonly #register: Register;

  constructor({ file, notMeasured }: RegisterSource) {
    super();
    this.#register = Register.join(file, notMeasured);
  }

  protected async answer<Output>(call: Call, onProgress: TaskOptions['onProgress']): Promise<Output> {
    const context = { register: this.#register, advance: (steps: number) => onProgress?.(steps) };
    // What can't be cloned could not be sent to a thread either.
    const input: unknown = structuredClone(call.input);
    return structuredClone(await perform<Output>(context, { ...call, input }));
  }

  async close(): Promise<void> {
    await this.last;
    this.#register.close();
  }
}
