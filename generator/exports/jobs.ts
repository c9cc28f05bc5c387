/** The jobs that write downloads. */
import type { WrittenFile } from '../publish/gzip.js';
import type { DatabaseJob } from './database.js';
import type { DocumentsJob } from './documents.js';
import type { OtherDocumentsJob } from './other-documents.js';
import type { ExportJob } from './write.js';

/** Input and output of each job. */
export interface ExportJobs {
  readonly export: { readonly input: ExportJob; readonly output: readonly WrittenFile[] };
  readonly documents: { readonly input: DocumentsJob; readonly output: readonly WrittenFile[] };
  readonly otherDocuments: { readonly input: OtherDocumentsJob; readonly output: WrittenFile };
  readonly database: { readonly input: DatabaseJob; readonly output: WrittenFile };
}

/** Called with the number of steps done since the last call. */
export type OnProgress = (steps: number) => void;

/** Runs the jobs, several at a time; one that is next comes before all that wait. */
export interface ExportPool {
  run<Name extends keyof ExportJobs>(
    name: Name,
    input: ExportJobs[Name]['input'],
    options: { readonly onProgress: OnProgress; readonly isNext?: boolean },
  ): Promise<ExportJobs[Name]['output']>;
}
