/** Which records tell much of their kind, and so are shown where it is described. */
import type { Kind, Resource } from '../resources/field.js';
import type { Register } from './open.js';
import { isPublished, name } from './sql.js';

/** Of the groups so many are shown, on the front page. The first of them is the example of a group. */
export const SHOWN_GROUPS = 10;

/** What makes a record tell much, highest first. Among equals, and without any, it is the lowest id. */
const TELLING: Readonly<Record<Kind, string>> = {
  group: `CASE WHEN state IS NOT 'deleted' THEN member_count END`,
  user: `id IN (SELECT user_id FROM usernames GROUP BY user_id HAVING count(*) BETWEEN 2 AND 4)`,
  game: 'visits',
  item: 'favourites',
};

/** Ids of the most telling records of a kind, those that are present before others. */
export function telling(register: Register, { kind, plural }: Resource): readonly number[] {
  const isGroup = kind === 'group';
  const rows = register.rows<[number]>(
    `SELECT id FROM ${name(plural)} WHERE ${isPublished(kind)}` +
      ` ORDER BY ${isGroup ? '' : `state IS 'present' DESC,`} ${TELLING[kind]} DESC NULLS LAST, id` +
      ` LIMIT ${isGroup ? SHOWN_GROUPS : 1}`,
  );
  return [...rows].map(([id]) => id);
}
