/** /api/v1/stats: register-wide measured totals. */
import { populationOf, type Overview, type Population, type Total } from '../register/overview.js';
import { columnsOf, type Resource } from '../schema/field.js';
import { RESOURCES } from '../schema/schema.js';
import type { Output } from './output.js';
import { ifMeasured, nested, part, shapeOfParts, value, valuesOf, type Part } from './parts.js';

/** Totals of a kind, and of some of its columns. */
function wholeOf(resource: Resource): Part<Overview> {
  const { plural } = resource;
  const from = (facts: Overview): Population => populationOf(facts.populations, resource);
  // If it is not measured of each record, the value is null, too.
  const ifKept = (column: string, kept: Part<Overview>): Part<Overview> =>
    ifMeasured(kept, ({ measured }) => measured.has(`${plural}.${column}`));
  const whole = nested<Overview>(plural, `All ${plural} in the register.`, [
    part(
      value('records', 'count', 48_213, `Number of published ${plural}.`, { unit: plural }),
      (facts) => from(facts).records,
    ),
    ifKept(
      'measurements',
      part(
        value('measurements', 'count', 1_204_877, 'Total number of times they have been measured.', {
          unit: 'measurements',
        }),
        (facts) => from(facts).measurements,
      ),
    ),
    ifKept(
      'first_measured_at',
      part(
        value(
          'first_measured_at',
          'time',
          '2024-03-01T12:00:00Z',
          'Time of the first measurement of any of them; null if there are none.',
          { nullable: true },
        ),
        (facts) => from(facts).firstMeasuredAt,
      ),
    ),
    part(
      value(
        'measured_at',
        'time',
        '2026-11-20T08:00:00Z',
        'Time of the newest measurement of any of them; null if there are none.',
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
  return ifMeasured(whole, ({ measured }) => measured.has(plural));
}

function totalOf(
  { plural, record }: Resource,
  name: string,
  from: (facts: Overview) => Total | undefined,
): Part<Overview> {
  const unit = columnsOf(record.fields).find((column) => column.name === name)?.unit;
  if (unit === undefined) throw new TypeError(`"${name}" of ${plural} counts nothing, so it has no total`);
  return nested(name, `Sum of ${name} over all ${plural}.`, [
    part(
      value('total', 'count', 70_214_993, 'Sum of the measured values; null if there are none.', {
        unit,
        nullable: true,
      }),
      (facts) => from(facts)?.total,
    ),
    part(
      value('measured', 'count', 41_877, `Number of ${plural} with a measured value.`, { unit: plural }),
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
  ifMeasured(
    part(value(name, 'count', 190_551, description, { unit }), ({ populations }) => {
      const found = populations
        .flatMap(({ histories }) => histories)
        .find(({ history }) => history.table === table);
      if (found === undefined) throw new TypeError(`no history is in a table "${table}"`);
      return found[what];
    }),
    ({ measured }) => measured.has(table),
  );

const HISTORIES: readonly Part<Overview>[] = [
  counted(
    'member_readings',
    'readings',
    'Readings of the member counts of groups.',
    'group_member_readings',
    'entries',
  ),
  counted('name_changes', 'changes', 'Changes of group name.', 'group_names', 'changes'),
  counted('owner_changes', 'changes', 'Changes of group owner.', 'group_owners', 'changes'),
  counted('username_changes', 'changes', 'Changes of username.', 'usernames', 'changes'),
];

const PARTS: readonly Part<Overview>[] = [
  part(
    value(
      'as_of',
      'time',
      '2026-11-20T08:00:00Z',
      'Time of the newest measurement in the register; null if it is empty.',
      {
        nullable: true,
      },
    ),
    ({ asOf }) => asOf,
  ),
  ...RESOURCES.map(wholeOf),
  nested('histories', 'Totals of all histories.', HISTORIES),
];

export const STATS_SHAPE = shapeOfParts('stats', 'Register-wide measured totals.', PARTS);

export function* stats(overview: Overview): Generator<Output> {
  yield { route: 'stats', key: 0, body: JSON.stringify(valuesOf(PARTS, overview)) };
}
