/** Picks representative records as examples for the documentation. */
import type { Resource } from '../schema/field.js';
import type { Register } from './database.js';
import { LARGEST_LIMIT } from '../routes/endpoints.js';
import { isPublished, name } from './sql.js';

/** The order of the largest groups; null for groups that are not listed. */
export const LISTED_BY = `CASE WHEN state IS NOT 'deleted' THEN member_count END`;

/** What is highest in a representative record. */
const HIGHEST = { group: LISTED_BY, game: 'visits', item: 'favourites' } as const;

const IS_PRESENT = `state IS 'present'`;

/**
 * Ids of sample records of a kind, present ones first; ties go to the lowest id. For groups they are
 * the largest, up to the maximum of that list; others follow if there are fewer. A user has a few
 * entries in the history of usernames, if there is one.
 */
export function samples(register: Register, { kind, plural }: Resource): readonly number[] {
  const records = `SELECT id FROM ${name(plural)}`;
  const published = `WHERE ${isPublished(kind)}`;
  const ids = (sql: string): readonly number[] => [...register.rows<[number]>(sql)].map(([id]) => id);
  if (kind !== 'user') {
    const [first, limit] = kind === 'group' ? ['', LARGEST_LIMIT.maximum] : [`${IS_PRESENT} DESC,`, 1];
    return ids(
      `${records} ${published} ORDER BY ${first} ${HIGHEST[kind]} DESC NULLS LAST, id LIMIT ${limit}`,
    );
  }
  const wanted = (condition: string): string =>
    // CROSS JOIN fixes the order, so that SQLite stops at the first match. Just that column: a table's
    // extra columns may have the names of users' columns.
    `${records} CROSS JOIN (SELECT user_id FROM usernames) AS entry ON entry.user_id = id` +
    ` ${published} AND ${condition} GROUP BY id HAVING count(*) BETWEEN 2 AND 4`;
  const any = (condition: string): string => `${records} ${published} AND ${condition}`;
  // The first queries usually match early, while sorting would read all records.
  for (const sql of [wanted(IS_PRESENT), any(IS_PRESENT), wanted('true'), any('true')]) {
    const found = ids(`${sql} ORDER BY id LIMIT 1`);
    if (found.length > 0) return found;
  }
  return [];
}
