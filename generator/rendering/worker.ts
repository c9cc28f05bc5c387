/** The thread that renders, so that publishing need not wait for it; done with that, it helps with the exports. */
import type { Register } from '../register/open.js';
import type { Members } from '../threads/messages.js';
import { serve } from '../threads/serve.js';
import type { Say } from '../threads/serve.js';
import { asRenderRequest } from './messages.js';
import { surveyTable } from './survey.js';

async function perform(register: Register, message: Members, say: Say): Promise<unknown> {
  const request = asRenderRequest(message);
  switch (request.do) {
    case 'survey':
      return surveyTable(register, request.table, request.folders);
    case 'write': {
      const { write } = await import('../exports/writing.js');
      return write(register, request, say);
    }
    case 'render': {
      // Loaded when it is needed: a build that finds nothing changed renders nothing.
      const { render } = await import('./render.js');
      return render(register, request, say);
    }
  }
}

await serve('the rendering', perform);
