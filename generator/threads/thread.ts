/** A thread with a connection of its own to the register, as the main thread sees it. */
import { Worker } from 'node:worker_threads';
import { Failure } from '../errors.js';
import type { Hidden } from '../register/open.js';
import type { Renewable } from '../register/together.js';
import { asReply } from './messages.js';
import type { CommonRequest, Members } from './messages.js';

/** Young objects of a thread before they are collected: with V8's default, 48 MB, threads take more and are no faster. */
const YOUNG_MB = 8;

interface Asked {
  readonly resolve: (value: unknown) => void;
  readonly reject: (error: unknown) => void;
}

/** Requests are answered in their order; what the thread says in between goes to `hear`. */
export class Thread<Request extends object> implements Renewable {
  readonly #worker: Worker;
  readonly #hear: (said: Members) => void;
  readonly #asked: Asked[] = [];
  #failure: unknown;
  /** The thread's first answer: whether it could open the register. */
  readonly opened: Promise<unknown>;

  /**
   * Starts the thread, which opens the register.
   * @param module what it runs: a module that calls `serve`
   * @param hear takes messages that are no answers
   */
  constructor(module: URL, register: string, hear: (said: Members) => void = () => undefined) {
    this.#hear = hear;
    this.#worker = new Worker(module, {
      workerData: register,
      resourceLimits: { maxYoungGenerationSizeMb: YOUNG_MB },
    });
    this.#worker.on('message', (message: unknown) => this.#receive(message));
    this.#worker.on('error', (error) => this.#fail(error));
    this.#worker.on('exit', () => this.#fail(new TypeError('a thread ended')));
    this.opened = this.#answered();
    // Whoever waits for it is told.
    this.opened.catch(() => undefined);
  }

  async renew(): Promise<void> {
    await this.#send({ do: 'renew' });
  }

  /** Hands over what is not published. */
  async hide(hidden: Hidden): Promise<void> {
    await this.#send({ do: 'hide', hidden });
  }

  /** @returns what the thread answers, unchecked; rejects with its failure, or where the thread ended */
  ask(request: Request): Promise<unknown> {
    return this.#send(request);
  }

  /** Ends the thread, whatever it is at. */
  async close(): Promise<void> {
    await this.#worker.terminate();
  }

  #send(request: Request | CommonRequest): Promise<unknown> {
    const answered = this.#answered();
    this.#worker.postMessage(request);
    return answered;
  }

  #answered(): Promise<unknown> {
    return new Promise((resolve, reject) => {
      if (this.#failure === undefined) this.#asked.push({ resolve, reject });
      else reject(this.#failure);
    });
  }

  #receive(message: unknown): void {
    const heard = asReply(message);
    if (heard.is === 'said') this.#hear(heard.said);
    else if (heard.is === 'done') this.#asked.shift()?.resolve(heard.value);
    else this.#asked.shift()?.reject(Failure.from(heard));
  }

  #fail(error: unknown): void {
    this.#failure ??= error;
    for (const { reject } of this.#asked.splice(0)) reject(this.#failure);
  }
}
