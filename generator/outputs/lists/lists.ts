/** The lists about the register as a whole. */
import type { Register } from '../../register/database.js';
import type { ObjectShape } from '../../schema/shape.js';
import { moversRoute } from '../../routes/lists.js';
import { ROUTES, isMeasured, routeNamed } from '../../routes/routes.js';
import type { Route } from '../../routes/route.js';
import { WINDOW_NAMES } from '../../schema/members.js';
import type { Output } from '../output.js';
import type { Section } from '../section.js';
import { MOVERS_SHAPES, movers } from './movers.js';
import { RANKED_LISTS, RANKED_SHAPES } from './ranked.js';
import { RECENT_SHAPE, recent } from './recent.js';

type RenderList = (register: Register, asOf: string | null, table: readonly Route[]) => Iterable<Output>;

const list = (name: string, routes: readonly string[], render: RenderList): Section => ({
  name,
  routes,
  render: (register, { asOf }) =>
    routes.every((route) => isMeasured(routeNamed(ROUTES, route), register.measured))
      ? render(register, asOf, ROUTES)
      : [],
});

export const LIST_SECTIONS: readonly Section[] = [
  list('movers', WINDOW_NAMES.map(moversRoute), movers),
  list('recent', ['recent'], recent),
  ...RANKED_LISTS.map(({ route, render }) => list(route, [route], render)),
];

/** Each has the name of its route. */
export const LIST_SHAPES: readonly ObjectShape[] = [...RANKED_SHAPES, ...MOVERS_SHAPES, RECENT_SHAPE];
