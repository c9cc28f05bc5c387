/** The routes of what the publisher says about the service itself; /api/v1 does not list them. */
import type { Endpoint } from './index.js';
import { PATHS } from './paths.js';

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
    path: '/changes/index.json',
    class: 'summary',
    description: 'The newest snapshots and what each of them changed',
  },
  {
    name: 'change-list',
    path: '/changes/{sequence}.json',
    file: 'changes/{sequence}.json',
    class: 'summary',
    description: 'Every URL that one snapshot added, changed or removed',
    parameters: [{ name: 'sequence', in: 'path', type: 'id', description: 'number of the snapshot' }],
    absent: 'no change list {sequence}',
  },
];
