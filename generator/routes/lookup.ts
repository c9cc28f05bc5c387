/**
 * The routes for finding records without a server that searches: all ids in pages, and names, owners
 * and ids of the platform in shards by the prefix of a hash.
 */
import { KINDS, type Kind } from '../schema/field.js';
import { capitalized } from '../schema/words.js';
import type { Endpoint } from './route.js';

/** The kinds of records that own others. */
export type OwnerKind = Extract<Kind, 'user' | 'group'>;
export const OWNERS: readonly OwnerKind[] = ['user', 'group'];

interface Named {
  /** The word for the names of a kind in paths and names of routes. */
  readonly called: string;
  /** The tables and columns of present and past names, and what each adds to a list. */
  readonly sources: Readonly<Record<string, string>>;
}

/** The names of each kind, in the order in which the guide has them. */
const NAMES: Readonly<Record<Kind, Named>> = {
  user: {
    called: 'username',
    sources: { 'users.username': 'the users with some names', usernames: 'the users with some past names' },
  },
  group: {
    called: 'group',
    sources: { 'groups.name': 'the groups with some names', group_names: 'the groups with some past names' },
  },
  game: { called: 'game', sources: { 'games.name': 'the games with some names' } },
  item: { called: 'item', sources: { 'items.name': 'the items with some names' } },
};
export const NAMED: readonly Kind[] = ['user', 'group', 'game', 'item'];
const NAME_SOURCES = NAMED.flatMap((kind) => Object.keys(NAMES[kind].sources));

/** The names of routes. */
export const idsRoute = (kind: Kind): string => `ids-${kind}`;
export const lookupRoute = (kind: Kind): string => `lookup-${NAMES[kind].called}`;
export const NAMES_ROUTE = 'lookup-names';
export const NAME_PAGE_ROUTE = 'lookup-names-page';
export const ownersRoute = (kind: OwnerKind): string => `owners-${kind}`;
export const platformIdRoute = (kind: Kind): string => `lookup-platform-id-${kind}`;

const CLASS = 'summary';

const idsOf = (kind: Kind): Endpoint => ({
  name: idsRoute(kind),
  path: `/api/v1/ids/${kind}/{first_id}`,
  operation: `list${capitalized(kind)}Ids`,
  class: CLASS,
  description: `A page of the ids of all ${kind}s, in ascending order`,
  parameters: [{ name: 'first_id', in: 'path', type: 'id', description: `first ${kind} id of the page` }],
  absent: `no page of ${kind} ids begins at {first_id}`,
  measures: [`${kind}s`],
});

interface Sharded extends Pick<
  Endpoint,
  'name' | 'operation' | 'path' | 'description' | 'measures' | 'contents'
> {
  /** What is hashed. */
  readonly hashed: string;
}

const sharded = ({ path, hashed, ...endpoint }: Sharded): Endpoint => ({
  ...endpoint,
  path: `${path}/{prefix}`,
  class: CLASS,
  parameters: [
    {
      name: 'prefix',
      in: 'path',
      type: 'prefix',
      description: `first hexadecimal digits of the SHA-256 of the ${hashed}, as many as /api/v1/lookup says`,
    },
  ],
  absent: 'nothing is published for the prefix {prefix}; /api/v1/lookup says how many digits it has today',
});

const OWNED = {
  'groups.owner_id': 'the groups that some users own',
  'games.creator_id': 'the games that some users created',
};

export const LOOKUP: readonly Endpoint[] = [
  {
    name: 'ids',
    operation: 'getIdLists',
    path: '/api/v1/ids',
    class: CLASS,
    description: 'Where the lists of all ids begin',
  },
  ...KINDS.map(idsOf),
  {
    name: 'lookup',
    operation: 'getLookupGuide',
    path: '/api/v1/lookup',
    class: CLASS,
    description: 'How to look up records by what is known of them',
  },
  ...NAMED.map((kind) => {
    const { called, sources } = NAMES[kind];
    const measures = Object.keys(sources);
    return sharded({
      name: lookupRoute(kind),
      operation: `find${capitalized(kind)}sByName`,
      path: `/api/v1/lookup/${called}`,
      description: `The ${kind}s with some ${measures.length > 1 ? 'present and past ' : ''}names`,
      hashed: 'name in lower case',
      measures,
      contents: sources,
    });
  }),
  {
    name: NAMES_ROUTE,
    operation: 'getNameLists',
    path: '/api/v1/lookup/names',
    class: CLASS,
    description: 'Where the pages of all names begin',
    measures: NAME_SOURCES,
  },
  {
    name: NAME_PAGE_ROUTE,
    operation: 'listNames',
    path: '/api/v1/lookup/names/{page}',
    class: CLASS,
    description: 'A page of the names of all records, sorted, to find one by the beginning of a name',
    parameters: [
      {
        name: 'page',
        in: 'path',
        type: 'id',
        description: 'number of the page, as /api/v1/lookup/names has it',
      },
    ],
    absent: 'no page of names is {page} today; /api/v1/lookup/names has those that there are',
    measures: NAME_SOURCES,
  },
  ...OWNERS.map((kind) =>
    sharded({
      name: ownersRoute(kind),
      operation: `findOwnedBy${capitalized(kind)}`,
      path: `/api/v1/owners/${kind}`,
      hashed: `${kind} id`,
      ...(kind === 'user'
        ? {
            description: 'The groups that some users own, and the games they created',
            measures: Object.keys(OWNED),
            contents: OWNED,
          }
        : { description: 'The games that some groups created', measures: ['games.creator_id'] }),
    }),
  ),
  ...KINDS.map((kind) =>
    sharded({
      name: platformIdRoute(kind),
      operation: `find${capitalized(kind)}sByPlatformId`,
      path: `/api/v1/lookup/platform-id/${kind}`,
      description: `The ${kind}s with some ids of the platform`,
      hashed: 'id on the platform',
      measures: [`${kind}s.platform_id`],
    }),
  ),
];

/** What the reference explains together: the routes of each section, on the page of names, and on that of ids. */
export const NAMES_REFERENCE: readonly (readonly string[])[] = [
  ['lookup'],
  NAMED.map(lookupRoute),
  [NAMES_ROUTE],
  [NAME_PAGE_ROUTE],
  ...OWNERS.map((kind) => [ownersRoute(kind)]),
];
export const IDS_REFERENCE: readonly (readonly string[])[] = [
  ['ids'],
  KINDS.map(idsRoute),
  KINDS.map(platformIdRoute),
];
