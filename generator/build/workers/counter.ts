/** Reports progress in batches. */

/** Documents between two reports. */
const STEPS = 256;

export class Counter {
  readonly #advance: (steps: number) => void;
  #steps = 0;

  constructor(advance: (steps: number) => void) {
    this.#advance = advance;
  }

  count(): void {
    this.#steps += 1;
    if (this.#steps === STEPS) this.report();
  }

  report(): void {
    this.#advance(this.#steps);
    this.#steps = 0;
  }
}
