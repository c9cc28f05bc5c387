/** A pool without threads: jobs are done in the calling one, in the order in which they were asked for. */
import { Register } from '../../generator/register/database.js';
import type { Renewable } from '../../generator/register/snapshot.js';
import { perform } from '../../generator/workers/jobs.js';
import type { Input, JobName, Output } from '../../generator/workers/jobs.js';
import type { Options, Pool } from '../../generator/workers/pool.js';

export class InlinePool implements Pool {
  readonly threads: readonly Renewable[];
  readonly #register: Register;
  #last: Promise<unknown> = Promise.resolve();
  #isClosed = false;

  constructor(register: string) {
    this.#register = Register.join(register);
    this.threads = [this.#register];
  }

  run<Name extends JobName>(
    name: Name,
    input: Input<Name>,
    { onProgress }: Options = {},
  ): Promise<Output<Name>> {
    const advance = (steps: number): void => onProgress?.(steps);
    const context = { register: this.#register, advance };
    // As between threads: what can't be cloned is a mistake here, too.
    const job = async (): Promise<Output<Name>> =>
      structuredClone(await perform(context, { name, input: structuredClone(input) }));
    return new Promise((resolve, reject) => {
      this.#last = this.#last.then(async () => {
        if (this.#isClosed) return;
        await job().then(resolve, reject);
      });
    });
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
