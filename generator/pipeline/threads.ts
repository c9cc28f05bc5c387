/** The threads of a build. There is one thing that they do: call a function of a module with an input. */
import { statSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { setTimeout } from 'node:timers/promises';
import { Worker } from 'node:worker_threads';
import { Failure, asFailure, codeOf, type FailureParts } from '../base/errors.js';
import type { Context } from '../register/context.js';
import { Register } from '../register/database.js';
import type { Connection } from '../register/snapshot.js';

/** The modules whose functions threads call. A thread loads those that it needs. */
const MODULES = {
  './sections.js': () => import('./sections.js'),
  './counts.js': () => import('./counts.js'),
  '../register/check.js': () => import('../register/check.js'),
  '../exports/write-table.js': () => import('../exports/write-table.js'),
  '../exports/documents.js': () => import('../exports/documents.js'),
  '../exports/database.js': () => import('../exports/database.js'),
};
type Modules = { readonly [M in keyof typeof MODULES]: Awaited<ReturnType<(typeof MODULES)[M]>> };
export type ModuleName = keyof Modules;

/** The names of a module's functions that take a context and an input. */
export type TaskName<M extends ModuleName> = {
  [Name in keyof Modules[M]]: Modules[M][Name] extends (context: Context, input: never) => unknown
    ? Name
    : never;
}[keyof Modules[M]] &
  string;
type Task<M extends ModuleName, F extends TaskName<M>> = Modules[M][F] extends (
  context: Context,
  input: infer Input,
) => infer Output
  ? { readonly input: Input; readonly output: Awaited<Output> }
  : never;
export type TaskInput<M extends ModuleName, F extends TaskName<M>> = Task<M, F>['input'];
export type TaskOutput<M extends ModuleName, F extends TaskName<M>> = Task<M, F>['output'];

/** A message to a thread. */
export interface Call {
  readonly module: ModuleName;
  readonly name: string;
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

/** Calls a function of a module. @throws Failure environment: the disk is full or fails */
export async function perform<Output>(context: Context, { module, name, input }: Call): Promise<Output> {
  const loaded: unknown = await MODULES[module]();
  const task: unknown = Reflect.get(Object(loaded), name);
  if (!isFunction<Output>(task)) throw new TypeError(`${module} has no function ${name}`);
  try {
    return await task(context, input);
  } catch (error) {
    throw asFailure(error, module.startsWith('../exports/') ? 'the downloads' : 'the documents');
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
export interface Threads {
  /** The connections to the register. Each has a read transaction of its own until that is restarted. */
  readonly connections: readonly Connection[];
  /** Has the first free thread call a function. Rejects with its Failure, or if the thread ended. */
  run<M extends ModuleName, F extends TaskName<M>>(
    module: M,
    name: F,
    input: TaskInput<M, F>,
    options?: TaskOptions,
  ): Promise<TaskOutput<M, F>>;
  /** Has each thread call a function. */
  all<M extends ModuleName, F extends TaskName<M>>(module: M, name: F, input: TaskInput<M, F>): Promise<void>;
  /** Ends the threads. Waiting calls never settle. A thread inside SQLite ends as soon as it is not. */
  close(): Promise<void>;
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

export class WorkerThreads implements Threads {
  readonly connections: readonly WorkerThread[];
  readonly #free: WorkerThread[];
  readonly #waiting: ((thread: WorkerThread) => Promise<unknown>)[] = [];

  constructor(module: URL, source: RegisterSource) {
    const threads = Math.min(Math.max(availableParallelism(), FEWEST), MOST);
    this.connections = Array.from({ length: threads }, () => new WorkerThread(module, source));
    this.#free = [...this.connections];
  }

  run<M extends ModuleName, F extends TaskName<M>>(
    module: M,
    name: F,
    input: TaskInput<M, F>,
    { onStart, onProgress }: TaskOptions = {},
  ): Promise<TaskOutput<M, F>> {
    return new Promise((resolve, reject) => {
      this.#waiting.push((thread) => {
        onStart?.();
        return thread.call<TaskOutput<M, F>>({ module, name, input }, onProgress).then(resolve, reject);
      });
      this.#start();
    });
  }

  async all<M extends ModuleName, F extends TaskName<M>>(
    module: M,
    name: F,
    input: TaskInput<M, F>,
  ): Promise<void> {
    await Promise.all(this.connections.map((thread) => thread.call({ module, name, input })));
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

  async close(): Promise<void> {
    this.#waiting.length = 0;
    await Promise.all(this.connections.map((thread) => thread.close()));
  }
}

/** The main thread's handle of a worker, which has its own connection and takes calls in order. */
class WorkerThread implements Connection {
  readonly #worker: Worker;
  #failure: unknown;
  #last: Promise<unknown> = Promise.resolve();

  constructor(module: URL, source: RegisterSource) {
    this.#worker = new Worker(module, {
      workerData: source,
      resourceLimits: { maxYoungGenerationSizeMb: YOUNG_MB },
    });
    this.#worker.on('error', (error) => (this.#failure ??= asThreadFailure(error)));
    this.#worker.on('exit', () => (this.#failure ??= new TypeError('a thread ended')));
  }

  async restartRead(clock: Date): Promise<void> {
    await this.call({ module: './sections.js', name: 'restartRead', input: clock });
  }

  /** Makes a call after the earlier ones. Rejects with its Failure, or if the thread ended. */
  call<Output>(call: Call, onProgress?: TaskOptions['onProgress']): Promise<Output> {
    const called = this.#last.then(() => this.#call<Output>(call, onProgress));
    this.#last = called.catch(() => undefined);
    return called;
  }

  #call<Output>(call: Call, onProgress?: TaskOptions['onProgress']): Promise<Output> {
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

/** Calls functions in this thread, one after the other. */
export class InlineThreads implements Threads {
  readonly connections: readonly Connection[];
  readonly #register: Register;
  #last: Promise<unknown> = Promise.resolve();
  #isClosed = false;

  constructor({ file, notMeasured }: RegisterSource) {
    this.#register = Register.join(file, notMeasured);
    this.connections = [this.#register];
  }

  run<M extends ModuleName, F extends TaskName<M>>(
    module: M,
    name: F,
    input: TaskInput<M, F>,
    { onStart, onProgress }: TaskOptions = {},
  ): Promise<TaskOutput<M, F>> {
    const call = async (): Promise<TaskOutput<M, F>> => {
      onStart?.();
      const context = { register: this.#register, advance: (steps: number) => onProgress?.(steps) };
      // What can't be cloned could not be sent to a thread either.
      const output = await perform<TaskOutput<M, F>>(context, {
        module,
        name,
        input: structuredClone(input),
      });
      return structuredClone(output);
    };
    return new Promise((resolve, reject) => {
      this.#last = this.#last.then(() => (this.#isClosed ? undefined : call().then(resolve, reject)));
    });
  }

  async all<M extends ModuleName, F extends TaskName<M>>(
    module: M,
    name: F,
    input: TaskInput<M, F>,
  ): Promise<void> {
    await this.run(module, name, input);
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    await this.#last;
    this.#register.close();
  }
}
