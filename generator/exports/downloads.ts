/** The bulk downloads as they are published, and what a build says of them. */
import type { Content } from '../base/sink.js';
import type { Download } from '../routes/exports.js';
import { EXPORTS, type Export } from './tables.js';

/** A file of the downloads, as it was written. */
export interface WrittenFile extends Content {
  /** Lines, or rows of all tables. */
  readonly rows: number;
}

/** Files that were written together, by their paths in the tree. */
export type WrittenFiles = Readonly<Record<string, WrittenFile>>;

/** The snapshot that downloads are of. */
export interface OfSnapshot {
  readonly sequence: number;
  readonly digest: string;
}

/** An `unchanged` file is up to date as it was published; a `kept` one may be older than the register. */
export type DownloadState = 'written' | 'unchanged' | 'kept';

/** A published file of the downloads. */
export interface Exported extends WrittenFile {
  readonly download: Download;
  readonly state: DownloadState;
  /** The newest measurement in a table of records; null for all other files. */
  readonly asOf: string | null;
}

/** The published bulk downloads, all from one state of the register. */
export interface Downloads {
  /** The newest measurement in that state; null if the register was empty. */
  readonly asOf: string | null;
  /** The snapshot of that state: an earlier one, if they were kept. */
  readonly snapshot: OfSnapshot;
  /** In the order of `DOWNLOADS`. */
  readonly files: readonly Exported[];
}

/** The tables that have files. */
export const exportedTables = ({ files }: Downloads): readonly Export[] =>
  EXPORTS.filter(({ name }) => files.some(({ download }) => download.name === name));

/** The part of a build's report that covers the bulk downloads. */
export interface DownloadsSummary {
  /** The tables and other files of the downloads, and whether this build wrote them. */
  readonly exports: Readonly<Record<string, { readonly rows: number; readonly written: boolean }>>;
  /** The newest measurement in the downloads, and those kept although they are outdated. */
  readonly downloads: { readonly asOf: string | null; readonly kept: readonly string[] };
}

export function summaryOf(
  asOf: string | null,
  files: readonly Pick<Exported, 'download' | 'rows' | 'state'>[],
): DownloadsSummary {
  const kept = files.flatMap(({ download, state }) => (state === 'kept' ? download.name : []));
  return {
    exports: Object.fromEntries(
      files.map(({ download, rows, state }) => [download.name, { rows, written: state === 'written' }]),
    ),
    downloads: { asOf, kept: [...new Set(kept)] },
  };
}
