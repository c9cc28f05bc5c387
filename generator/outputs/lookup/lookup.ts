/** The documents for finding records. */
import {
  NAME_PAGE_ROUTE,
  NAMED,
  NAMES_ROUTE,
  OWNERS,
  idsRoute,
  lookupRoute,
  ownersRoute,
  platformIdRoute,
} from '../../routes/lookup.js';
import type { Register } from '../../register/database.js';
import { KINDS } from '../../schema/field.js';
import type { ObjectShape } from '../../schema/shape.js';
import type { Output } from '../output.js';
import type { Section } from '../section.js';
import { digitsFor, shardedEntries } from './digits.js';
import { GUIDE_SHAPE } from './guide.js';
import { IDS_SHAPE, ids, idsPageShape } from './ids.js';
import { NAME_PAGE_SHAPE, NAMES_SHAPE, namePages } from './name-pages.js';
import { names, namesShape } from './names.js';
import { owners, ownersShape } from './owners.js';
import { platformIds, platformIdsShape } from './platform-ids.js';

type Render = (register: Register, digits: number) => Generator<Output>;

/** @param routes the first of which names it */
const section = (routes: readonly [string, ...string[]], documents: Render): Section => ({
  name: routes[0],
  routes,
  entries: (overview) => shardedEntries(overview).get(routes[0]) ?? 0,
  render: (register, { entries }) => documents(register, digitsFor(entries)),
});

export const LOOKUP_SECTIONS: readonly Section[] = [
  section(['ids', ...KINDS.map(idsRoute)], ids),
  section([NAMES_ROUTE, NAME_PAGE_ROUTE], namePages),
  ...NAMED.map((kind) => section([lookupRoute(kind)], (register, digits) => names(register, kind, digits))),
  ...OWNERS.map((kind) => section([ownersRoute(kind)], (register, digits) => owners(register, kind, digits))),
  ...KINDS.map((kind) =>
    section([platformIdRoute(kind)], (register, digits) => platformIds(register, kind, digits)),
  ),
];

/** The shapes of all documents for finding records. */
export const LOOKUP_SHAPES: readonly ObjectShape[] = [
  IDS_SHAPE,
  ...KINDS.map(idsPageShape),
  GUIDE_SHAPE,
  ...NAMED.map(namesShape),
  NAMES_SHAPE,
  NAME_PAGE_SHAPE,
  ...OWNERS.map(ownersShape),
  ...KINDS.map(platformIdsShape),
];
