import { each, type Findings } from './views.js';

/** What would not be plausible, beyond what `check` finds: a sample has no row of these. */
export const FAULTS: Findings = {
  ...each(['group_id FROM group_names', 'group_id FROM group_owners', 'user_id FROM usernames'], (keys) => ({
    [`positions other than 1 to n: ${keys}`]: `(SELECT ${keys} GROUP BY 1 HAVING min(position) <> 1 OR max(position) <> count(*))`,
  })),
  'a member reading outside of the measured time':
    'groups g JOIN readings r ON r.group_id = g.id WHERE r.measured_at NOT BETWEEN g.first_measured_at AND g.measured_at',
  'more member readings than readings':
    'groups g WHERE measurements < (SELECT count(*) FROM group_member_readings WHERE group_id = g.id)',
  'a name that changed to itself': 'names WHERE name = earlier',
  // Names learned from one list share their reading
  'names out of the order of time':
    'names WHERE first_at < earlier_last_at OR (first_at = earlier_last_at AND first_at > earlier_first_at)',
  'owners out of the order of time': 'owners WHERE first_measured_at <= earlier_last_at',
  'a name outside of the measured time':
    'names JOIN records USING (kind, id) WHERE first_at < first_measured_at OR last_at > measured_at OR first_at > last_at',
  'an owner outside of the measured time':
    'owners o JOIN groups g ON g.id = o.group_id WHERE o.first_measured_at < g.first_measured_at OR o.last_measured_at > g.measured_at OR o.first_measured_at > o.last_measured_at',
  'a change of name dated outside of its bounds':
    'names WHERE changed_at > first_at OR changed_at <= earlier_changed_at OR (changed_at <= earlier_last_at AND first_at > earlier_last_at) OR (changed_at IS NOT NULL AND position = 1)',
  'an owner without id': "all_owners WHERE owner_state = 'owned' AND owner_id IS NULL",
  "an owner's name other than their record's":
    'all_owners JOIN users ON users.id = owner_id WHERE owner_name <> username',
  "a creator's name other than their record's":
    'creators c LEFT JOIN known k ON k.kind = c.type AND k.id = c.id WHERE c.type IS NOT NULL AND (k.id IS NULL OR c.name <> k.name)',
  'a username that is none':
    "usernames WHERE length(username) NOT BETWEEN 3 AND 20 OR username GLOB '*[^A-Za-z0-9_]*'",
  'a username twice': 'users WHERE username IS NOT NULL GROUP BY lower(username) HAVING count(*) > 1',
  'a description of more than 1,000 characters': 'descriptions WHERE length(description) > 1000',
  'more items remaining than there were': 'items WHERE quantity_remaining > quantity_total',
  'a record measured after the present': "records WHERE measured_at > '2026-11-20T08:00:00Z'",
  'a record whose readings do not add up':
    'records WHERE measurements < 1 OR (measurements = 1) <> (first_measured_at = measured_at)',
  'a withheld record that is none': 'withheld LEFT JOIN records USING (kind, id) WHERE measurements IS NULL',
};
