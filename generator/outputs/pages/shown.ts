/** Documents that the pages show: of the largest groups, and of one telling record of each other kind. */
import type { Kind } from '../../resources/field.js';
import { RESOURCES } from '../../resources/index.js';
import type { Register } from '../../register/open.js';
import { isPublished, name } from '../../register/sql.js';
import type { IdRange } from '../../register/sql.js';
import type { Output } from '../output.js';

/** The groups on the front page. The first of them is the example of a group. */
export const SHOWN_GROUPS = 10;
/** The limit in the example of the largest groups. */
export const EXAMPLE_LIMIT = 3;

/** What makes an example tell much, highest first. Among equals, and without any, it is the lowest id. */
const TELLING: Readonly<Record<Kind, string>> = {
  group: `CASE WHEN state IS NOT 'deleted' THEN member_count END`,
  user: `id IN (SELECT user_id FROM usernames GROUP BY user_id HAVING count(*) BETWEEN 2 AND 4)`,
  game: 'visits',
  item: 'favourites',
};

/** Ids of the most telling records of a kind, those that are present before others. */
function telling(register: Register, kind: Kind, plural: string, limit: number): number[] {
  const rows = register.rows<[number]>(
    `SELECT id FROM ${name(plural)} WHERE ${isPublished(kind)}` +
      ` ORDER BY ${kind === 'group' ? '' : `state IS 'present' DESC,`} ${TELLING[kind]} DESC NULLS LAST, id LIMIT ${limit}`,
  );
  return [...rows].map(([id]) => id);
}

export class Shown {
  readonly #keys = new Map<string, readonly number[]>([
    ['index', [0]],
    ['stats', [0]],
    ['largest', [EXAMPLE_LIMIT, SHOWN_GROUPS]],
  ]);
  readonly #bodies = new Map<string, string>();

  constructor(register: Register) {
    for (const { kind, plural, record, history } of RESOURCES) {
      const ids = telling(register, kind, plural, kind === 'group' ? SHOWN_GROUPS : 1);
      this.#keys.set(record.route, ids);
      if (history !== undefined) this.#keys.set(history.route, ids);
    }
  }

  /** The records that are shown. */
  *ranges(): Generator<IdRange> {
    for (const { kind, record } of RESOURCES) {
      for (const id of this.#keys.get(record.route) ?? []) yield { kind, low: id, high: id };
    }
  }

  /** Keeps a document if it is one that is shown. */
  consider({ route, key, body }: Output): void {
    if (this.#keys.get(route)?.includes(key) === true) this.#bodies.set(`${route} ${key}`, body);
  }

  /** The key of a route's example; undefined where the register has no such record. */
  key(route: string): number | undefined {
    return this.#keys.get(route)?.[0];
  }

  /** The body of an example; undefined where there is none. */
  body(route: string, key: number | undefined = this.key(route)): string | undefined {
    return this.#bodies.get(`${route} ${key}`);
  }
}
