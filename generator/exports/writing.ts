/** What a thread does that is asked to write an export. */
import type { Register } from '../register/open.js';
import type { Say } from '../threads/serve.js';
import { EXPORTS } from './tables.js';
import { writeExport } from './write.js';
import type { Written } from './write.js';

/** Tells how many rows were written as it goes. */
export function write(
  register: Register,
  { table: name, folder }: { readonly table: string; readonly folder: string },
  say: Say,
): Written {
  const table = EXPORTS.find((candidate) => candidate.name === name);
  if (table === undefined) throw new TypeError(`no export is named "${name}"`);
  const writing = writeExport(register, table, folder);
  for (;;) {
    const step = writing.next();
    if (step.done === true) return step.value;
    say({ rows: step.value });
  }
}
