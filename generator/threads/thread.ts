/** A thread with a connection of its own to the register, as the main thread sees it. */
import { Worker } from 'node:worker_threads';
import { Failure, codeOf } from '../errors.js';
import type { Hidden } from '../register/open.js';
import type { IdRange } from '../register/sql.js';
import type { Renewable } from '../register/together.js';
import { asReply } from './messages.js';
import type { CommonRequest, Members } from './messages.js';

/** Young objects of a thread before they are collected: with V8's default, 48 MB, threads take more and are no faster. */
const YOUNG_MB = 8;

/** Takes what a thread says on its way to an answer. */
export type Hear = (said: Members) => void;

const ignore: Hear = () => undefined;

interface Asked {
  readonly hear: Hear;
  readonly resolve: (value: unknown) => void;
  readonly reject: (error: unknown) => void;
}

/** Requests are answered in their order. */
export class Thread implements Renewable {
  readonly #worker: Worker;
  readonly #asked: Asked[] = [];
  #failure: unknown;
  /** The thread's first answer: whether it could open the register. */
  readonly opened: Promise<unknown>;

  /**
   * Starts the thread, which opens the register.
   * @param module what it runs: a module that calls `serve`
   */
  constructor(module: URL, register: string) {
    this.#worker = new Worker(module, {
      workerData: register,
      resourceLimits: { maxYoungGenerationSizeMb: YOUNG_MB },
    });
    this.#worker.on('message', (message: unknown) => this.#receive(message));
    this.#worker.on('error', (error) => this.#fail(asThreadFailure(error)));
    this.#worker.on('exit', () => this.#fail(new TypeError('a thread ended')));
    this.opened = this.#answered(ignore);
    // Whoever waits for it is told.
    this.opened.catch(() => undefined);
  }

  async renew(): Promise<void> {
    await this.ask({ do: 'renew' });
  }

  /** Hands over what is not published. */
  async hide(hidden: Hidden): Promise<void> {
    await this.ask({ do: 'hide', hidden });
  }

  /** Tells which ids the scope `changed` speaks of. */
  async scope(ranges: readonly IdRange[]): Promise<void> {
    await this.ask({ do: 'scope', ranges });
  }

  /** @returns what the thread answers, unchecked; rejects with its failure, or where the thread ended */
  ask(request: CommonRequest | object, hear = ignore): Promise<unknown> {
    const answered = this.#answered(hear);
    this.#worker.postMessage(request);
    return answered;
  }

  /** Ends the thread, whatever it is at. */
  async close(): Promise<void> {
    await this.#worker.terminate();
  }

  #answered(hear: Hear): Promise<unknown> {
    return new Promise((resolve, reject) => {
      if (this.#failure === undefined) this.#asked.push({ hear, resolve, reject });
      else reject(this.#failure);
    });
  }

  #receive(message: unknown): void {
    const heard = asReply(message);
    if (heard.is === 'said') this.#asked[0]?.hear(heard.said);
    else if (heard.is === 'done') this.#asked.shift()?.resolve(heard.value);
    else this.#asked.shift()?.reject(Failure.from(heard.failure));
  }

  #fail(error: unknown): void {
    this.#failure ??= error;
    for (const { reject } of this.#asked.splice(0)) reject(this.#failure);
  }
}

/** A heap that is full ends a thread: the machine, or a limit that Node was given, has too little memory for it. */
function asThreadFailure(error: unknown): unknown {
  if (codeOf(error) !== 'ERR_WORKER_OUT_OF_MEMORY') return error;
  return Failure.environment('a thread has run out of memory (see --max-old-space-size of node)');
}
