/** Which records tell much of their kind, and so are shown where it is described. */
import type { Kind, Resource } from '../schema/field.js';
import type { Register } from './database.js';
import { LARGEST_LIMIT } from '../routes/index.js';
import { isPublished, name } from './sql.js';

/** By what groups are listed as the largest; null for those that are not. */
export const LISTED_BY = `CASE WHEN state IS NOT 'deleted' THEN member_count END`;

/**
 * What makes a record tell much: the highest value, or some entries of a history, not too many to be read. Among equals
 * it is the lowest id.
 */
const SAMPLED: Readonly<
  Record<Kind, { readonly by: string } | { readonly among: string; readonly having: string }>
> = {
  group: { by: LISTED_BY },
  // Nothing but that column: a table may have more than the contract says, of the same names as those of users.
  user: {
    among: '(SELECT user_id FROM usernames) AS entry ON entry.user_id = id',
    having: 'count(*) BETWEEN 2 AND 4',
  },
  game: { by: 'visits' },
  item: { by: 'favourites' },
};

const IS_PRESENT = `state IS 'present'`;

/**
 * Ids of sample records of a kind, those that are present before others. Of the groups they are the largest,
 * as many as any list has, and others where there are not so many.
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
    // In this order SQLite stops at the first.
    `${records} CROSS JOIN ${what.among} ${published} AND ${condition} GROUP BY id HAVING ${what.having}`;
  const any = (condition: string): string => `${records} ${published} AND ${condition}`;
  // Mostly the first of these finds one soon, where sorting would look at all records.
  for (const sql of [wanted(IS_PRESENT), any(IS_PRESENT), wanted('true'), any('true')]) {
    const found = ids(`${sql} ORDER BY id LIMIT 1`);
    if (found.length > 0) return found;
  }
  return [];
}
