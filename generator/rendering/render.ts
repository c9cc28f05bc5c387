/** Renders details in batches, as far ahead of their publishing as memory should allow. */
import type { Render } from '../jobs.js';
import { details } from '../outputs/details.js';
import { InputsComparison, inputsFile } from '../publish/inputs.js';
import type { Register } from '../register/open.js';
import type { Say } from '../threads/serve.js';
import { Sender } from './batches.js';

/** @returns the checksums of the files of inputs that were written */
export function render(
  register: Register,
  { part, rendering, folders, memory }: Render,
  say: Say,
): Readonly<Record<string, string>> {
  const sender = new Sender(memory, say);
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
    for (const { route, key, body } of outputs) sender.add(route, key, body);
    sender.flush();
    return Object.fromEntries(
      [...comparisons].map(([route, comparison]) => [inputsFile(route), comparison.finish()]),
    );
  } finally {
    for (const comparison of comparisons.values()) comparison.close();
  }
}
