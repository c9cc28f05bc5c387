/** What the SQL of the generator relies on beyond SQLite's documentation. */
import { describe, expect, it } from 'vitest';
import { openDatabase } from '../../../generator/sqlite/index.js';

const ROWS = 5000;
const PER_RECORD = 7;

/** Rows in the opposite order of their keys, without an index. */
function reversed() {
  const database = openDatabase(':memory:');
  database.exec(
    `CREATE TABLE entries (id INTEGER, position INTEGER, name TEXT);
     INSERT INTO entries WITH RECURSIVE n(i) AS (SELECT ${ROWS} UNION ALL SELECT i - 1 FROM n WHERE i > 1)
       SELECT i / ${PER_RECORD}, i % ${PER_RECORD}, 'name of ' || i FROM n`,
  );
  return database;
}

const ORDERED = Array.from({ length: ROWS }, (_, index) => [
  Math.floor((index + 1) / PER_RECORD),
  (index + 1) % PER_RECORD,
]);

describe('an aggregate over an ordered subquery takes the rows in that order', () => {
  it.each([
    ['with groups', 'ORDER BY id, position) GROUP BY id'],
    [
      'with groups, over a window',
      'WINDOW w AS (PARTITION BY id ORDER BY position) ORDER BY id, position) GROUP BY id',
    ],
    ['without groups', 'ORDER BY id, position)'],
    ['without groups, limited', `ORDER BY id, position LIMIT ${ROWS + 1})`],
  ])('%s', (_, rest) => {
    const database = reversed();
    try {
      const columns = rest.startsWith('WINDOW') ? '*, lag(name) OVER w AS before' : '*';
      const from = `FROM (SELECT ${columns} FROM entries WHERE id >= 0 ${rest}`;
      const lists = database.prepare<[], string>(`SELECT json_group_array(json_array(id, position)) ${from}`);
      const texts = database.prepare<[], string>(
        `SELECT '[' || group_concat(json_array(id, position), ',') || ']' ${from}`,
      );
      for (const query of [lists, texts])
        expect(
          query
            .pluck()
            .all()
            .flatMap((list): unknown => JSON.parse(list)),
        ).toEqual(ORDERED);
    } finally {
      database.close();
    }
  });
});
