/** The routes of lists about the register as a whole. */
import { RECENT } from './feeds.js';
import { WINDOWS, WINDOW_NAMES, type Window } from '../schema/members.js';
import type { Endpoint } from './route.js';

/** Each list has at most this many entries. */
export const LIST_ENTRIES = 200;

export const moversRoute = (window: Window): string => `movers-${window}`;

export const LISTS: readonly Endpoint[] = [
  {
    name: 'largest-games',
    path: '/api/v1/largest/games',
    class: 'summary',
    description: 'The games with the most players and with the most visits',
    measures: ['games'],
  },
  ...WINDOW_NAMES.map((window): Endpoint => ({
    name: moversRoute(window),
    path: `/api/v1/movers/${window}`,
    class: 'summary',
    description: `The groups that gained and lost the most members in ${WINDOWS[window].words}`,
    measures: ['group_member_readings'],
  })),
  {
    name: 'recent',
    path: '/api/v1/recent',
    class: 'summary',
    description: 'The newest changes of names and owners, and the newest games and items',
    measures: Object.keys(RECENT),
    contents: RECENT,
  },
];
