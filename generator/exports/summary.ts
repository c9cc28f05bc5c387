/** What a build says of the bulk downloads when it is done. */
import type { Downloads } from './exports.js';

export interface DownloadsSummary {
  /** The tables of the bulk downloads, and whether this build wrote them: what did not change is left as it is. */
  readonly exports: Readonly<Record<string, { readonly rows: number; readonly written: boolean }>>;
  /** As of when the bulk downloads are, and which of their tables were kept though they are behind the register. */
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
