/** Lists of the records with the highest values of a column: /api/v1/largest/games and others. */
import type { Register } from '../../register/database.js';
import { isPublished, name, objectOf } from '../../register/sql.js';
import { LIST_ENTRIES } from '../../routes/lists.js';
import {
  shapesOf,
  type ColumnField,
  type ComputedField,
  type ObjectField,
  type Resource,
} from '../../schema/field.js';
import { game } from '../../schema/game.js';
import { item } from '../../schema/item.js';
import { RESOURCES } from '../../schema/schema.js';
import { NOT_MEASURED, type ObjectShape } from '../../schema/shape.js';
import { user } from '../../schema/user.js';
import { capitalized } from '../../schema/words.js';
import { listedField, rankBy } from '../largest.js';
import type { Output } from '../output.js';
import { AS_OF } from './as-of.js';

interface RankedList {
  /** Its name in the document. */
  readonly member: string;
  readonly resource: Resource;
  readonly column: string;
  readonly description: string;
  readonly fields: readonly (ColumnField | ComputedField | ObjectField)[];
  /** What orders records with equal values; ascending ids by default. */
  readonly ties?: string;
  /** Whether it is null where the column is not measured: of a document that has other lists then. */
  readonly isNullable?: boolean;
  /** SQL of the records with the column, where their table doesn't have it. */
  readonly from?: string;
}

/** A document of one or more lists, under the name of its route. */
interface RankedDocument {
  readonly route: string;
  readonly description: string;
  readonly lists: readonly RankedList[];
}

const LEFT_OUT = 'Deleted records and those without a measured value are left out.';

/** A list by a number, with ranks. */
const byNumber = (
  resource: Resource,
  column: string,
  words: string,
  listed: readonly string[],
): RankedList => ({
  member: column,
  resource,
  column,
  description:
    `The ${resource.plural} with the most ${words}, most first.` +
    ` ${capitalized(resource.plural)} with equal numbers are in order of id.`,
  fields: [
    rankBy(column, `Rank by ${words}. ${capitalized(resource.plural)} with equal numbers share a rank.`),
    ...listed.map((wanted) => listedField(resource, wanted, column)),
  ],
});

/** A list of a kind by the platform's date of its records. */
const newestOf = (resource: Resource): RankedList => ({
  member: resource.plural,
  resource,
  column: 'created_at',
  description: `The ${resource.plural} that were created last, newest first.`,
  fields: ['id', resource.kind === 'user' ? 'username' : 'name', 'created_at', 'measured_at'].map((wanted) =>
    listedField(resource, wanted, 'created_at'),
  ),
  ties: 'id DESC',
  isNullable: true,
});

const GAME = ['id', 'name', 'playing', 'visits', 'measured_at', 'creator'];

const MOST_NAMES = byNumber(user, 'username_count', 'usernames', ['id', 'username']);

const USERNAME_COUNT: ComputedField = {
  is: 'computed',
  name: 'username_count',
  type: 'count',
  nullable: false,
  unit: 'names',
  description: 'Number of usernames observed, as in the record of the user.',
  example: 3,
  sql: 'username_count',
};

const DOCUMENTS: readonly RankedDocument[] = [
  {
    route: 'largest-games',
    description: `The ${LIST_ENTRIES} largest games by measured players and by measured visits. ${LEFT_OUT}`,
    // Either may be measured without the other.
    lists: [byNumber(game, 'playing', 'players', GAME), byNumber(game, 'visits', 'visits', GAME)].map(
      (list) => ({ ...list, isNullable: true }),
    ),
  },
  {
    route: 'largest-items',
    description: `The ${LIST_ENTRIES} items that most users have marked as a favourite. ${LEFT_OUT}`,
    lists: [
      byNumber(item, 'favourites', 'favourites', ['id', 'name', 'favourites', 'measured_at', 'creator']),
    ],
  },
  {
    route: 'newest',
    description: `The ${LIST_ENTRIES} newest records of each kind, by the time at which they were created on the platform. ${LEFT_OUT}`,
    lists: RESOURCES.map(newestOf),
  },
  {
    route: 'largest-usernames',
    description: `The ${LIST_ENTRIES} users with the most usernames, as far as they were observed. Deleted users are left out.`,
    lists: [
      {
        ...MOST_NAMES,
        member: user.plural,
        fields: [...MOST_NAMES.fields, USERNAME_COUNT],
        from:
          // Each table may have more columns than the contract says.
          '(SELECT users.id, users.username, users.state, names.username_count FROM users JOIN' +
          ' (SELECT user_id, count(*) AS username_count FROM usernames GROUP BY user_id) AS names' +
          ' ON names.user_id = users.id)',
      },
    ],
  },
];

export const RANKED_LISTS = DOCUMENTS.map(({ route, lists }) => ({
  route,
  render: (register: Register, asOf: string | null): readonly Output[] => {
    const members = lists.map((list) => `"${list.member}":${entriesOf(register, list)}`);
    return [{ route, key: 0, body: `{"as_of":${JSON.stringify(asOf)},${members.join(',')}}` }];
  },
}));

export const RANKED_SHAPES: readonly ObjectShape[] = DOCUMENTS.map(({ route, description, lists }) => ({
  is: 'object',
  name: route,
  nullable: false,
  description,
  members: [
    AS_OF,
    ...lists.map(({ member, description: what, fields, isNullable = false }) => ({
      is: 'list' as const,
      name: member,
      nullable: isNullable,
      ...(isNullable && { nullMeans: NOT_MEASURED }),
      description: what,
      members: shapesOf(fields, []),
    })),
  ],
}));

/** The entries of a list, as JSON; null if nothing of them is measured. */
function entriesOf(register: Register, list: RankedList): string {
  const { resource, column, fields, ties = 'id', from = name(resource.plural) } = list;
  if (list.isNullable === true && !register.measured.has(`${resource.plural}.${column}`)) return 'null';
  const by = `${name(column)} DESC, ${ties}`;
  // The inner order and limit make SQLite keep that many rows at most.
  const sql =
    `SELECT ${objectOf(fields)} FROM (SELECT * FROM ${from}` +
    ` WHERE ${isPublished(resource.kind)} AND state IS NOT 'deleted' AND ${name(column)} IS NOT NULL` +
    ` ORDER BY ${by} LIMIT ${LIST_ENTRIES}) ORDER BY ${by}`;
  return `[${[...register.rows<[json: string]>(sql)].map(([json]) => json).join(',')}]`;
}
