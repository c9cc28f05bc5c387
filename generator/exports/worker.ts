/** The thread that writes the exports, so that they don't hold up the rest. */
import { serve } from '../threads/serve.js';
import { asWriteRequest } from './messages.js';
import { EXPORTS } from './tables.js';
import type { Written } from './write.js';

await serve('the exports', async (register, request, say): Promise<Written> => {
  const { table: name, folder } = asWriteRequest(request);
  // Loaded when it is needed: a build that changes nothing writes nothing.
  const { writeExport } = await import('./write.js');
  const table = EXPORTS.find((candidate) => candidate.name === name);
  if (table === undefined) throw new TypeError(`no export is named "${name}"`);
  const writing = writeExport(register, table, folder);
  for (;;) {
    const step = writing.next();
    if (step.done === true) return step.value;
    say({ rows: step.value });
  }
});
