/** The thread of the exports as the main thread sees it. */
import { Worker } from 'node:worker_threads';
import { Failure } from '../errors.js';
import type { Hidden } from '../register/open.js';
import type { Renewable } from '../register/together.js';
import { asReply } from './messages.js';
import type { Request } from './messages.js';
import type { Written } from './write.js';

interface Asked {
  readonly resolve: (written: Written | undefined) => void;
  readonly reject: (error: unknown) => void;
}

export class Exporter implements Renewable {
  readonly #worker: Worker;
  readonly #asked: Asked[] = [];
  #failure: unknown;
  /** Rows written so far, in all exports. */
  rows = 0;

  private constructor(thread: URL, register: string) {
    this.#worker = new Worker(thread, { workerData: register });
    this.#worker.on('message', (message: unknown) => this.#hear(message));
    this.#worker.on('error', (error) => this.#fail(error));
    this.#worker.on('exit', () => this.#fail(new TypeError('the thread of the exports ended')));
  }

  /**
   * Starts the thread and opens its own connection to the register.
   * @param thread the module worker.js
   * @throws Failure as Register.open does
   */
  static async start(thread: URL, register: string): Promise<Exporter> {
    const exporter = new Exporter(thread, register);
    try {
      await exporter.#answered();
      return exporter;
    } catch (error) {
      await exporter.close();
      throw error;
    }
  }

  async renew(): Promise<void> {
    await this.#ask({ do: 'renew' });
  }

  async hide(hidden: Hidden): Promise<void> {
    await this.#ask({ do: 'hide', hidden });
  }

  /** Writes an export's files below a folder, after those asked for before. */
  async write(table: string, folder: string): Promise<Written> {
    const written = await this.#ask({ do: 'write', table, folder });
    if (written === undefined) throw new TypeError(`nothing was written of "${table}"`);
    return written;
  }

  /** Ends the thread, whatever it is at. */
  async close(): Promise<void> {
    await this.#worker.terminate();
  }

  #ask(request: Request): Promise<Written | undefined> {
    const answered = this.#answered();
    this.#worker.postMessage(request);
    return answered;
  }

  #answered(): Promise<Written | undefined> {
    return new Promise((resolve, reject) => {
      if (this.#failure === undefined) this.#asked.push({ resolve, reject });
      else reject(this.#failure);
    });
  }

  #hear(message: unknown): void {
    const heard = asReply(message);
    if (heard.is === 'progress') this.rows += heard.rows;
    else if (heard.is === 'done') this.#asked.shift()?.resolve(heard.written);
    else this.#asked.shift()?.reject(Failure.from(heard));
  }

  #fail(error: unknown): void {
    this.#failure ??= error;
    for (const { reject } of this.#asked.splice(0)) reject(this.#failure);
  }
}
