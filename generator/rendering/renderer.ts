/** The thread that renders, as the main thread sees it. */
import type { Writer } from '../exports/exporter.js';
import { asWritten, progressOf } from '../exports/messages.js';
import type { Written } from '../exports/write.js';
import type { Rendering } from '../outputs/details.js';
import type { Folders } from '../publish/inputs.js';
import type { IdRange } from '../register/sql.js';
import { Thread } from '../threads/thread.js';
import { asBatch } from './batch.js';
import type { Batch } from './batch.js';
import { asSums, asSurveyed } from './messages.js';
import type { RenderRequest } from './messages.js';
import type { SurveyedTable } from './survey.js';

export class Renderer implements Writer {
  readonly thread: Thread<RenderRequest>;
  rows = 0;
  /** The checksums of the files of inputs that the last rendering wrote, by what they are of. */
  sums: Readonly<Record<string, string>> = {};
  #batches: Batch[] = [];
  /** Called when there is something new. */
  #wake: () => void = () => undefined;

  /**
   * Starts the thread.
   * @param module worker.js
   */
  constructor(module: URL, register: string) {
    this.thread = new Thread(module, register, (said) => {
      if ('rows' in said) this.rows += progressOf(said);
      else this.#batches.push(asBatch(said));
      this.#wake();
    });
  }

  async write(table: string, folder: string): Promise<Written> {
    return asWritten(await this.thread.ask({ do: 'write', table, folder }));
  }

  /** What changed in a table. */
  async survey(table: string, folders: Folders): Promise<SurveyedTable> {
    return asSurveyed(await this.thread.ask({ do: 'survey', table, folders }));
  }

  /**
   * Renders the details. The thread is never more than a few batches ahead.
   * @param ranges the ids that the scope speaks of
   */
  async *render(
    rendering: Rendering,
    ranges: readonly IdRange[],
    folders: Folders,
  ): AsyncGenerator<Batch, void, undefined> {
    const taken = new Int32Array(new SharedArrayBuffer(Int32Array.BYTES_PER_ELEMENT));
    let isDone = false;
    const answered = this.thread.ask({ do: 'render', rendering, ranges, folders, taken }).finally(() => {
      isDone = true;
      this.#wake();
    });
    // Thrown below, when all that was rendered before is taken.
    answered.catch(() => undefined);
    for (;;) {
      const batches = this.#batches;
      this.#batches = [];
      for (const batch of batches) {
        yield batch;
        // Gives its memory back at once: left to the collector, much of it would pile up first.
        structuredClone(null, { transfer: [batch.content.buffer, batch.hashes.buffer] });
        Atomics.add(taken, 0, 1);
        Atomics.notify(taken, 0);
      }
      if (batches.length > 0) continue;
      if (isDone) {
        this.sums = asSums(await answered);
        return;
      }
      await new Promise<void>((resolve) => {
        this.#wake = resolve;
      });
    }
  }
}
