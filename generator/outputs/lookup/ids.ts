/** /api/v1/ids: the ids of all records, in pages. A new id changes one page, and splits it at most. */
import { beginsChunk } from '../../base/chunks.js';
import { idsRoute } from '../../routes/lookup.js';
import { ROUTES, routeNamed } from '../../routes/routes.js';
import { filler } from '../../routes/route.js';
import type { Register } from '../../register/database.js';
import { recordsQuery } from '../../register/sql.js';
import { KINDS, type Kind, type Resource } from '../../schema/field.js';
import { RESOURCES } from '../../schema/schema.js';
import type { ObjectShape } from '../../schema/shape.js';
import type { Output } from '../output.js';
import { ifMeasured, nested, part, shapeOfParts, value, valuesOf, type Part } from '../parts.js';

/** Average number of ids in a page, some 40 kB. */
const PAGE_IDS = 4096;

interface IdsPage {
  readonly kind: Kind;
  readonly ids: readonly number[];
  /** The first id of the next page, if there is one. */
  readonly next: number | undefined;
}

const pathOf = (kind: Kind, first: number | undefined): string | null =>
  first === undefined ? null : filler(routeNamed(ROUTES, idsRoute(kind)).path)(first);

const PAGE: readonly Part<IdsPage>[] = [
  part(value('kind', 'enum', 'group', 'Kind of the records.', { values: KINDS }), ({ kind }) => kind),
  part(value('first_id', 'id', 7, 'The first id of the page.'), ({ ids }) => ids[0]),
  part(value('last_id', 'id', 48_213, 'The last id of the page.'), ({ ids }) => ids.at(-1)),
  part(value('count', 'count', 4103, 'Number of ids in the page.', { unit: 'ids' }), ({ ids }) => ids.length),
  {
    shape: {
      is: 'values',
      name: 'ids',
      description: 'The ids of all published records from the first to the last, in ascending order.',
      of: value('id', 'id', 7, 'Id of a record.'),
    },
    of: ({ ids }) => ids,
  },
  part(
    value('next', 'path', '/api/v1/ids/group/48220', 'Path of the next page; null for the last one.', {
      nullable: true,
    }),
    ({ kind, next }) => pathOf(kind, next),
  ),
];

export const idsPageShape = (kind: Kind): ObjectShape =>
  shapeOfParts(idsRoute(kind), `A page of the ids of all ${kind}s.`, PAGE);

interface Totals {
  readonly records: number;
  readonly pages: number;
  readonly first: number | undefined;
}

/** Of the kinds that are measured. */
type TotalsByKind = ReadonlyMap<Kind, Totals>;

const totalsPart = ({ kind, plural }: Resource): Part<TotalsByKind> => {
  const totalsOf = (totals: TotalsByKind): Totals =>
    totals.get(kind) ?? { records: 0, pages: 0, first: undefined };
  const all = nested<TotalsByKind>(kind, `The ids of all ${plural}.`, [
    part(
      value('records', 'count', 48_213, `Number of published ${plural}.`, { unit: plural }),
      (totals) => totalsOf(totals).records,
    ),
    part(
      value('pages', 'count', 12, 'Number of pages.', { unit: 'pages' }),
      (totals) => totalsOf(totals).pages,
    ),
    part(
      value('first', 'path', pathOf(kind, 7) ?? '', 'Path of the first page; null if there are no records.', {
        nullable: true,
      }),
      (totals) => pathOf(kind, totalsOf(totals).first),
    ),
  ]);
  return ifMeasured(all, (totals) => totals.has(kind));
};

const INDEX: readonly Part<TotalsByKind>[] = [
  nested('kinds', 'The ids of each kind of records.', RESOURCES.map(totalsPart)),
];

export const IDS_SHAPE = shapeOfParts('ids', 'Where the pages of all ids begin, by kind.', INDEX);

/** The pages of all kinds, then the document that leads to them. */
export function* ids(register: Register): Generator<Output> {
  const totals = new Map<Kind, Totals>();
  for (const resource of RESOURCES) {
    const { kind } = resource;
    let [records, pages] = [0, 0];
    let first: number | undefined;
    for (const page of pagesOf(register, resource)) {
      const [key = 0] = page.ids;
      first ??= key;
      records += page.ids.length;
      pages += 1;
      yield { route: idsRoute(kind), key, body: JSON.stringify(valuesOf(PAGE, page)) };
    }
    if (register.measured.has(resource.plural)) totals.set(kind, { records, pages, first });
  }
  yield { route: 'ids', key: 0, body: JSON.stringify(valuesOf(INDEX, totals)) };
}

/** A page begins at the lowest id, and where a function of the id says so. */
function* pagesOf(register: Register, resource: Resource): Generator<IdsPage> {
  const { kind } = resource;
  let page: number[] = [];
  for (const [id] of register.rows<[number]>(recordsQuery(resource, ['id']))) {
    if (page.length > 0 && beginsChunk(id, PAGE_IDS)) {
      yield { kind, ids: page, next: id };
      page = [];
    }
    page.push(id);
  }
  if (page.length > 0) yield { kind, ids: page, next: undefined };
}
