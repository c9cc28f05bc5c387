/** Picks representative records as examples for the documentation. */
import type { Kind, Resource } from '../schema/field.js';
import type { Register } from './database.js';
import { LARGEST_LIMIT } from '../routes/endpoints.js';
import { isPublished, name } from './sql.js';

/** The order of the largest groups; null for groups that are not listed. */
export const LISTED_BY = `CASE WHEN state IS NOT 'deleted' THEN member_count END`;

/**
 * What makes a record representative: the highest value, or a few entries in a history. Ties go to
 * the lowest id.
 */
const SAMPLED: Readonly<
  Record<Kind, { readonly by: string } | { readonly among: string; readonly having: string }>
> = {
  group: { by: LISTED_BY },
  // Just that column: a table's extra columns may have the names of users' columns.
  user: {
    among: '(SELECT user_id FROM usernames) AS entry ON entry.user_id = id',
    having: 'count(*) BETWEEN 2 AND 4',
  },
  game: { by: 'visits' },
  item: { by: 'favourites' },
};

const IS_PRESENT = `state IS 'present'`;

/**
 * Ids of sample records of a kind, present ones first. For groups they are the largest, up to the
 * maximum of that list; others follow if there are fewer.
 */
export function samples(register: Register, { kind, plural }: Resource): readonly number[] {
  const records = `SELECT id FROM ${name(plural)}`;
  const published = `WHERE ${isPublished(kind)}`;
  const ids = (sql: string): readonly number[] => [...register.rows<[number]>(sql)].map(([id]) => id);
  const what = SAMPLED[kind];
  if ('by' in what) {
    const [first, limit] = kind === 'group' ? ['', LARGEST_LIMIT.maximum] : [`${IS_PRESENT} DESC,`, 1];
    return ids(`${records} ${published} ORDER BY ${first} ${what.by} DESC NULLS LAST, id LIMIT ${limit}`);
  }
  const wanted = (condition: string): string =>
    // CROSS JOIN fixes the order, so that SQLite stops at the first match.
    `${records} CROSS JOIN ${what.among} ${published} AND ${condition} GROUP BY id HAVING ${what.having}`;
  const any = (condition: string): string => `${records} ${published} AND ${condition}`;
  // The first queries usually match early, while sorting would read all records.
  for (const sql of [wanted(IS_PRESENT), any(IS_PRESENT), wanted('true'), any('true')]) {
    const found = ids(`${sql} ORDER BY id LIMIT 1`);
    if (found.length > 0) return found;
  }
  return [];
}
