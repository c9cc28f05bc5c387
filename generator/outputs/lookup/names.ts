/** /api/v1/lookup/…: the records with a name, now or in the past, in shards by a hash of the name. */
import { lookupRoute, type NamedKind } from '../../routes/lookup.js';
import type { Register } from '../../register/database.js';
import { isPublished, name } from '../../register/sql.js';
import type { History, Resource } from '../../schema/field.js';
import { group } from '../../schema/group.js';
import type { ObjectShape } from '../../schema/shape.js';
import { user } from '../../schema/user.js';
import type { Output } from '../output.js';
import { listed, part, value, type Part } from '../parts.js';
import { runs, shardOutput, shardShape, type LookupShard } from './shards.js';

/** A column of records, and its history. */
interface NameSource {
  readonly resource: Resource;
  readonly column: string;
  readonly history: History;
}

function source(resource: Resource, column: string): NameSource {
  const history = resource.histories.find(({ agrees }) => column in agrees);
  if (history === undefined) throw new TypeError(`${resource.kind} has no history of "${column}"`);
  return { resource, column, history };
}

export const NAMES: Readonly<Record<NamedKind, NameSource>> = {
  user: source(user, 'username'),
  group: source(group, 'name'),
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

const MATCH: readonly Part<Match>[] = [
  part(value('id', 'id', 1042, 'Id of the record.'), ({ id }) => id),
  part(value('name', 'text', 'Marlow_Finch', 'The name, exactly as read.'), (match) => match.name),
  part(
    value('is_current', 'boolean', true, 'Whether it is the newest name of the record.'),
    ({ isCurrent }) => isCurrent,
  ),
];

const ENTRIES: Part<LookupShard<NameEntry>> = listed(
  'names',
  'All names whose hash has the prefix, in order of their code points.',
  [
    part<NameEntry>(
      value('name', 'text', 'marlow_finch', 'The name as it is hashed: NFKC(lower(NFKC(name))).'),
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

export const namesShape = (kind: NamedKind): ObjectShape =>
  shardShape(lookupRoute(kind), `The ${kind}s that have or had some names.`, ENTRIES);

type NameRow = readonly [text: string, id: number, name: string, isCurrent: number];

/** The shards of a kind's names, by ascending key. @param digits the length of the prefixes */
export function* names(register: Register, kind: NamedKind, digits: number): Generator<Output> {
  const rows = register.rows<NameRow>(query(NAMES[kind], digits));
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

/**
 * Current names, and those of histories that differ: most entries of a history are its record's
 * current name, and sorting them too would double the work. A record without a current name has
 * that of its newest entry. SQLite sorts, and spills to disk.
 */
function query({ resource, column, history }: NameSource, digits: number): string {
  const [own, records, entries] = [name(column), name(resource.plural), name(history.table)];
  const [key, order] = [name(history.key.name), name(history.order.name)];
  const published = isPublished(resource.kind);
  const sources = [
    `SELECT id, ${own} AS called, 1 AS is_current FROM ${records} WHERE ${own} IS NOT NULL AND ${published}`,
    // Each table may have more columns than the contract says, named as one of the other.
    `SELECT record.id, entry.${own}, 0 FROM ${entries} AS entry` +
      ` JOIN (SELECT id, ${own} FROM ${records} WHERE ${published}) AS record ON record.id = entry.${key}` +
      ` WHERE entry.${own} IS NOT record.${own} COLLATE BINARY`,
    `SELECT id, called, 1 FROM (SELECT ${key} AS id, ${own} AS called, max(${order}) FROM ${entries}` +
      ` WHERE ${key} IN (SELECT id FROM ${records} WHERE ${own} IS NULL AND ${published}) GROUP BY ${key})`,
  ];
  return (
    `SELECT folded_after_prefix(called, ${digits}) AS folded, id, called, is_current` +
    ` FROM (${sources.join(' UNION ALL ')}) ORDER BY folded, id, called COLLATE BINARY, is_current DESC`
  );
}
