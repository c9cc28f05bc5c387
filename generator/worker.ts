/** What a thread runs. Modules are loaded when they are needed: a build that changes nothing renders nothing. */
import { asJob } from './jobs.js';
import type { Register } from './register/open.js';
import type { Members } from './threads/messages.js';
import { serve } from './threads/serve.js';
import type { Say } from './threads/serve.js';
import { performed } from './threads/turns.js';

async function perform(register: Register, request: Members, say: Say): Promise<unknown> {
  const job = asJob(request);
  switch (job.do) {
    case 'check': {
      const { lookFor } = await import('./register/shared-check.js');
      return lookFor(register, job, say);
    }
    case 'survey': {
      const { surveyTables } = await import('./rendering/survey.js');
      return surveyTables(register, job, say);
    }
    case 'render': {
      const { render } = await import('./rendering/render.js');
      return render(register, job, say);
    }
    case 'write': {
      const { write } = await import('./exports/writing.js');
      return write(register, job, say);
    }
    case 'place': {
      const { place } = await import('./placing.js');
      return place(job);
    }
    case 'discard': {
      const { deleteFolder } = await import('./publish/files.js');
      return performed(job.turns, job.folders, (folder) => deleteFolder(folder));
    }
  }
}

/** What can't be written where a job fails for the disk. */
const written = (job: unknown): string =>
  job === 'write' ? 'the exports' : 'what the next build compares with';

await serve(({ do: job }) => written(job), perform);
