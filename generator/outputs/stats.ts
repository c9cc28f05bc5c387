/** /api/v1/stats: register-wide measured totals. */
import type { Register } from '../register/open.js';
import { historyCounts } from '../register/published.js';
import type { Overview } from '../register/published.js';
import { group } from '../resources/group.js';
import { user } from '../resources/user.js';
import type { Output } from './output.js';

export function* stats(register: Register, { asOf, populations }: Overview): Generator<Output> {
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
  const histories = {
    member_readings: historyCounts(register, group, 'members').entries,
    name_changes: historyCounts(register, group, 'names').changes,
    owner_changes: historyCounts(register, group, 'owners').changes,
    username_changes: historyCounts(register, user, 'usernames').changes,
  };
  const body = JSON.stringify({ as_of: asOf, ...Object.fromEntries(kinds), histories });
  yield { route: 'stats', key: 0, body };
}
