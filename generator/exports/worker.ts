/** The thread that writes the exports, so that they don't hold up the rest. */
import { serve } from '../threads/serve.js';
import { asWriteRequest } from './messages.js';

await serve('the exports', async (register, request, say) => {
  // Loaded when it is needed: a build that changes nothing writes nothing.
  const { write } = await import('./writing.js');
  return write(register, asWriteRequest(request), say);
});
