/** A register with everything that a file format may get wrong. */
import type { Rows } from './register.js';

export const TIME = '2026-11-20T08:00:00Z';
/** Texts of names. */
export const NASTY = [
  'plain',
  '',
  ' outer spaces ',
  'a,b',
  'say "hi"',
  '"',
  '""',
  'line\nbreak',
  'line\r\nbreak',
  '\r',
  '\n',
  'tab\tin it, and behind\t',
  '+1',
  '=SUM(A1:A9)',
  '-2',
  '@x',
  'null',
  'NULL',
  'true',
  '007',
  '🦊 emoji',
  'مرحبا',
  '\u202eright to left',
  '\ufeffmark',
  '\u0000nul',
  '\u001f',
  '\uffff',
  '\\',
  '\\"',
  'ß'.repeat(5000),
];

export const NASTY_REGISTER: Rows = {
  groups: [
    ...NASTY.map((name, index) => ({ id: index + 1, name, description: name, platform_id: name })),
    { id: 100, owner_state: 'owned', owner_id: 7, owner_name: 'seven', public_entry: 1, verified: 0 },
    { id: 101, owner_state: 'none', member_count: 0 },
    { id: 9_007_199_254_740_991 },
  ],
  group_member_readings: [
    { group_id: 100, measured_at: '2026-11-10T08:00:00Z', member_count: 9_007_199_254_740_991 },
    { group_id: 100, measured_at: '2026-11-19T08:00:00Z', member_count: 9 },
    { group_id: 100, measured_at: TIME, member_count: 3 },
  ],
  users: [{ id: 7, username: 'seven', verified: 1 }, { id: 8 }],
  usernames: NASTY.filter((name) => name !== '').map((username, index) => ({
    user_id: 8,
    position: index + 1,
    username,
    changed_at: index === 3 ? TIME : null,
    first_measured_at: TIME,
    last_measured_at: TIME,
  })),
};
