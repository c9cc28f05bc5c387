/** /api/v1/lookup/…: the records with a name, now or in the past, in shards by a hash of the name. */
import { FOLDED_NAME } from '../../base/portable.js';
import { lookupRoute } from '../../routes/lookup.js';
import type { Register } from '../../register/database.js';
import { isPublished, name } from '../../register/sql.js';
import type { History, Kind, Resource } from '../../schema/field.js';
import { game } from '../../schema/game.js';
import { group } from '../../schema/group.js';
import { item } from '../../schema/item.js';
import type { ObjectShape } from '../../schema/shape.js';
import { user } from '../../schema/user.js';
import type { Output } from '../output.js';
import { listed, part, value, type Part } from '../parts.js';
import { runs, shardOutput, shardShape, type LookupShard } from './shards.js';

/** A column of records, and its history if there is one. */
interface NameSource {
  readonly resource: Resource;
  readonly column: string;
  readonly history: History | undefined;
}

const source = (resource: Resource, column: string): NameSource => ({
  resource,
  column,
  history: resource.histories.find(({ agrees }) => column in agrees),
});

export const NAMES: Readonly<Record<Kind, NameSource>> = {
  group: source(group, 'name'),
  user: source(user, 'username'),
  game: source(game, 'name'),
  item: source(item, 'name'),
};

interface Match {
  readonly id: number;
  readonly name: string;
  readonly isCurrent: boolean;
}

/** The matches of one folded name. */
interface NameEntry {
  readonly name: string;
  readonly matches: readonly Match[];
}

/** What is said of a record with a name. */
export const MATCH_VALUES = {
  id: value('id', 'id', 1042, 'Id of the record.'),
  name: value('name', 'text', 'Marlow_Finch', 'The name, exactly as read.'),
  isCurrent: value('is_current', 'boolean', true, 'Whether it is the newest name of the record.'),
};

const MATCH: readonly Part<Match>[] = [
  part(MATCH_VALUES.id, ({ id }) => id),
  part(MATCH_VALUES.name, (match) => match.name),
  part(MATCH_VALUES.isCurrent, ({ isCurrent }) => isCurrent),
];

const ENTRIES: Part<LookupShard<NameEntry>> = listed(
  'names',
  'All names whose hash has the prefix, in order of their code points.',
  [
    part<NameEntry>(
      value('name', 'text', 'marlow_finch', `The name as it is hashed: ${FOLDED_NAME}.`),
      (entry) => entry.name,
    ),
    listed<NameEntry, Match>(
      'matches',
      'The records that have or had the name, in order of id. A record has one entry for each spelling.',
      MATCH,
      ({ matches }) => matches,
    ),
  ],
  ({ entries }) => entries,
);

export const namesShape = (kind: Kind): ObjectShape =>
  shardShape(
    lookupRoute(kind),
    `The ${kind}s that have${NAMES[kind].history === undefined ? '' : ' or had'} some names.`,
    ENTRIES,
  );

type NameRow = readonly [text: string, id: number, name: string, isCurrent: number];

/** The shards of a kind's names, by ascending key. @param digits the length of the prefixes */
export function* names(register: Register, kind: Kind, digits: number): Generator<Output> {
  const rows = register.rows<NameRow>(query(kind, digits));
  for (const [prefix, shard] of runs(rows, ([text]) => text.slice(0, digits))) {
    const entries = [...runs(shard, ([text]) => text)].map(([text, same]) => ({
      name: text.slice(digits),
      matches: matchesOf(same),
    }));
    yield shardOutput(lookupRoute(kind), { prefix, entries }, ENTRIES);
  }
}

/** One match for each record and spelling: the first, which is the current one if there is one. */
const matchesOf = (rows: readonly NameRow[]): readonly Match[] =>
  rows.flatMap(([, id, name, isCurrent], index) => {
    const [, lastId, lastName] = rows[index - 1] ?? [];
    return id === lastId && name === lastName ? [] : [{ id, name, isCurrent: isCurrent === 1 }];
  });

/** The rows of all names of a kind, sorted; SQLite spills to disk. */
const query = (kind: Kind, digits: number): string =>
  `SELECT folded_after_prefix(called, ${digits}) AS folded, id, called, is_current` +
  ` FROM (${namesQuery(kind)}) ORDER BY folded, id, called COLLATE BINARY, is_current DESC`;

/**
 * SQL of the names of a kind, as id, name, and whether it is the current one.
 *
 * Current names, and those of histories that differ: most entries of a history are its record's
 * current name, and sorting them too would double the work. A record without a current name has
 * that of its newest entry.
 *
 * @param found an SQL condition on the records
 */
export function namesQuery(kind: Kind, found = isPublished(kind)): string {
  const { resource, column, history } = NAMES[kind];
  const [own, records] = [name(column), name(resource.plural)];
  const current = `SELECT id, ${own} AS called, 1 AS is_current FROM ${records} WHERE ${own} IS NOT NULL AND ${found}`;
  if (history === undefined) return current;
  const entries = name(history.table);
  const [key, order] = [name(history.key.name), name(history.order.name)];
  return [
    current,
    // Each table may have more columns than the contract says, named as one of the other.
    `SELECT record.id, entry.${own}, 0 FROM ${entries} AS entry` +
      ` JOIN (SELECT id, ${own} FROM ${records} WHERE ${found}) AS record ON record.id = entry.${key}` +
      ` WHERE entry.${own} IS NOT record.${own} COLLATE BINARY`,
    `SELECT id, called, 1 FROM (SELECT ${key} AS id, ${own} AS called, max(${order}) FROM ${entries}` +
      ` WHERE ${key} IN (SELECT id FROM ${records} WHERE ${own} IS NULL AND ${found}) GROUP BY ${key})`,
  ].join(' UNION ALL ');
}
