/** /api/v1/stats: register-wide measured totals. */
import type { HistoryCounts, Overview } from '../register/published.js';
import type { Output } from './output.js';

export function* stats({ asOf, populations }: Overview): Generator<Output> {
  const kinds = populations.map(
    ({ resource, records, measurements, firstMeasuredAt, measuredAt, totals }) => [
      resource.plural,
      {
        records,
        measurements,
        first_measured_at: firstMeasuredAt,
        measured_at: measuredAt,
        ...Object.fromEntries(totals.map(({ column, total, measured }) => [column, { total, measured }])),
      },
    ],
  );
  const counted = (table: string): HistoryCounts => {
    const found = populations
      .flatMap(({ histories }) => histories)
      .find(({ history }) => history.table === table);
    if (found === undefined) throw new TypeError(`no history is in a table "${table}"`);
    return found;
  };
  const histories = {
    member_readings: counted('group_member_readings').entries,
    name_changes: counted('group_names').changes,
    owner_changes: counted('group_owners').changes,
    username_changes: counted('usernames').changes,
  };
  const body = JSON.stringify({ as_of: asOf, ...Object.fromEntries(kinds), histories });
  yield { route: 'stats', key: 0, body };
}
