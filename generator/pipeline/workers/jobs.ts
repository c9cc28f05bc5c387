/** The jobs that threads can run. Each imports its modules lazily, since most builds need few. */
import type { TableCounts } from '../counts.js';
import { asFailure, type FailureParts } from '../../base/errors.js';
import type { ExportJobs } from '../../exports/parts.js';
import type { CheckReport } from '../../register/findings.js';
import type { Exclusions } from '../../register/database.js';
import type { Context } from '../../register/context.js';
import type { Kind } from '../../schema/field.js';
import type { Table } from '../../schema/schema.js';
import type { RenderSection } from './section.js';
import type { ShardJob, ShardResult } from './shard.js';

interface Job<In, Out = void> {
  readonly input: In;
  readonly output: Out;
}

/** Input and output of each job: values that the structured clone algorithm accepts. */
interface Jobs extends ExportJobs {
  /** Starts a new read transaction at this time. */
  readonly restartRead: Job<Date>;
  /** Takes over the main thread's exclusions. */
  readonly exclude: Job<Exclusions>;
  /** Takes a step of the check. */
  readonly check: Job<number, CheckReport>;
  readonly shard: Job<ShardJob, ShardResult>;
  readonly count: Job<{ readonly kind: Kind; readonly table: Table }, TableCounts>;
  readonly section: Job<RenderSection>;
}
export type JobName = keyof Jobs;
export type Input<Name extends JobName> = Jobs[Name]['input'];
export type JobOutput<Name extends JobName> = Jobs[Name]['output'];

/** A message to a thread. */
export interface Call<Name extends JobName> {
  readonly name: Name;
  readonly input: Input<Name>;
}

/** A message from a thread: any number of `progress`, then `done`, or `failed` if expected. */
export type Reply<Name extends JobName> =
  | { readonly is: 'progress'; readonly steps: number }
  | { readonly is: 'done'; readonly output: JobOutput<Name> }
  | { readonly is: 'failed'; readonly failure: FailureParts };

const JOBS: {
  readonly [Name in JobName]: (
    context: Context,
    input: Input<Name>,
  ) => JobOutput<Name> | Promise<JobOutput<Name>>;
} = {
  restartRead: ({ register }, clock) => register.restartRead(clock),
  exclude: ({ register }, exclusions) => register.exclude(exclusions),
  check: async ({ register }, step) => {
    const { takeStep } = await import('../../register/check.js');
    return takeStep(register, step);
  },
  shard: async (context, job) => {
    const { buildShard } = await import('./shard.js');
    return buildShard(context, job);
  },
  count: async ({ register }, { kind, table }) => {
    const { countTable } = await import('../counts.js');
    return countTable(register, kind, table);
  },
  section: async (context, job) => {
    const { renderSection } = await import('./section.js');
    return renderSection(context, job);
  },
  export: async (context, job) => {
    const { writeExport } = await import('../../exports/write.js');
    return writeExport(context, job);
  },
  documents: async (context, job) => {
    const { writeDocuments } = await import('../../exports/documents.js');
    return writeDocuments(context, job);
  },
  otherDocuments: async (context, job) => {
    const { writeOtherDocuments } = await import('../../exports/documents.js');
    return writeOtherDocuments(context, job);
  },
  database: async (context, job) => {
    const { writeDatabase } = await import('../../exports/database.js');
    return writeDatabase(context, job);
  },
};

/** What a job writes, for the message if the disk fails. */
const WRITTEN: Readonly<Partial<Record<JobName, string>>> = {
  shard: 'the documents',
  section: 'the documents',
  export: 'the exports',
  documents: 'the exports',
  otherDocuments: 'the exports',
  database: 'the exports',
};

/** Runs a job. @throws Failure environment: the disk is full or fails */
export async function perform<Name extends JobName>(
  context: Context,
  { name, input }: Call<Name>,
): Promise<JobOutput<Name>> {
  try {
    return await JOBS[name](context, input);
  } catch (error) {
    throw asFailure(error, WRITTEN[name] ?? 'temporary data of SQLite');
  }
}
