import { each, type Findings } from './views.js';

/** What a register of 5,000 records has at least once. */
export const SHAPES: Findings = {
  'one group is the largest': '(SELECT max(member_count) m FROM groups) WHERE m > 2.8e8',
  'two groups tie among the hundred largest':
    '(SELECT member_count m FROM groups ORDER BY m DESC LIMIT 100) GROUP BY m HAVING count(*) > 1',
  'small groups tie': 'groups WHERE member_count BETWEEN 1 AND 50 GROUP BY member_count HAVING count(*) > 1',
  'a group has no members': 'groups WHERE member_count = 0',
  'most groups are small': '(SELECT avg(member_count < 200) share FROM groups) WHERE share > 0.5',
  'few groups are large': '(SELECT avg(member_count >= 10000) share FROM groups) WHERE share < 0.05',
  'a group is measured hourly':
    "readings WHERE earlier_at > '2026-11-19' GROUP BY group_id HAVING count(*) > 20",
  'a group is measured daily':
    "readings WHERE earlier_at > '2026-10-20' GROUP BY group_id HAVING count(*) > 20",
  'a group has a hundred readings': 'readings GROUP BY group_id HAVING count(*) >= 100',
  'a group has one reading': 'readings GROUP BY group_id HAVING count(*) = 1',
  'readings go back two years': "readings WHERE measured_at < '2024-11-20'",
  'a daily series has a gap':
    "readings WHERE earlier_at > '2026-10-16' GROUP BY group_id HAVING count(*) > 15 AND max(julianday(measured_at) - julianday(earlier_at)) > 1.9",
  'a group changed within 24 hours': changedWithin(1),
  'a group changed within 7 days': changedWithin(7),
  'a group changed within 30 days': changedWithin(30),
  'a counter falls between two readings': 'readings WHERE member_count < earlier',
  'a large group lost members':
    'groups g WHERE member_count > 100000 AND member_count < (SELECT member_count FROM readings r WHERE r.group_id = g.id AND earlier_at IS NULL)',
  'a group is measured without a member count':
    'groups WHERE member_count IS NULL AND id NOT IN (SELECT group_id FROM readings)',
  'a member count is known from before only':
    'groups WHERE member_count IS NULL AND id IN (SELECT group_id FROM readings)',
  'a member count is older than its record':
    'groups g JOIN newest_readings r ON r.group_id = g.id WHERE g.measured_at > r.measured_at AND g.member_count IS NOT NULL',
  ...each(['group', 'user'], (kind) => ({
    [`a ${kind} was renamed`]: `names WHERE kind = '${kind}' AND name <> earlier`,
    [`a ${kind} was renamed three times`]: `names WHERE kind = '${kind}' AND position = 4`,
    [`a ${kind}'s name returned`]: `names WHERE kind = '${kind}' AND name = before_that AND name <> earlier`,
    [`a ${kind}'s change between readings is dated`]: `names WHERE kind = '${kind}' AND changed_at > earlier_last_at AND changed_at < first_at`,
    [`all names of a ${kind} were learned from one list`]: `learned WHERE kind = '${kind}'`,
    [`a ${kind}'s name learned from a list was read again`]: `names WHERE kind = '${kind}' AND first_at = earlier_last_at AND last_at > first_at`,
    [`most changes of ${kind} names are not dated by observation`]: `(SELECT avg(changed_at IS NULL) share FROM names WHERE kind = '${kind}' AND first_at > earlier_last_at) WHERE share > 0.5`,
  })),
  'a group changed its owner': 'owners WHERE owner_id <> earlier_id',
  'a group lost its owner': "owners WHERE owner_state = 'none' AND earlier_state = 'owned'",
  'a group found an owner': "owners WHERE owner_state = 'owned' AND earlier_state = 'none'",
  'a group has no owner': "groups WHERE owner_state = 'none'",
  "a group's owner was not measured": 'groups WHERE owner_state IS NULL',
  "an owner's name was not measured": 'groups WHERE owner_id IS NOT NULL AND owner_name IS NULL',
  'an owner is a measured user': 'groups WHERE owner_id IN (SELECT id FROM users)',
  'an owner is no measured user': 'groups WHERE owner_id NOT IN (SELECT id FROM users)',
  'a group has neither names nor owners from before':
    'groups WHERE name IS NOT NULL AND owner_id IS NOT NULL AND id NOT IN (SELECT group_id FROM group_names UNION SELECT group_id FROM owners)',
  'a group has no history at all':
    'groups WHERE id NOT IN (SELECT group_id FROM group_names UNION SELECT group_id FROM owners UNION SELECT group_id FROM readings)',
  'a user has no history': 'users WHERE username IS NOT NULL AND id NOT IN (SELECT user_id FROM usernames)',
  ...each(
    (
      'group present,group locked,group deleted,user present,user banned,user deleted,game present,' +
      'game restricted,game deleted,item present,item deleted'
    ).split(','),
    (words) => {
      const [kind = '', state] = words.split(' ');
      return { [`${kind}: ${state}`]: `${kind}s WHERE state = '${state}'` };
    },
  ),
  ...each(['groups', 'games', 'items'], (table) => ({
    [`${table} without description`]: `${table} WHERE description = ''`,
  })),
  'a description has 1,000 characters and line breaks':
    'descriptions WHERE length(description) = 1000 AND instr(description, char(10))',
  'a game is paid': "games WHERE access = 'paid' AND price > 0",
  'a game is free': "games WHERE access = 'free' AND price IS NULL",
  'a game has been visited 7e10 times': 'games WHERE visits > 7e10',
  'an item is priced': "items WHERE price_state = 'priced' AND price > 0",
  'an item is priced, nobody knows how': "items WHERE price_state = 'priced' AND price IS NULL",
  'an item is free': "items WHERE price_state = 'free' AND price = 0",
  'an item is unlisted': "items WHERE price_state = 'unlisted' AND price IS NULL AND off_sale = 1",
  'an item is limited': 'items WHERE limited = 1 AND lowest_resale_price > 0 AND quantity_total > 0',
  'a limited item is not for resale': 'items WHERE limited = 1 AND lowest_resale_price IS NULL',
  'a resale price reaches 1e12': 'items WHERE lowest_resale_price = 1e12',
  'an item id exceeds 32 bits': 'items WHERE id > 0xFFFFFFFF',
  'an item id approaches 1.4e14': 'items WHERE id > 1.3e14',
  'most item ids are small': '(SELECT avg(id < 0xFFFFFFFF) share FROM items) WHERE share > 0.5',
  ...each(['game', 'item'], (of) => ({
    [`a user made a ${of}`]: `creators JOIN users USING (id) WHERE of = '${of}' AND type = 'user'`,
    [`a group made a ${of}`]: `creators JOIN groups USING (id) WHERE of = '${of}' AND type = 'group'`,
    [`nobody knows who made a ${of}`]: `creators WHERE of = '${of}' AND coalesce(type, id, name) IS NULL`,
    [`somebody without a name made a ${of}`]: `creators WHERE of = '${of}' AND id IS NOT NULL AND name IS NULL`,
    [`a withheld user made a ${of}`]: `creators JOIN withheld USING (id) WHERE of = '${of}' AND type = 'user' AND kind = type`,
    [`a withheld group made a ${of}`]: `creators JOIN withheld USING (id) WHERE of = '${of}' AND type = 'group' AND kind = type`,
  })),
  'a withheld user owns a group': "groups JOIN withheld w ON w.kind = 'user' AND w.id = owner_id",
  ...each(['group', 'user', 'game', 'item'], (kind) => ({
    [`a ${kind} is withheld`]: `withheld JOIN records USING (kind, id) WHERE kind = '${kind}'`,
  })),
  'a name that another group had before':
    'groups g JOIN group_names n ON n.name = g.name AND n.group_id <> g.id',
};

/** Groups whose newest reading has another at or before its time minus the window, at most one and a half of it. */
function changedWithin(days: number): string {
  const ago = (factor: number) =>
    `strftime('%Y-%m-%dT%H:%M:%SZ', n.measured_at, '-${24 * days * factor} hours')`;
  return `newest_readings n JOIN readings r ON r.group_id = n.group_id AND r.measured_at BETWEEN ${ago(1.5)} AND ${ago(1)}`;
}
