/** /api/v1/largest: one file for each limit, all cut from one list. */
import {
  required,
  shapesOf,
  type ColumnField,
  type ComputedField,
  type Field,
  type ObjectField,
  type Resource,
} from '../schema/field.js';
import { group } from '../schema/group.js';
import type { ObjectShape } from '../schema/shape.js';
import type { Register } from '../register/database.js';
import { populationOf, type Overview } from '../register/overview.js';
import { name, objectOf } from '../register/sql.js';
import { LISTED_BY } from '../register/samples.js';
import { LARGEST_LIMIT } from '../routes/endpoints.js';
import { ROUTES, isMeasured, routeNamed } from '../routes/routes.js';
import type { Output } from './output.js';
import { part, value, valuesOf, type Part } from './parts.js';

/** The fields of a group in the list, besides its rank. */
const LISTED = ['id', 'name', 'member_count', 'measured_at', 'owner_state', 'owner'];

/** The rank by a column of rows that have it, with ties. */
export const rankBy = (column: string, description: string): ComputedField => ({
  is: 'computed',
  name: 'rank',
  type: 'ordinal',
  nullable: false,
  description,
  example: 1,
  sql: `rank() OVER (ORDER BY ${name(column)} DESC)`,
});

/** A field of a record, for a list of records that have a value in the column that ranks them. */
export function listedField(
  { kind, record }: Resource,
  wanted: string,
  ranking: string,
): ColumnField | ObjectField {
  const field = record.fields.find((candidate: Field) => candidate.name === wanted);
  if (field?.is !== 'column' && field?.is !== 'object')
    throw new TypeError(`no field "${wanted}" in ${kind}`);
  return field.is === 'column' && wanted === ranking ? required(field) : field;
}

const FIELDS = [
  rankBy('member_count', 'Rank by member count. Groups with equal counts share a rank.'),
  ...LISTED.map((wanted) => listedField(group, wanted, 'member_count')),
];

interface Cut {
  readonly limit: number;
  readonly asOf: string | null;
  /** When the listed groups were measured, ascending. */
  readonly times: readonly string[];
}

const moment = (name: string, description: string, of: (cut: Cut) => string | null): Part<Cut> =>
  part(value(name, 'time', '2026-11-20T08:00:00Z', description, { nullable: true }), of);

const HEAD: readonly Part<Cut>[] = [
  part(
    value('limit', 'ordinal', LARGEST_LIMIT.default, 'The limit that was applied.', { unit: 'groups' }),
    ({ limit }) => limit,
  ),
  moment('as_of', 'Time of the newest measurement in the register; null if it is empty.', ({ asOf }) => asOf),
  moment(
    'oldest_measured_at',
    'Time of the oldest measurement in this list; null if the list is empty.',
    ({ times }) => times.at(0) ?? null,
  ),
  moment(
    'newest_measured_at',
    'Time of the newest measurement in this list; null if the list is empty.',
    ({ times }) => times.at(-1) ?? null,
  ),
];

export const LARGEST_SHAPE: ObjectShape = {
  is: 'object',
  name: 'largest',
  nullable: false,
  description:
    'The largest groups by measured member count. Deleted groups and groups without a measured count are left out.',
  members: [
    ...HEAD.map(({ shape }) => shape),
    {
      is: 'list',
      name: 'groups',
      nullable: false,
      description: 'The groups, largest first. Groups with equal counts are in order of id.',
      members: shapesOf(FIELDS, []),
    },
  ],
};

/** The files for limits 1 to 200. Ties share a rank: 1, 2, 2, 4. */
export function* largest(register: Register, { asOf, populations, measured }: Overview): Generator<Output> {
  if (!isMeasured(routeNamed(ROUTES, 'largest'), measured)) return;
  const { samples } = populationOf(populations, group);
  const ranked = [
    ...register.rows<[json: string, measuredAt: string]>(
      `SELECT ${objectOf(FIELDS)}, measured_at FROM` +
        ` (SELECT * FROM ${name(group.plural)} WHERE ${LISTED_BY} IS NOT NULL AND id IN (${samples.join()}))` +
        ` ORDER BY member_count DESC, id`,
    ),
  ];
  const times: string[] = [];
  let list = '';
  for (let limit: number = LARGEST_LIMIT.minimum; limit <= LARGEST_LIMIT.maximum; limit += 1) {
    const [json, measuredAt] = ranked[limit - 1] ?? [];
    if (json !== undefined && measuredAt !== undefined) {
      list += (list === '' ? '' : ',') + json;
      times.push(measuredAt);
      times.sort();
    }
    const head = JSON.stringify(valuesOf(HEAD, { limit, asOf, times }));
    yield { route: 'largest', key: limit, body: `${head.slice(0, -1)},"groups":[${list}]}` };
  }
}
