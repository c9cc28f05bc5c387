/** The front page: what the register is, its size, and its largest groups. */
import { z } from 'zod';
import type { Operator } from '../../config.js';
import type { Overview, Population } from '../../register/overview.js';
import { routeNamed, filler } from '../../routes/index.js';
import { PATHS } from '../../routes/paths.js';
import type { Route } from '../../routes/index.js';
import { SHOWN_GROUPS } from './shown.js';
import type { Shown } from './shown.js';
import { HEIGHT, WIDTH, sparkline } from './sparkline.js';
import { amount, day, integer, moment, signed } from './words.js';

/** The parts of other outputs that the page reads. */
const listBody = z.object({
  groups: z.array(
    z.object({ rank: z.int(), id: z.int(), name: z.string().nullable(), member_count: z.int() }),
  ),
});
const recordBody = z.object({
  change: z.object({ d30: z.object({ delta: z.int() }).nullable() }),
});
const historyBody = z.object({
  members: z.array(z.object({ measured_at: z.string(), member_count: z.int() })),
});
const statsBody = z.object({
  histories: z.object({
    member_readings: z.int(),
    name_changes: z.int(),
    owner_changes: z.int(),
    username_changes: z.int(),
  }),
});

/** The names of totals. */
const TOTALS: Readonly<Record<string, string>> = {
  member_count: 'members in total',
  visits: 'visits in total',
  playing: 'players when last measured',
};

function figures({ resource, records, measurements, firstMeasuredAt, measuredAt, totals }: Population) {
  const { plural } = resource;
  return {
    plural,
    records: integer(records),
    measured:
      firstMeasuredAt === null || measuredAt === null
        ? undefined
        : `${day(firstMeasuredAt)} to ${day(measuredAt)}`,
    measurements: amount(measurements, 'measurement'),
    totals: totals.flatMap(({ column, total, measured }) =>
      total === null
        ? []
        : [
            {
              value: integer(total),
              name: TOTALS[column] ?? column,
              of: `measured for ${integer(measured)} ${plural}`,
            },
          ],
    ),
  };
}

function largestGroups(shown: Shown, table: readonly Route[]) {
  const body = shown.body('largest', SHOWN_GROUPS);
  if (body === undefined) return [];
  const url = filler(routeNamed(table, 'group').path);
  return listBody.parse(JSON.parse(body)).groups.map(({ rank, id, name, member_count }) => {
    const record = shown.body('group', id);
    const history = shown.body('group-history', id);
    const change = record === undefined ? null : recordBody.parse(JSON.parse(record)).change.d30;
    const readings = history === undefined ? [] : historyBody.parse(JSON.parse(history)).members;
    const first = readings.at(0);
    const last = readings.at(-1);
    return {
      rank,
      name,
      id,
      url: url(id),
      members: integer(member_count),
      change: change === null ? undefined : signed(change.delta),
      line: sparkline(readings),
      lineText:
        first === undefined || last === undefined
          ? ''
          : `${amount(readings.length, 'reading')} from ${day(first.measured_at)} to ${day(last.measured_at)}: ` +
            `${integer(first.member_count)} members in the first, ${integer(last.member_count)} in the last`,
    };
  });
}

/** The data for the template of the front page. */
export function frontPage(
  operator: Operator,
  { populations, asOf }: Overview,
  table: readonly Route[],
  shown: Shown,
) {
  const stats = shown.body('stats');
  const histories = stats === undefined ? undefined : statsBody.parse(JSON.parse(stats)).histories;
  return {
    kinds: populations.map(figures),
    histories:
      histories === undefined
        ? []
        : [
            { value: integer(histories.member_readings), name: 'member count readings' },
            { value: integer(histories.name_changes), name: 'changes of group name' },
            { value: integer(histories.owner_changes), name: 'changes of group owner' },
            { value: integer(histories.username_changes), name: 'changes of username' },
          ],
    groups: largestGroups(shown, table),
    spark: { width: WIDTH, height: HEIGHT },
    asOf: asOf === null ? undefined : { time: asOf, words: moment(asOf) },
    tryUrl: `${operator.baseUrl}${PATHS.base}/largest?limit=3`,
  };
}
