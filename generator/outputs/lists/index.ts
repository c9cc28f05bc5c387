/** The lists about the register as a whole, each rendered only if what it reads has changed. */
import type { Register } from '../../register/database.js';
import type { ObjectShape } from '../../schema/shape.js';
import { moversRoute } from '../../routes/lists.js';
import { isMeasured, routeNamed } from '../../routes/index.js';
import type { Route } from '../../routes/index.js';
import { WINDOW_NAMES } from '../../schema/members.js';
import type { Output } from '../output.js';
import { GAMES_SHAPE, GAMES_TABLES, largestGames } from './games.js';
import { MOVERS_SHAPES, MOVERS_TABLES, movers } from './movers.js';
import { RECENT_SHAPE, RECENT_TABLES, recent } from './recent.js';

interface List {
  readonly routes: readonly string[];
  /** The tables that it reads. Each list also has the time of the register's newest measurement. */
  readonly tables: readonly string[];
  /** @param asOf the register's newest measurement; null if it is empty */
  readonly render: (register: Register, asOf: string | null, table: readonly Route[]) => Generator<Output>;
}

const LISTS: readonly List[] = [
  { routes: WINDOW_NAMES.map(moversRoute), tables: MOVERS_TABLES, render: movers },
  { routes: ['recent'], tables: RECENT_TABLES, render: recent },
  { routes: ['largest-games'], tables: GAMES_TABLES, render: largestGames },
];

/** Each has the name of its route. */
export const LIST_SHAPES: readonly ObjectShape[] = [GAMES_SHAPE, ...MOVERS_SHAPES, RECENT_SHAPE];

/** The routes of all lists. */
export const LIST_ROUTES: readonly string[] = LISTS.flatMap(({ routes }) => routes);

/**
 * The routes whose documents are unchanged, if the build key is the same.
 * @param changed the changed tables, if known
 * @param asOf the newest measurements, of the register now and in the previous snapshot
 */
export const stayingLists = (
  changed: ReadonlySet<string> | undefined,
  [now, then]: readonly [now: string | null, then: string | null],
): readonly string[] =>
  changed === undefined || now !== then
    ? []
    : LISTS.filter(({ tables }) => tables.every((table) => !changed.has(table))).flatMap(
        ({ routes }) => routes,
      );

/** The documents of the lists with other routes than these. */
export function* lists(
  register: Register,
  asOf: string | null,
  table: readonly Route[],
  staying: readonly string[],
): Generator<Output> {
  for (const { routes, render } of LISTS) {
    const isDue = !routes.every((route) => staying.includes(route));
    if (isDue && routes.every((route) => isMeasured(routeNamed(table, route), register.measured)))
      yield* render(register, asOf, table);
  }
}
