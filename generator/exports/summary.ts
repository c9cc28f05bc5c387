/** The part of a build's report that covers the bulk downloads. */
import type { Downloads } from './exports.js';

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
