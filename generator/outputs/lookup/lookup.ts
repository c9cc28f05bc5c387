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
import { game } from '../../schema/game.js';
import { group } from '../../schema/group.js';
import { RESOURCES } from '../../schema/schema.js';
import type { ObjectShape } from '../../schema/shape.js';
import type { Output } from '../output.js';
import { isAnyChanged, type Section } from '../section.js';
import { digitsFor, shardedEntries } from './digits.js';
import { GUIDE_SHAPE } from './guide.js';
import { IDS_SHAPE, ids, idsPageShape } from './ids.js';
import { NAME_PAGE_SHAPE, NAMES_SHAPE, NAMES_SOURCE, namePages } from './name-pages.js';
import { names, namesShape, namesSource, tablesOfNames } from './names.js';
import { owners, ownersShape } from './owners.js';
import { platformIds, platformIdsShape } from './platform-ids.js';

type Render = (register: Register, digits: number) => Generator<Output>;

/** @param routes the first of which names it @param tables those that it reads */
const section = (
  routes: readonly [string, ...string[]],
  tables: readonly string[],
  documents: Render,
  source?: string,
): Section => ({
  name: routes[0],
  routes,
  due: (changes) => (isAnyChanged(tables, changes) ? routes : []),
  entries: (overview) => shardedEntries(overview).get(routes[0]) ?? 0,
  ...(source !== undefined && { source }),
  render: (register, inputs) => documents(register, digitsFor(inputs.entries)),
});

export const LOOKUP_SECTIONS: readonly Section[] = [
  section(
    ['ids', ...KINDS.map(idsRoute)],
    RESOURCES.map(({ plural }) => plural),
    ids,
  ),
  section([NAMES_ROUTE, NAME_PAGE_ROUTE], KINDS.flatMap(tablesOfNames), namePages, NAMES_SOURCE),
  ...NAMED.map((kind) =>
    section(
      [lookupRoute(kind)],
      tablesOfNames(kind),
      (register, digits) => names(register, kind, digits),
      namesSource(kind),
    ),
  ),
  ...OWNERS.map((kind) =>
    section(
      [ownersRoute(kind)],
      [...(kind === 'user' ? [group.plural] : []), game.plural],
      (register, digits) => owners(register, kind, digits),
    ),
  ),
  ...RESOURCES.map(({ kind, plural }) =>
    section([platformIdRoute(kind)], [plural], (register, digits) => platformIds(register, kind, digits)),
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
