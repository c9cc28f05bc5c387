/** The routes of what the publisher says about the service itself. */
import type { Endpoint, UnlistedRoute } from './route.js';
import { PATHS } from './paths.js';

/** The publisher writes all but openapi. */
export const PUBLISHING: readonly Endpoint[] = [
  // Plain JSON, not application/openapi+json: every tool accepts it, and browsers display it.
  {
    name: 'openapi',
    path: PATHS.description,
    operation: 'getOpenApi',
    class: 'page',
    description: 'OpenAPI 3.1 description of the API',
  },
  {
    name: 'snapshot',
    path: '/snapshot.json',
    class: 'summary',
    description: 'The published snapshot: its number, time, contents and size',
  },
  {
    name: 'changes',
    path: PATHS.changes,
    operation: 'listChanges',
    class: 'summary',
    description: 'The newest snapshots and what each of them changed',
  },
];

/** What a snapshot changed, with the bodies of documents. */
export const BUNDLE: UnlistedRoute = {
  name: 'change-bundle',
  path: '/changes/{sequence}.ndjson.gz',
  file: 'changes/{sequence}.ndjson.gz',
  class: 'download',
  bucket: 'download',
  type: 'application/gzip',
  description: 'What one snapshot changed, with the bodies of documents',
  parameters: [{ name: 'sequence', in: 'path', type: 'id', description: 'number of the snapshot' }],
  absent: 'no bundle {sequence}',
};
