/** A register in which the values are known, for the pages of records and the charts in pages of others. */
import type { Rows } from '../../support/register.js';

const DAY_MS = 86_400_000;
const FIRST_MS = Date.parse('2025-01-01T06:00:00Z');

const at = (day: number): string => `${new Date(FIRST_MS + day * DAY_MS).toISOString().slice(0, 19)}Z`;
const from = (first: number, last: number) => ({ first_measured_at: at(first), last_measured_at: at(last) });
/** 21 November 2026. */
const LAST = 689;
/** Days of the readings of group 1: 690 in a row, but for 30 of them. */
const DAYS = Array.from({ length: LAST + 1 }, (_, day) => day).filter((day) => day < 300 || day >= 330);
/** Grows by 10 a day to 10,000 + 500 * 10 on day 500, then falls by 1 a day. */
const membersOn = (day: number): number => (day <= 500 ? 10_000 + 10 * day : 15_000 - (day - 500));
const readings = (group_id: number, days: readonly number[], membersOn: (day: number) => number) =>
  days.map((day) => ({ group_id, measured_at: at(day), member_count: membersOn(day) }));

export const HOSTILE =
  '</script><script>document.title="x"</script><img src=x onerror=alert(1)> "\'& {id} ${name}';
export const RTL = 'מגדל האור השקט';

const ownedBy = (owner_id: number, owner_name: string) => ({ owner_state: 'owned', owner_id, owner_name });
const QUICK_HILL = ownedBy(10, 'quick_hill');
const RENAMED = '2020-06-01T12:30:00Z';
const MEASURED = { first_measured_at: at(0), measured_at: at(LAST), measurements: DAYS.length };
/** Their members were not read at the last measurement. */
const MEASURED_LATER = { ...MEASURED, measured_at: at(LAST + 4) };

export const WORKSHOP: Rows = {
  groups: [
    {
      id: 1,
      name: 'Snowy River Workshop',
      description: `One\nTwo ${HOSTILE}`,
      member_count: membersOn(LAST),
      ...QUICK_HILL,
      ...MEASURED,
    },
    // Its owner is withheld.
    { id: 2, name: HOSTILE, member_count: 5, state: 'locked', ...ownedBy(11, 'secret') },
    { id: 3, name: RTL, member_count: 7, state: 'present', owner_state: 'none' },
    { id: 4, name: null },
    { id: 5, name: 'Withheld', member_count: 9 },
    { id: 6, name: 'W'.repeat(400), member_count: 1, ...ownedBy(999, 'elsewhere') },
    { id: 7, name: 'Read before', member_count: 41, ...MEASURED_LATER },
    { id: 8, name: 'Read once before', member_count: 9, ...MEASURED_LATER },
  ],
  group_member_readings: [
    ...readings(1, DAYS, membersOn),
    ...readings(3, [LAST - 1], () => 7),
    ...readings(7, [1, 2, 3, 4, 5, 16, 17], (day) => (day === 1 ? 40 : 41)),
    ...readings(8, [9], () => 9),
  ],
  group_names: [
    { group_id: 1, position: 1, name: HOSTILE, ...from(0, 100) },
    { group_id: 1, position: 2, name: 'Snowy River Workshop', ...from(104, LAST) },
    { group_id: 7, position: 1, name: 'Read before', ...from(1, 17) },
    { group_id: 8, position: 1, name: '', ...from(9, 9) },
    { group_id: 8, position: 2, name: 'a "quoted"\r\nname', ...from(10, 10) },
    { group_id: 8, position: 3, name: 'Read once before', ...from(11, 11) },
  ],
  group_owners: [
    { group_id: 1, position: 1, owner_state: 'none', ...from(0, 50) },
    { group_id: 1, position: 2, ...ownedBy(11, 'secret'), ...from(51, 99) },
    { group_id: 1, position: 3, ...QUICK_HILL, ...from(100, LAST) },
    { group_id: 7, position: 1, owner_state: 'none', ...from(1, 5) },
    { group_id: 7, position: 2, ...QUICK_HILL, ...from(16, 17) },
  ],
  users: [
    { id: 10, username: 'quick_hill', display_name: 'Quick', state: 'banned' },
    { id: 11, username: 'secret' },
  ],
  usernames: [
    { user_id: 10, position: 1, username: 'slow_hill', ...from(3, 3) },
    { user_id: 10, position: 2, username: 'quick_hill', changed_at: RENAMED, ...from(3, 9) },
  ],
  games: [
    {
      id: 7,
      name: 'Lantern Harbour',
      access: 'free',
      playing: 1290,
      visits: 70_214_993,
      up_votes: 75,
      down_votes: 25,
    },
  ],
  items: [
    {
      id: 8,
      name: 'Copper Diving Helmet',
      price_state: 'unlisted',
      limited: 1,
      lowest_resale_price: 1180,
      quantity_total: 5000,
      quantity_remaining: 12,
    },
    { id: 9, name: 'Copper Cloak', favourites: 15 },
  ],
  withheld: [
    { kind: 'group', id: 5, since: '2026-01-01T00:00:00Z' },
    { kind: 'user', id: 11, since: '2026-01-01T00:00:00Z' },
  ],
};
