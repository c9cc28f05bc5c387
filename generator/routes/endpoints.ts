/** The endpoints of the specification. */
import { KINDS, type Kind } from '../schema/field.js';
import { capitalized } from '../schema/words.js';
import type { Endpoint, PathParameter } from './route.js';
import { PATHS } from './paths.js';

export const LARGEST_LIMIT = { minimum: 1, maximum: 200, default: 100 } as const;

const byId = (description: string): readonly [PathParameter] => [
  { name: 'id', in: 'path', type: 'id', description },
];

/** The records, each by the name of its kind. */
export const RECORDS: readonly Endpoint[] = [
  {
    name: 'group',
    path: '/api/v1/group/{id}',
    class: 'record',
    tag: 'group',
    description: 'Measured record of one group',
    parameters: byId('numeric group id'),
    absent: 'no group {id} in this register',
    measures: ['groups'],
  },
  {
    name: 'user',
    path: '/api/v1/user/{id}',
    class: 'record',
    tag: 'user',
    description: 'Measured record of one user',
    parameters: byId('numeric user id'),
    absent: 'no user {id} in this register',
    measures: ['users'],
  },
  {
    name: 'game',
    path: '/api/v1/game/{id}',
    class: 'record',
    tag: 'game',
    description: 'Measured record of one game',
    parameters: byId('numeric game id'),
    absent: 'no game {id} in this register',
    measures: ['games'],
  },
  {
    name: 'item',
    path: '/api/v1/item/{id}',
    class: 'record',
    tag: 'item',
    description: 'Measured record of one catalogue item',
    parameters: byId('numeric item id'),
    absent: 'no item {id} in this register',
    measures: ['items'],
  },
];

/** The name of the route of a kind's records by the ids of the platform. */
export const aliasRoute = (kind: Kind): string => `${kind}-by-platform-id`;

/** The same records by the ids of the platform that are plain. */
export const ALIASES: readonly Endpoint[] = KINDS.map((kind) => ({
  name: aliasRoute(kind),
  path: `/api/v1/${kind}/platform/{platform_id}`,
  operation: `get${capitalized(kind)}ByPlatformId`,
  class: 'record',
  tag: kind,
  description: `The record of one ${kind}, by its id on the platform`,
  parameters: [
    {
      name: 'platform_id',
      in: 'path',
      type: 'platform_id',
      description: `id of the ${kind} on the platform, where it is plain; the look-up has all others`,
    },
  ],
  absent: `no ${kind} with the platform id {platform_id} has a path; if there is one all the same, /api/v1/lookup leads to it`,
  measures: [`${kind}s.platform_id`],
  aliases: kind,
}));

export const ENDPOINTS: readonly Endpoint[] = [
  { name: 'index', path: PATHS.base, class: 'summary', description: 'Machine-readable index of the API' },
  ...RECORDS,
  {
    name: 'largest',
    path: '/api/v1/largest',
    file: 'api/v1/largest/{limit}.json',
    operation: 'listLargestGroups',
    class: 'summary',
    description: 'The largest measured groups, up to the limit',
    example: '/api/v1/largest?limit=10',
    measures: ['groups'],
    parameters: [
      {
        name: 'limit',
        in: 'query',
        type: 'integer',
        ...LARGEST_LIMIT,
        description: 'maximum number of groups',
      },
    ],
  },
  {
    name: 'stats',
    path: '/api/v1/stats',
    class: 'summary',
    description: 'Register-wide measured totals',
  },
  {
    name: 'group-history',
    path: '/group/{id}/history.json',
    class: 'record',
    tag: 'group',
    description: 'Full member, name and ownership history of one group',
    without: {
      some: ['group_member_readings', 'group_names', 'group_owners'],
      description: 'History of one group',
    },
    parameters: byId('numeric group id'),
    absent: 'no group {id} in this register',
    measures: ['group_member_readings', 'group_names', 'group_owners'],
  },
  {
    name: 'user-usernames',
    path: '/user/{id}/usernames.json',
    operation: 'getUsernameHistory',
    class: 'record',
    tag: 'user',
    description: 'Observed username history of one user',
    parameters: byId('numeric user id'),
    absent: 'no user {id} in this register',
    measures: ['usernames'],
  },
];
