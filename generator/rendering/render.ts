/** Renders details in batches, as far ahead of their publishing as memory should allow. */
import type { Render } from '../jobs.js';
import { details } from '../outputs/details.js';
import { InputsComparison, inputsFile } from '../publish/inputs.js';
import type { Register } from '../register/open.js';
import type { Say } from '../threads/serve.js';
import { Batcher } from './batch.js';
import type { Batch } from './batch.js';

/** Batches that may be on their way at once: 2 MiB of them. */
const BATCHES_AHEAD = 8;
/** How long one look at what was taken may last: 100 ms. */
const LOOK_MS = 100;

/** @returns the checksums of the files of inputs that were written */
export function render(
  register: Register,
  { part, rendering, folders, taken }: Render,
  say: Say,
): Readonly<Record<string, string>> {
  let sent = 0;
  const send = (batch: Batch): void => {
    for (let done = Atomics.load(taken, 0); sent - done >= BATCHES_AHEAD; done = Atomics.load(taken, 0))
      Atomics.wait(taken, 0, done, LOOK_MS);
    const { route, keys, ends, hashes, content } = batch;
    say({ route, keys, ends, hashes, content }, [keys.buffer, ends.buffer, hashes.buffer, content.buffer]);
    sent += 1;
  };
  const batchers = new Map<string, Batcher>();
  const comparisons = new Map<string, InputsComparison>();
  const comparisonOf = (route: string): InputsComparison => {
    const comparison = comparisons.get(route) ?? new InputsComparison(route, folders);
    comparisons.set(route, comparison);
    return comparison;
  };
  try {
    const outputs = details(register, part, rendering, (route, key, inputs) =>
      comparisonOf(route).note(key, inputs),
    );
    for (const { route, key, body } of outputs) {
      let batcher = batchers.get(route);
      if (batcher === undefined) {
        batcher = new Batcher(route, send);
        batchers.set(route, batcher);
      }
      batcher.add(key, body);
    }
    for (const batcher of batchers.values()) batcher.flush();
    return Object.fromEntries(
      [...comparisons].map(([route, comparison]) => [inputsFile(route), comparison.finish()]),
    );
  } finally {
    for (const comparison of comparisons.values()) comparison.close();
  }
}
