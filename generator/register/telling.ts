/** Which records tell much of their kind, and so are shown where it is described. */
import type { Kind, Resource } from '../resources/field.js';
import type { Register } from './open.js';
import { isPublished, name } from './sql.js';

/** Of the groups so many are shown, on the front page. The first of them is the example of a group. */
export const SHOWN_GROUPS = 10;

/** What makes a record tell much: the highest value, or a condition. Among equals it is the lowest id. */
const TELLING: Readonly<Record<Kind, { readonly by: string } | { readonly where: string }>> = {
  group: { by: `CASE WHEN state IS NOT 'deleted' THEN member_count END` },
  user: { where: 'id IN (SELECT user_id FROM usernames GROUP BY user_id HAVING count(*) BETWEEN 2 AND 4)' },
  game: { by: 'visits' },
  item: { by: 'favourites' },
};

const IS_PRESENT = `state IS 'present'`;

/** Ids of the most telling records of a kind, those that are present before others. */
export function telling(register: Register, { kind, plural }: Resource): readonly number[] {
  const published = `SELECT id FROM ${name(plural)} WHERE ${isPublished(kind)}`;
  const ids = (sql: string): readonly number[] => [...register.rows<[number]>(sql)].map(([id]) => id);
  const what = TELLING[kind];
  if ('by' in what) {
    const [first, limit] = kind === 'group' ? ['', SHOWN_GROUPS] : [`${IS_PRESENT} DESC,`, 1];
    return ids(`${published} ORDER BY ${first} ${what.by} DESC NULLS LAST, id LIMIT ${limit}`);
  }
  // Mostly the first of these finds one soon, where sorting would look at all records.
  for (const condition of [`${IS_PRESENT} AND ${what.where}`, IS_PRESENT, what.where, 'true']) {
    const found = ids(`${published} AND ${condition} ORDER BY id LIMIT 1`);
    if (found.length > 0) return found;
  }
  return [];
}
