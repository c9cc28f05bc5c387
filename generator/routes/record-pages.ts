/**
 * The pages of records. Each kind has one page, published as a file of its own at `/group`, and
 * served at the URL of every record that is published, where it shows that record.
 */
import { RECORDS } from './endpoints.js';
import type { UnlistedRoute } from './index.js';
import { page } from './pages.js';

/** The names of the routes of a kind: its page, and that page at the URLs of records. */
export const shellRoute = (kind: string): string => `${kind}-shell`;
export const recordPage = (kind: string): string => `${kind}-page`;

export const RECORD_PAGES: readonly UnlistedRoute[] = RECORDS.flatMap(
  ({ name: kind, parameters = [], absent = '', measures = [] }): readonly UnlistedRoute[] => {
    // One tag for both, so that a CDN can be purged of a page that has changed.
    const shell = {
      ...page(shellRoute(kind), `/${kind}`, `Page to look up one ${kind}`),
      tag: recordPage(kind),
      measures,
    };
    const record = { name: recordPage(kind), path: `/${kind}/{id}`, description: `Page of one ${kind}` };
    return [shell, { ...shell, ...record, requires: kind, parameters, absent }];
  },
);
