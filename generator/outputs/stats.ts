/** /api/v1/stats: register-wide measured totals. */
import { populationOf } from '../register/overview.js';
import type { Overview, Population, Total } from '../register/overview.js';
import { columnsOf } from '../schema/field.js';
import type { Resource } from '../schema/field.js';
import { RESOURCES } from '../schema/index.js';
import type { Output } from './output.js';
import { nested, part, shapeOfParts, value, valuesOf } from './parts.js';
import type { Part } from './parts.js';

/** Totals of a kind, and of some of its columns. */
function wholeOf(resource: Resource): Part<Overview> {
  const { plural } = resource;
  const from = (facts: Overview): Population => populationOf(facts.populations, resource);
  return nested(plural, `All ${plural} of the register.`, [
    part(
      value('records', 'count', 48_213, `How many ${plural} are published.`, { unit: plural }),
      (facts) => from(facts).records,
    ),
    part(
      value('measurements', 'count', 1_204_877, 'How many times they were measured.', { unit: 'readings' }),
      (facts) => from(facts).measurements,
    ),
    part(
      value(
        'first_measured_at',
        'time',
        '2024-03-01T12:00:00Z',
        'The first measurement of any of them; null where there is none.',
        {
          nullable: true,
        },
      ),
      (facts) => from(facts).firstMeasuredAt,
    ),
    part(
      value(
        'measured_at',
        'time',
        '2026-11-20T08:00:00Z',
        'The newest measurement of any of them; null where there is none.',
        {
          nullable: true,
        },
      ),
      (facts) => from(facts).measuredAt,
    ),
    ...resource.totals.map((column) =>
      totalOf(resource, column, (facts) => from(facts).totals.find((total) => total.column === column)),
    ),
  ]);
}

function totalOf(
  { plural, record }: Resource,
  name: string,
  from: (facts: Overview) => Total | undefined,
): Part<Overview> {
  const unit = columnsOf(record.fields).find((column) => column.name === name)?.unit;
  if (unit === undefined) throw new TypeError(`"${name}" of ${plural} counts nothing, so it has no total`);
  return nested(name, `What ${name} adds up to over all ${plural}.`, [
    part(
      value('total', 'count', 70_214_993, 'The sum of the measured values; null where there is none.', {
        unit,
        nullable: true,
      }),
      (facts) => from(facts)?.total,
    ),
    part(
      value('measured', 'count', 41_877, 'How many records have a measured value.', { unit: plural }),
      (facts) => from(facts)?.measured,
    ),
  ]);
}

const counted = (
  name: string,
  unit: string,
  description: string,
  table: string,
  what: 'entries' | 'changes',
): Part<Overview> =>
  part(value(name, 'count', 190_551, description, { unit }), ({ populations }) => {
    const found = populations
      .flatMap(({ histories }) => histories)
      .find(({ history }) => history.table === table);
    if (found === undefined) throw new TypeError(`no history is in a table "${table}"`);
    return found[what];
  });

const HISTORIES: readonly Part<Overview>[] = [
  counted('member_readings', 'readings', 'Readings of member counts.', 'group_member_readings', 'entries'),
  counted('name_changes', 'changes', 'Group names that followed another.', 'group_names', 'changes'),
  counted('owner_changes', 'changes', 'Group owners that followed another.', 'group_owners', 'changes'),
  counted('username_changes', 'changes', 'Usernames that followed another.', 'usernames', 'changes'),
];

const PARTS: readonly Part<Overview>[] = [
  part(
    value(
      'as_of',
      'time',
      '2026-11-20T08:00:00Z',
      'The newest measurement of the register; null where it is empty.',
      {
        nullable: true,
      },
    ),
    ({ asOf }) => asOf,
  ),
  ...RESOURCES.map(wholeOf),
  nested('histories', 'What the histories hold.', HISTORIES),
];

export const STATS_SHAPE = shapeOfParts('stats', 'Register-wide measured totals.', PARTS);

export function* stats(overview: Overview): Generator<Output> {
  yield { route: 'stats', key: 0, body: JSON.stringify(valuesOf(PARTS, overview)) };
}
