/** The routes of lists about the register as a whole. */
import { RECENT } from './feeds.js';
import { RESOURCES } from '../schema/schema.js';
import { WINDOWS, WINDOW_NAMES, type Window } from '../schema/members.js';
import type { Endpoint } from './route.js';

/** Each list has at most this many entries. */
export const LIST_ENTRIES = 200;

export const moversRoute = (window: Window): string => `movers-${window}`;

/** The names of operations, by window. */
const MOVERS_OPERATIONS: Readonly<Record<Window, string>> = {
  h24: 'listMoversOfDay',
  d7: 'listMoversOfWeek',
  d30: 'listMoversOf30Days',
};

export const LISTS: readonly Endpoint[] = [
  {
    name: 'largest-games',
    path: '/api/v1/largest/games',
    operation: 'listLargestGames',
    class: 'summary',
    description: 'The games with the most players and with the most visits',
    measures: ['games'],
  },
  {
    name: 'largest-items',
    path: '/api/v1/largest/items',
    operation: 'listLargestItems',
    class: 'summary',
    description: 'The items with the most favourites',
    measures: ['items.favourites'],
  },
  ...WINDOW_NAMES.map((window): Endpoint => ({
    name: moversRoute(window),
    path: `/api/v1/movers/${window}`,
    operation: MOVERS_OPERATIONS[window],
    class: 'summary',
    description: `The groups that gained and lost the most members in ${WINDOWS[window].words}`,
    measures: ['group_member_readings'],
  })),
  {
    name: 'recent',
    path: '/api/v1/recent',
    operation: 'listRecentChanges',
    class: 'summary',
    description: 'The newest changes of names and owners, and the newest games and items',
    measures: Object.keys(RECENT),
    contents: RECENT,
  },
  {
    name: 'newest',
    path: '/api/v1/newest',
    operation: 'listNewestRecords',
    class: 'summary',
    description: 'The newest records of each kind, by when they were created',
    measures: RESOURCES.map(({ plural }) => `${plural}.created_at`),
  },
  {
    name: 'largest-usernames',
    path: '/api/v1/largest/usernames',
    operation: 'listMostRenamedUsers',
    class: 'summary',
    description: 'The users with the most usernames',
    measures: ['usernames'],
  },
];

/** The routes of each section of the page of the reference. */
export const LISTS_REFERENCE: readonly (readonly string[])[] = [
  ['largest'],
  ['largest-games'],
  ['largest-items'],
  WINDOW_NAMES.map(moversRoute),
  ['newest'],
  ['largest-usernames'],
  ['recent'],
];
