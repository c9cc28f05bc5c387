/** What a thread runs. Modules are loaded when they are needed: a build that changes nothing renders nothing. */
import { asJob } from './jobs.js';
import type { Job } from './jobs.js';
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

const TEMPORARY = 'temporary data of SQLite';

/** What can't be written where a job fails for the disk. */
const WRITTEN = {
  check: TEMPORARY,
  survey: 'what the next build compares with',
  render: 'what the next build compares with',
  write: 'the exports',
  place: 'a document',
  discard: 'the list of what the last commit replaced',
} as const satisfies Readonly<Record<Job['do'], string>>;

const isJobName = (name: unknown): name is Job['do'] =>
  typeof name === 'string' && Object.hasOwn(WRITTEN, name);

await serve(({ do: job }) => (isJobName(job) ? WRITTEN[job] : TEMPORARY), perform);
