/**
 * /api/v1/lookup/names: all names that can be found, folded and sorted, in pages, for finding records by the
 * beginning of a name. A new name changes one page, and splits it at most.
 */
import { hash } from 'node:crypto';
import { beginsChunkSql } from '../../base/chunks.js';
import { FOLDED_NAME } from '../../base/portable.js';
import type { Register } from '../../register/database.js';
import { isPublished, literal, objectOf } from '../../register/sql.js';
import { NAME_PAGE_ROUTE, NAMES_ROUTE } from '../../routes/lookup.js';
import { filler } from '../../routes/route.js';
import { ROUTES, routeNamed } from '../../routes/routes.js';
import { KINDS, shapesOf, type ComputedField } from '../../schema/field.js';
import type { ObjectShape, ValueShape } from '../../schema/shape.js';
import type { Output } from '../output.js';
import { listed, part, shapeOfParts, value, valuesOf, type Part } from '../parts.js';
import { MATCH_VALUES, namesQuery } from './names.js';

/** Average number of names in a page, some 64 kB. */
const PAGE_NAMES = 1024;

/** The number of the page that begins with the lowest name, whichever that is. */
const FIRST_PAGE = 1;

/** The sorted names, while they are rendered: in a file, since there are more of them than records. */
const SORTED = 'temp._sorted_names';

const column = (shape: ValueShape & Pick<ComputedField, 'type'>, sql = shape.name): ComputedField => ({
  ...shape,
  is: 'computed',
  sql,
});

const ENTRY: readonly ComputedField[] = [
  column(value('kind', 'enum', 'user', 'Kind of the record.', { values: KINDS })),
  column(MATCH_VALUES.id),
  column(MATCH_VALUES.name, 'called'),
  column(MATCH_VALUES.isCurrent),
];

const FIRST = value(
  'first',
  'text',
  'marlow_finch',
  `The first name of the page, folded: ${FOLDED_NAME}. Pages are in order of the code points of folded names.`,
);

const pathOf = filler(routeNamed(ROUTES, NAME_PAGE_ROUTE).path);

const NEXT = value('next', 'path', pathOf(482_203), 'Path of the next page; null for the last one.', {
  nullable: true,
});

export const NAME_PAGE_SHAPE: ObjectShape = {
  ...shapeOfParts(NAME_PAGE_ROUTE, 'A page of the names of all records.', []),
  members: [
    FIRST,
    NEXT,
    {
      is: 'list',
      name: 'names',
      nullable: false,
      description:
        'The names, in order of their folded code points, then of kind, id and name. A record has one entry for each spelling.',
      members: shapesOf(ENTRY, []),
    },
  ],
};

interface NamePage {
  readonly number: number;
  readonly first: string;
  /** The row of the first name among the sorted ones. */
  readonly low: number;
}

interface NameIndex {
  readonly count: number;
  readonly pages: readonly NamePage[];
}

const INDEX: readonly Part<NameIndex>[] = [
  part(value('count', 'count', 1_204_311, 'Number of names.', { unit: 'names' }), ({ count }) => count),
  listed<NameIndex, NamePage>(
    'pages',
    'The pages, in order of their names.',
    [
      part<NamePage>(FIRST, ({ first }) => first),
      part<NamePage>(value('path', 'path', pathOf(482_203), 'Path of the page.'), ({ number }) =>
        pathOf(number),
      ),
    ],
    ({ pages }) => pages,
  ),
];

export const NAMES_SHAPE = shapeOfParts(NAMES_ROUTE, 'Where the pages of all names begin.', INDEX);

/** Nobody means a deleted record by the beginning of a name. */
const ALL_NAMES = KINDS.map((kind) => {
  const names = namesQuery(kind, `${isPublished(kind)} AND state IS NOT 'deleted'`);
  return `SELECT ${literal(kind)} AS kind, id, called, is_current FROM (${names})`;
}).join(' UNION ALL ');

/** The pages, by ascending number, then the document that leads to them. */
export function* namePages(register: Register): Generator<Output> {
  const order = 'folded, kind, id, called COLLATE BINARY';
  register.execute(`DROP TABLE IF EXISTS ${SORTED}`);
  register.execute(
    `CREATE TABLE ${SORTED} AS SELECT folded_name(called) AS folded, kind, id, called, max(is_current) AS is_current` +
      ` FROM (${ALL_NAMES}) GROUP BY ${order} ORDER BY ${order}`,
  );
  const [[count] = [0]] = register.rows<[number]>(`SELECT count(*) FROM ${SORTED}`);
  const pages = pagesOf(register);
  const rendered = register.asked<[low: number, end: number], [json: string]>(
    `SELECT json_group_array(${objectOf(ENTRY)}) FROM` +
      ` (SELECT * FROM ${SORTED} WHERE rowid >= ? AND rowid < ? ORDER BY rowid)`,
  );
  const following = new Map(pages.map(({ number }, index) => [number, pages[index + 1]]));
  for (const { number, first, low } of pages.toSorted((a, b) => a.number - b.number)) {
    const next = following.get(number);
    const [names = '[]'] = rendered(low, next?.low ?? count + 1) ?? [];
    const head = { first, next: next === undefined ? null : pathOf(next.number) };
    yield {
      route: NAME_PAGE_ROUTE,
      key: number,
      body: `${JSON.stringify(head).slice(0, -1)},"names":${names}}`,
    };
  }
  register.execute(`DROP TABLE ${SORTED}`);
  yield { route: NAMES_ROUTE, key: 0, body: JSON.stringify(valuesOf(INDEX, { count, pages })) };
}

/** The pages in order of their names: one begins at the first name, and where a function of the id says so. */
function pagesOf(register: Register): readonly NamePage[] {
  const pages = new Map<number, NamePage>();
  const starts = `SELECT rowid, folded, kind, id FROM ${SORTED} WHERE rowid = 1 OR ${beginsChunkSql('id', PAGE_NAMES)} ORDER BY rowid`;
  for (const [low, first, kind, id] of register.rows<[number, string, string, number]>(starts)) {
    const number = pages.size === 0 ? FIRST_PAGE : pageNumber(first, kind, id);
    // Another spelling of the same name has the same number, and is in the same page.
    if (!pages.has(number)) pages.set(number, { number, first, low });
  }
  return [...pages.values()];
}

/** Above that of the first page, and below 2^41. */
const pageNumber = (...entry: readonly [folded: string, kind: string, id: number]): number =>
  FIRST_PAGE + 1 + Number(`0x${hash('sha256', JSON.stringify(entry)).slice(0, 10)}`);
