/** The parts of the downloads: what each is written from, by which job, and into which files. */
import { hash } from 'node:crypto';
import type { Operator } from '../config/operator-file.js';
import type { Overview } from '../register/overview.js';
import {
  DATABASE,
  EXPORT_FORMATS,
  OTHER_DOCUMENTS,
  PLAIN_DATABASE,
  documentsFileOf,
  exportFile,
  exportRoute,
} from '../routes/exports.js';
import { measuredDocuments } from '../routes/routes.js';
import type { Kind, Resource } from '../schema/field.js';
import { RESOURCES } from '../schema/schema.js';
import type { WrittenFile } from '../publish/gzip.js';
import type { DatabaseJob } from './database.js';
import type { DocumentsJob, DocumentsRange, OtherDocumentsJob } from './documents.js';
import { EXPORTS, exportsOf, type Export } from './tables.js';
import type { ExportJob } from './write.js';

/** Input and output of the jobs that write the parts. */
export interface ExportJobs {
  readonly export: { readonly input: ExportJob; readonly output: readonly WrittenFile[] };
  readonly documents: { readonly input: DocumentsJob; readonly output: readonly WrittenFile[] };
  readonly otherDocuments: { readonly input: OtherDocumentsJob; readonly output: WrittenFile };
  readonly database: { readonly input: DatabaseJob; readonly output: readonly WrittenFile[] };
}

/** Called with the number of steps done since the last call. */
type OnProgress = (steps: number) => void;

/** Runs the jobs, several at a time; one that is next comes before all that wait. */
export interface ExportPool {
  run<Name extends keyof ExportJobs>(
    name: Name,
    input: ExportJobs[Name]['input'],
    options: { readonly onProgress: OnProgress; readonly isNext?: boolean },
  ): Promise<ExportJobs[Name]['output']>;
}

/** A file of the downloads. */
export interface DownloadFile {
  /** Of the table, or of what else it holds. */
  readonly name: string;
  readonly route: string;
  /** Its path in the tree. */
  readonly file: string;
  /** How many rows or lines it has in the state that is built. */
  readonly rows: number;
}

/** Files of the downloads that one job writes. */
export interface DownloadJob {
  /** Names it in the state. */
  readonly name: string;
  readonly files: readonly DownloadFile[];
  /** The register's tables that it is written from, if it is written from the register. */
  readonly tables: readonly string[];
  /** Identifies what else it is written from. */
  readonly key: string;
  /** What the time to write it depends on. */
  readonly cells: number;
  /** How many steps its job reports: rows or documents. */
  readonly steps: number;
  /** Writes the files below a folder, under their paths in the tree, in the same order. */
  readonly write: (
    pool: ExportPool,
    folder: string,
    onProgress: OnProgress,
  ) => Promise<readonly WrittenFile[]>;
}

/** What parts that are written from the register's rows depend on, besides the rows. */
interface PartSources {
  readonly overview: Overview;
  /** Where the documents of a kind are cut, and what is compressed of them already. */
  readonly rangesOf: (kind: Kind) => readonly DocumentsRange[];
  /** Identifies the code that writes. */
  readonly code: string;
}

/** The parts that are written from the register's rows: see `PartSources`. */
export function registerParts(operator: Operator, sources: PartSources): readonly DownloadJob[] {
  const { overview } = sources;
  const resources = RESOURCES.filter(({ plural }) => overview.measured.has(plural));
  return [
    ...exportsOf(overview.measured).map((table) => tablePart(table, sources)),
    ...resources.map((resource) => documentsPart(resource, sources)),
    databasePart(operator, sources),
  ];
}

function tablePart(table: Export, { overview, code }: PartSources): DownloadJob {
  const { name, resource, history, columns } = table;
  const rows = rowsOf(table, overview);
  return {
    name,
    files: EXPORT_FORMATS.map(({ format }) => ({
      name,
      route: exportRoute(name, format),
      file: exportFile(name, format),
      rows,
    })),
    tables: history === undefined ? tablesOf(resource) : [name],
    key: code,
    cells: rows * columns.length,
    steps: rows,
    write: (pool, folder, onProgress) => pool.run('export', { table: name, folder }, { onProgress }),
  };
}

function documentsPart(resource: Resource, { overview, rangesOf, code }: PartSources): DownloadJob {
  const { kind, plural } = resource;
  const own = EXPORTS.filter((table) => table.resource === resource);
  const records = own.find(({ history }) => history === undefined);
  const rows = records === undefined ? 0 : rowsOf(records, overview);
  const documents = measuredDocuments(resource, overview.measured);
  return {
    name: `documents-of-${plural}`,
    files: documents.map(({ route }) => ({ ...documentsFileOf(route), rows })),
    tables: tablesOf(resource),
    key: code,
    cells: cellsOf(own, overview),
    steps: rows * documents.length,
    write: (pool, folder, onProgress) =>
      pool.run('documents', { kind, folder, ranges: rangesOf(kind) }, { onProgress }),
  };
}

function databasePart(operator: Operator, { overview, code }: PartSources): DownloadJob {
  const { name, url, platform, licence } = operator;
  const rows = EXPORTS.reduce((sum, table) => sum + rowsOf(table, overview), 0);
  const about = { name, url, platform, licence, asOf: overview.asOf };
  return {
    name: DATABASE.name,
    files: [DATABASE, PLAIN_DATABASE].map((file) => ({ ...file, rows })),
    tables: RESOURCES.flatMap(tablesOf),
    key: `${code} ${hash('sha256', JSON.stringify(about))}`,
    cells: cellsOf(EXPORTS, overview),
    steps: rows,
    write: (pool, folder, onProgress) => pool.run('database', { about, folder }, { onProgress }),
  };
}

/**
 * The part with all documents that belong to no record.
 * @param documents their number
 * @param content a hash that identifies all of them
 */
export const otherPart = (
  job: OtherDocumentsJob,
  documents: number,
  content: string,
  code: string,
): DownloadJob => ({
  name: OTHER_DOCUMENTS.name,
  files: [{ ...OTHER_DOCUMENTS, rows: documents }],
  tables: [],
  key: `${code} ${content}`,
  cells: documents,
  steps: documents,
  // This part is known last, takes long, and is written in one piece.
  write: async (pool, _, onProgress) => [await pool.run('otherDocuments', job, { onProgress, isNext: true })],
});

/** The tables of a kind's records and histories. */
const tablesOf = ({ plural, histories }: Resource): readonly string[] => [
  plural,
  ...histories.map(({ table }) => table),
];

function rowsOf({ resource, history }: Export, { populations }: Overview): number {
  const population = populations.find((candidate) => candidate.resource === resource);
  if (history === undefined) return population?.records ?? 0;
  return population?.histories.find((counted) => counted.history === history)?.entries ?? 0;
}

const cellsOf = (tables: readonly Export[], overview: Overview): number =>
  tables.reduce((sum, table) => sum + rowsOf(table, overview) * table.columns.length, 0);
