/** The lists about the register as a whole, each rendered only if what it reads has changed. */
import type { Register } from '../../register/database.js';
import type { ObjectShape } from '../../schema/shape.js';
import { moversRoute } from '../../routes/lists.js';
import { ROUTES, isMeasured, routeNamed } from '../../routes/routes.js';
import type { Route } from '../../routes/route.js';
import { WINDOW_NAMES } from '../../schema/members.js';
import type { Output } from '../output.js';
import { isAnyChanged, type Section } from '../section.js';
import { MOVERS_SHAPES, MOVERS_TABLES, movers } from './movers.js';
import { RANKED_LISTS, RANKED_SHAPES } from './ranked.js';
import { RECENT_SHAPE, RECENT_TABLES, recent } from './recent.js';

type RenderList = (register: Register, asOf: string | null, table: readonly Route[]) => Iterable<Output>;

/** @param tables those that it reads; each list also has the time of the register's newest measurement */
const list = (
  name: string,
  routes: readonly string[],
  tables: readonly string[],
  render: RenderList,
): Section => ({
  name,
  routes,
  due: (changes) => {
    const [now, then] = changes.asOf;
    return now !== then || isAnyChanged(tables, changes) ? routes : [];
  },
  render: (register, { changes: { asOf } }) =>
    routes.every((route) => isMeasured(routeNamed(ROUTES, route), register.measured))
      ? render(register, asOf[0], ROUTES)
      : [],
});

export const LIST_SECTIONS: readonly Section[] = [
  list('movers', WINDOW_NAMES.map(moversRoute), MOVERS_TABLES, movers),
  list('recent', ['recent'], RECENT_TABLES, recent),
  ...RANKED_LISTS.map(({ route, tables, render }) => list(route, [route], tables, render)),
];

/** Each has the name of its route. */
export const LIST_SHAPES: readonly ObjectShape[] = [...RANKED_SHAPES, ...MOVERS_SHAPES, RECENT_SHAPE];
