/** /api/v1/lookup/…: the records with a name, now or in the past, in shards by a hash of the name. */
import { lookupRoute } from '../../routes/lookup.js';
import type { NamedKind } from '../../routes/lookup.js';
import type { Register } from '../../register/database.js';
import { entriesQuery, isPublished, name, recordsQuery } from '../../register/sql.js';
import type { History, Resource } from '../../schema/field.js';
import { group } from '../../schema/group.js';
import type { ObjectShape } from '../../schema/shape.js';
import { user } from '../../schema/user.js';
import type { Output } from '../output.js';
import { listed, part, value } from '../parts.js';
import type { Part } from '../parts.js';
import { runs, shardOutput, shardShape } from './shards.js';
import type { LookupShard } from './shards.js';

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

/** Names of records and of their histories. SQLite sorts them, and spills to disk. */
function query({ resource, column, history }: NameSource, digits: number): string {
  const own = name(column);
  const isNamed = `${own} IS NOT NULL AND ${isPublished(resource.kind)}`;
  const records = recordsQuery(resource, ['id', `${own} AS called`, '1 AS is_current'], 'all', isNamed);
  const entries = entriesQuery(resource.kind, history, [name(history.key.name), own, 'is_last']);
  return (
    `SELECT folded_after_prefix(called, ${digits}) AS folded, id, called, is_current` +
    ` FROM (SELECT * FROM (${records}) UNION ALL SELECT * FROM (${entries}))` +
    ' ORDER BY folded, id, called COLLATE BINARY, is_current DESC'
  );
}
