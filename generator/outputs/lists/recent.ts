/** /api/v1/recent: the newest changes and first measurements, as the feeds have them. */
import type { Register } from '../../register/database.js';
import { routeNamed } from '../../routes/routes.js';
import { filler, type Route } from '../../routes/route.js';
import { LIST_ENTRIES } from '../../routes/lists.js';
import type { Resource } from '../../schema/field.js';
import { game } from '../../schema/game.js';
import { item } from '../../schema/item.js';
import { NAMES, OWNERS, USERNAMES, changes, type ValueChange, type ChangeSource } from '../feeds/changes.js';
import { FIRST_PARTS, changeParts } from '../feeds/facts.js';
import { newestFirsts, type First } from '../feeds/firsts.js';
import type { Output } from '../output.js';
import { ifMeasured, listed, part, shapeOfParts, value, valuesOf, type Part } from '../parts.js';
import { AS_OF } from './as-of.js';

interface Recent {
  readonly register: Register;
  readonly asOf: string | null;
  readonly table: readonly Route[];
}

/** An entry, and the path of its record. */
interface Placed<Entry> {
  readonly entry: Entry;
  readonly path: string;
}

const placed =
  ({ record }: Resource, table: readonly Route[]) =>
  <Entry extends { readonly id: number }>(entry: Entry): Placed<Entry> => ({
    entry,
    path: filler(routeNamed(table, record.route).path)(entry.id),
  });

/** The members of an entry, and the path. */
const withPath = <Entry>(parts: readonly Part<Entry>[]): readonly Part<Placed<Entry>>[] => [
  ...parts.map(({ shape, of }) => part<Placed<Entry>>(shape, ({ entry }) => of(entry))),
  part(value('path', 'path', '/api/v1/group/7', 'Path of the record.'), ({ path }) => path),
];

const ORDER = 'Newest first: in the order in which they were measured.';

const changesOf = (name: string, description: string, source: ChangeSource): Part<Recent> =>
  ifMeasured(
    listed<Recent, Placed<ValueChange>>(
      name,
      `${description} ${ORDER}`,
      withPath(changeParts(source)),
      ({ register, table }) =>
        Array.from(changes(register, [source], LIST_ENTRIES), placed(source.resource, table)),
    ),
    ({ register }) => register.measured.has(source.history.table),
  );

const firstsOf = (resource: Resource): Part<Recent> =>
  ifMeasured(
    listed<Recent, Placed<First>>(
      resource.plural,
      `${resource.plural.replace(/^./, (letter) => letter.toUpperCase())} measured for the first time. ${ORDER}`,
      withPath(FIRST_PARTS),
      ({ register, table }) =>
        Array.from(newestFirsts(register, resource, LIST_ENTRIES), placed(resource, table)),
    ),
    ({ register }) => register.measured.has(`${resource.plural}.first_measured_at`),
  );

const PARTS: readonly Part<Recent>[] = [
  part(AS_OF, ({ asOf }) => asOf),
  changesOf('group_names', 'Groups with a new name.', NAMES),
  changesOf('group_owners', 'Groups with a new owner.', OWNERS),
  changesOf('usernames', 'Users with a new username.', USERNAMES),
  firstsOf(game),
  firstsOf(item),
];

export const RECENT_SHAPE = shapeOfParts(
  'recent',
  `The ${LIST_ENTRIES} newest changes of each sort, from the same rules as the feeds.`,
  PARTS,
);

export function* recent(register: Register, asOf: string | null, table: readonly Route[]): Generator<Output> {
  yield { route: 'recent', key: 0, body: JSON.stringify(valuesOf(PARTS, { register, asOf, table })) };
}
