/** /api/v1/largest: one file for each limit, all cut from one list. */
import type { ColumnField, Field, ObjectField } from '../resources/field.js';
import { group } from '../resources/group.js';
import type { Register } from '../register/open.js';
import { isPublished, name, objectOf } from '../register/sql.js';
import { LARGEST_LIMIT } from '../routes.js';
import type { Output } from './output.js';

/** What the list says of a group, beside its position. */
const LISTED = ['id', 'name', 'member_count', 'measured_at', 'owner_state', 'owner'];

function listedFields(): (ColumnField | ObjectField)[] {
  return LISTED.map((wanted) => {
    const field = group.record.fields.find((candidate: Field) => candidate.name === wanted);
    if (field?.is !== 'column' && field?.is !== 'object')
      throw new TypeError(`no field "${wanted}" in group`);
    return field;
  });
}

/** The files for limits 1 to 200. Equal counts share a position: 1, 2, 2, 4. */
export function* largest(register: Register, asOf: string | null): Generator<Output> {
  const position = {
    is: 'computed',
    name: 'position',
    type: 'ordinal',
    nullable: false,
    description: 'Place in the order by member count; equal counts share a place.',
    example: 1,
    sql: 'rank() OVER (ORDER BY member_count DESC)',
  } as const;
  const ranked = [
    ...register.rows<[json: string, measuredAt: string]>(
      `SELECT ${objectOf([position, ...listedFields()], [])}, measured_at FROM` +
        ` (SELECT * FROM ${name(group.plural)} WHERE member_count IS NOT NULL AND state IS NOT 'deleted'` +
        ` AND ${isPublished(group.kind)} ORDER BY member_count DESC, id LIMIT ${LARGEST_LIMIT.maximum})` +
        ` ORDER BY member_count DESC, id`,
    ),
  ];
  for (let limit: number = LARGEST_LIMIT.minimum; limit <= LARGEST_LIMIT.maximum; limit += 1) {
    const listed = ranked.slice(0, limit);
    const times = listed.map(([, measuredAt]) => measuredAt).toSorted();
    const head = JSON.stringify({
      limit,
      as_of: asOf,
      oldest_measured_at: times.at(0) ?? null,
      newest_measured_at: times.at(-1) ?? null,
    });
    const groups = listed.map(([json]) => json).join(',');
    yield { route: 'largest', key: limit, body: `${head.slice(0, -1)},"groups":[${groups}]}` };
  }
}
