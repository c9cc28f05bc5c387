/** What recipes for the downloads show. */
import type { Resource } from '../../schema/field.js';
import { group } from '../../schema/group.js';
import { DOWNLOAD_TOKEN_BYTES, downloadCost } from '../../routes/route.js';
import { span } from '../pages/words.js';

/**
 * A table, its column of names, and the documents of its records.
 * @param kinds those that have files
 */
export function exampleOf([resource = group]: readonly Resource[]) {
  const { plural, record, nameColumn = 'name' } = resource;
  return { table: plural, name: nameColumn, documents: `documents/${record.route}.ndjson.gz` };
}

/** Opens a database in Datasette Lite, which loads it into a browser. @param url absolute */
export const datasetteLite = (url: string): string =>
  `https://lite.datasette.io/?url=${encodeURIComponent(url)}`;

/** The size from which on a download counts as one. */
export const WHOLE_DOWNLOAD = `${DOWNLOAD_TOKEN_BYTES / 1024 ** 2} MiB`;

/** How long a client takes at least to fetch files of so many bytes: `20 minutes`; undefined if it need not wait. */
export function leastTime(
  files: readonly { readonly bytes: number }[],
  { tokens, refillSeconds }: Readonly<{ tokens: number; refillSeconds: number }>,
): string | undefined {
  const cost = files.reduce((sum, { bytes }) => sum + downloadCost(bytes), 0);
  const seconds = Math.ceil((cost - tokens) * refillSeconds);
  if (seconds <= 0) return undefined;
  return span(seconds > 3600 ? Math.ceil(seconds / 60) * 60 : seconds);
}
