/** The part of a build's report that covers the bulk downloads. */
import type { Downloads } from './exports.js';

export interface DownloadsSummary {
  /** The exported tables, and whether this build wrote them. */
  readonly exports: Readonly<Record<string, { readonly rows: number; readonly written: boolean }>>;
  /** The newest measurement in the downloads, and the tables kept although they are outdated. */
  readonly downloads: { readonly asOf: string | null; readonly kept: readonly string[] };
}

export const summaryOf = ({ asOf, tables }: Downloads): DownloadsSummary => ({
  exports: Object.fromEntries(
    tables.map(({ table: { name }, rows, state }) => [name, { rows, written: state === 'written' }]),
  ),
  downloads: {
    asOf,
    kept: tables.filter(({ state }) => state === 'kept').map(({ table: { name } }) => name),
  },
});
