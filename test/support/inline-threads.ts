/** Threads that are none: calls are made in this one, in order. */
import { Register } from '../../generator/register/database.js';
import type { Connection } from '../../generator/register/snapshot.js';
import {
  perform,
  type ModuleName,
  type RegisterSource,
  type TaskInput,
  type TaskName,
  type TaskOptions,
  type TaskOutput,
  type Threads,
} from '../../generator/pipeline/threads.js';

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
    { onProgress, onStart }: TaskOptions = {},
  ): Promise<TaskOutput<M, F>> {
    const advance = (steps: number): void => onProgress?.(steps);
    // As between threads: what can't be cloned is a mistake here, too.
    const call = async (): Promise<TaskOutput<M, F>> => {
      onStart?.();
      const context = { register: this.#register, advance };
      return structuredClone(
        await perform<TaskOutput<M, F>>(context, { module, name, input: structuredClone(input) }),
      );
    };
    return new Promise((resolve, reject) => {
      this.#last = this.#afterwards(this.#last, () => call().then(resolve, reject));
    });
  }

  async #afterwards(last: Promise<unknown>, call: () => Promise<void>): Promise<void> {
    await last;
    if (!this.#isClosed) await call();
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
