/** The threads of a build. Each takes the next job as soon as it is done with the one before. */
import type { Hidden } from '../register/open.js';
import type { IdRange } from '../register/sql.js';
import { Thread } from './thread.js';
import type { Hear } from './thread.js';

/** One renders while another writes exports: more would need more memory, and the main thread is the slowest of all. */
const THREADS = 2;

/** A job that waits for a thread, and who waits for the job. */
interface Waiting<Job> {
  readonly job: Job;
  readonly hear: Hear | undefined;
  readonly resolve: (value: unknown) => void;
  readonly reject: (error: unknown) => void;
}

export class Pool<Job extends object> {
  readonly threads: readonly Thread[];
  readonly #idle: Thread[];
  readonly #waiting: Waiting<Job>[] = [];

  /**
   * Starts the threads, which open the register.
   * @param module what they run: a module that calls `serve`
   */
  constructor(module: URL, register: string) {
    this.threads = Array.from({ length: THREADS }, () => new Thread(module, register));
    this.#idle = [...this.threads];
  }

  /** Rejects where one of them could not open the register. */
  async opened(): Promise<void> {
    await Promise.all(this.threads.map((thread) => thread.opened));
  }

  /** Hands over what is not published. */
  async hide(hidden: Hidden): Promise<void> {
    await Promise.all(this.threads.map((thread) => thread.hide(hidden)));
  }

  /** Tells which ids the scope `changed` speaks of. */
  async scope(ranges: readonly IdRange[]): Promise<void> {
    await Promise.all(this.threads.map((thread) => thread.scope(ranges)));
  }

  /**
   * Has a job done by the next thread that is free, after those that were given before.
   * @param hear takes what the thread says meanwhile
   * @returns what it answers, unchecked; rejects with its failure, or where the thread ended
   */
  run(job: Job, hear?: Hear): Promise<unknown> {
    const done = new Promise<unknown>((resolve, reject) =>
      this.#waiting.push({ job, hear, resolve, reject }),
    );
    this.#keepBusy();
    return done;
  }

  /** Whether a thread has nothing to do. */
  get isIdle(): boolean {
    return this.#idle.length > 0;
  }

  /** Has a job done by all threads together, which share it out among themselves (see turns.ts). */
  async share(job: Job, hear?: Hear): Promise<readonly unknown[]> {
    return Promise.all(this.threads.map(() => this.run(job, hear)));
  }

  #keepBusy(): void {
    const [thread] = this.#idle;
    const [next] = this.#waiting;
    if (thread === undefined || next === undefined) return;
    this.#idle.shift();
    this.#waiting.shift();
    void thread
      .ask(next.job, next.hear)
      .then(next.resolve, next.reject)
      .finally(() => {
        this.#idle.push(thread);
        this.#keepBusy();
      });
  }

  /** Ends the threads, whatever they are at. */
  async close(): Promise<void> {
    await Promise.all(this.threads.map((thread) => thread.close()));
  }
}
