/** /api/v1/largest/games: the largest games by each measure, as /api/v1/largest has the groups. */
import type { Register } from '../../register/database.js';
import { isPublished, name, objectOf } from '../../register/sql.js';
import { LIST_ENTRIES } from '../../routes/lists.js';
import { game } from '../../schema/game.js';
import type { ObjectShape } from '../../schema/shape.js';
import { shapesOf } from '../../schema/field.js';
import { listedField, rankBy } from '../largest.js';
import type { Output } from '../output.js';
import { AS_OF } from './as-of.js';

/** What ranks the games of a list, which has the name of that column. */
const MEASURES = [
  { column: 'playing', words: 'players', description: 'The games with the most players, most first.' },
  { column: 'visits', words: 'visits', description: 'The games with the most visits, most first.' },
] as const;
type Measure = (typeof MEASURES)[number];

const LISTED = ['id', 'name', 'playing', 'visits', 'measured_at', 'creator'];

const fieldsOf = ({ column, words }: Measure) => [
  rankBy(column, `Rank by ${words}. Games with equal numbers share a rank.`),
  ...LISTED.map((wanted) => listedField(game, wanted, column)),
];

export const GAMES_SHAPE: ObjectShape = {
  is: 'object',
  name: 'largest-games',
  nullable: false,
  description:
    `The ${LIST_ENTRIES} largest games by measured players and by measured visits.` +
    ' Deleted games and games without a measured number are left out.',
  members: [
    AS_OF,
    ...MEASURES.map((measure) => ({
      is: 'list' as const,
      nullable: false,
      name: measure.column,
      description: `${measure.description} Games with equal numbers are in order of id.`,
      members: shapesOf(fieldsOf(measure), []),
    })),
  ],
};

/** The tables that the list reads. */
export const GAMES_TABLES: readonly string[] = [game.plural];

export function* largestGames(register: Register, asOf: string | null): Generator<Output> {
  const lists = MEASURES.map((measure) => `"${measure.column}":[${largestBy(register, measure).join(',')}]`);
  yield {
    route: 'largest-games',
    key: 0,
    body: `{"as_of":${JSON.stringify(asOf)},${lists.join(',')}}`,
  };
}

/** The entries of a list, as JSON. */
function largestBy(register: Register, measure: Measure): readonly string[] {
  const by = `${name(measure.column)} DESC, id`;
  // The inner order and limit make SQLite keep that many rows at most.
  const sql =
    `SELECT ${objectOf(fieldsOf(measure))} FROM (SELECT * FROM ${name(game.plural)}` +
    ` WHERE ${isPublished(game.kind)} AND state IS NOT 'deleted' AND ${name(measure.column)} IS NOT NULL` +
    ` ORDER BY ${by} LIMIT ${LIST_ENTRIES}) ORDER BY ${by}`;
  return [...register.rows<[json: string]>(sql)].map(([json]) => json);
}
