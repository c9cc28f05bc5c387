/** Details as threads render them, on their way to being published. */
import { setTimeout } from 'node:timers/promises';
import type { Job } from '../jobs.js';
import type { Part, Rendering } from '../outputs/details.js';
import { TURN_MS } from '../progress.js';
import type { Folders } from '../publish/inputs.js';
import type { Pool } from '../threads/pool.js';
import { Receiver, newMemory } from './batches.js';
import type { Batch } from './batches.js';
import { asSums } from './messages.js';

const NOTHING: Batch = { size: 0, documents: [], release: () => undefined };

export class Renderer {
  readonly #pool: Pool<Job>;
  /** The checksums of the files of inputs that were written, by what they are of. */
  readonly sums: Record<string, string> = {};
  readonly #renderings: Promise<void>[] = [];
  #arrived: Batch[] = [];
  #unfinished = 0;
  /** Called when there is something new. */
  #wake: () => void = () => undefined;

  constructor(pool: Pool<Job>) {
    this.#pool = pool;
  }

  /** Has a thread render a part of the details. It is never more than a few batches ahead of those that were taken. */
  begin(part: Part, rendering: Rendering, folders: Folders): void {
    const rendered = this.#render(part, rendering, folders);
    // Thrown by who takes the batches.
    rendered.catch(() => undefined);
    this.#renderings.push(rendered);
  }

  async #render(part: Part, rendering: Rendering, folders: Folders): Promise<void> {
    const memory = newMemory();
    const receiver = new Receiver(memory);
    this.#unfinished += 1;
    try {
      const sums = await this.#pool.run({ do: 'render', part, rendering, folders, memory }, (said) => {
        this.#arrived.push(receiver.receive(said));
        this.#wake();
      });
      Object.assign(this.sums, asSums(sums));
      this.#unfinished -= 1;
    } catch (error) {
      // Nobody waits for the rest.
      this.#unfinished = 0;
      throw error;
    } finally {
      this.#wake();
    }
  }

  /**
   * All that is rendered, as it comes. Where nothing comes for a while an empty batch does, so that signals have their
   * turn.
   */
  async *batches(): AsyncGenerator<Batch, void, undefined> {
    for (;;) {
      const arrived = this.#arrived;
      this.#arrived = [];
      yield* arrived;
      if (arrived.length > 0) continue;
      if (this.#unfinished <= 0) break;
      const news = new Promise<void>((resolve) => {
        this.#wake = resolve;
      });
      await Promise.race([news, setTimeout(TURN_MS, undefined, { ref: false })]);
      yield NOTHING;
    }
    await Promise.all(this.#renderings);
  }
}
