/** The bulk downloads as they are published, and what a build says of them. */
import type { Content } from '../base/sink.js';
import type { BulkFile, ExportFormat } from '../routes/exports.js';
import type { Export } from './tables.js';

/** A file of the downloads, as it was written. */
export interface WrittenFile extends Content {
  /** Lines, or rows of all tables. */
  readonly rows: number;
}

/** The snapshot that downloads are of. */
export interface OfSnapshot {
  readonly sequence: number;
  readonly digest: string;
}

/** An `unchanged` file is up to date as it was published; a `kept` one may be older than the register. */
export type DownloadState = 'written' | 'unchanged' | 'kept';

/** The published files of a table. */
export interface Exported {
  readonly table: Export;
  readonly rows: number;
  readonly files: Readonly<Record<ExportFormat, Content>>;
  readonly state: DownloadState;
  /** The newest measurement in a table of records; null if it has none, or holds a history. */
  readonly asOf: string | null;
}

/** A published file that holds more than one table. */
export interface BulkExported extends WrittenFile {
  readonly file: BulkFile;
  readonly state: DownloadState;
}

/** The published bulk downloads, all from one state of the register. */
export interface Downloads {
  /** The newest measurement in that state; null if the register was empty. */
  readonly asOf: string | null;
  /** The snapshot of that state: an earlier one, if they were kept. */
  readonly snapshot: OfSnapshot;
  readonly tables: readonly Exported[];
  readonly bulk: readonly BulkExported[];
}

/** The part of a build's report that covers the bulk downloads. */
export interface DownloadsSummary {
  /** The tables and other files of the downloads, and whether this build wrote them. */
  readonly exports: Readonly<Record<string, { readonly rows: number; readonly written: boolean }>>;
  /** The newest measurement in the downloads, and those kept although they are outdated. */
  readonly downloads: { readonly asOf: string | null; readonly kept: readonly string[] };
}

export function summaryOf({ asOf, tables, bulk }: Downloads): DownloadsSummary {
  const all = [
    ...tables.map(({ table: { name }, rows, state }) => ({ name, rows, state })),
    ...bulk.map(({ file: { name }, rows, state }) => ({ name, rows, state })),
  ];
  return {
    exports: Object.fromEntries(
      all.map(({ name, rows, state }) => [name, { rows, written: state === 'written' }]),
    ),
    downloads: { asOf, kept: all.filter(({ state }) => state === 'kept').map(({ name }) => name) },
  };
}
