/** A pool without threads: it runs jobs in the calling one, in order. */
import { Register } from '../../generator/register/database.js';
import type { Connection } from '../../generator/register/snapshot.js';
import { perform, type Input, type JobName, type JobOutput } from '../../generator/pipeline/workers/jobs.js';
import type { Options, Pool } from '../../generator/pipeline/workers/pool.js';

export class InlinePool implements Pool {
  readonly threads: readonly Connection[];
  readonly #register: Register;
  #last = Promise.resolve();
  #isClosed = false;

  constructor(register: string, notMeasured: readonly string[] = []) {
    this.#register = Register.join(register, notMeasured);
    this.threads = [this.#register];
  }

  run<Name extends JobName>(
    name: Name,
    input: Input<Name>,
    { onProgress, onStart }: Options = {},
  ): Promise<JobOutput<Name>> {
    const advance = (steps: number): void => onProgress?.(steps);
    const context = { register: this.#register, advance };
    // As between threads: what can't be cloned is a mistake here, too.
    const job = async (): Promise<JobOutput<Name>> => {
      onStart?.();
      return structuredClone(await perform(context, { name, input: structuredClone(input) }));
    };
    return new Promise((resolve, reject) => {
      this.#last = this.#afterwards(this.#last, () => job().then(resolve, reject));
    });
  }

  async #afterwards(last: Promise<void>, job: () => Promise<void>): Promise<void> {
    await last;
    if (!this.#isClosed) await job();
  }

  async all<Name extends JobName>(name: Name, input: Input<Name>): Promise<void> {
    await this.run(name, input);
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    await this.#last;
    this.#register.close();
  }
}
