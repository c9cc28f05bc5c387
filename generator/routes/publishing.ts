/** The routes of what the publisher says about the service itself. */
import type { Endpoint, IdParameter, UnlistedRoute } from './route.js';
import { PATHS } from './paths.js';

const BY_SEQUENCE: readonly [IdParameter] = [
  { name: 'sequence', in: 'path', type: 'id', description: 'number of the snapshot' },
];

/** The publisher writes all but openapi. */
export const PUBLISHING: readonly Endpoint[] = [
  // Plain JSON, not application/openapi+json: every tool accepts it, and browsers display it.
  {
    name: 'openapi',
    path: PATHS.description,
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
    class: 'summary',
    description: 'The newest snapshots and what each of them changed',
  },
  {
    name: 'change-list',
    path: '/changes/{sequence}.json',
    file: 'changes/{sequence}.json',
    class: 'summary',
    description: 'Every URL that one snapshot added, changed or removed',
    parameters: BY_SEQUENCE,
    absent: 'no change list {sequence}',
  },
];

/** The bodies of changed documents, for copies. */
export const BUNDLE: UnlistedRoute = {
  name: 'change-bundle',
  path: '/changes/{sequence}.ndjson.gz',
  file: 'changes/{sequence}.ndjson.gz',
  class: 'download',
  bucket: 'download',
  type: 'application/gzip',
  description: 'The bodies of all documents that one snapshot changed',
  parameters: BY_SEQUENCE,
  absent: 'no bundle {sequence}',
};
