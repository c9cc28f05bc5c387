/** /api/v1/owners/…: what each user or group owns or created, in shards by a hash of its id. */
import { ownersRoute, type OwnerKind } from '../../routes/lookup.js';
import type { Register } from '../../register/database.js';
import { isPublished, literal, name, publishedValue } from '../../register/sql.js';
import { columnsOf, type Kind, type Resource } from '../../schema/field.js';
import { game } from '../../schema/game.js';
import { group } from '../../schema/group.js';
import type { Measured } from '../../schema/measured.js';
import type { ObjectShape } from '../../schema/shape.js';
import type { Output } from '../output.js';
import { ifMeasured, listed, part, value, type Part } from '../parts.js';
import { runs, shardOutput, shardShape, type LookupShard } from './shards.js';

/** A group or game of an owner. */
interface Owned {
  readonly id: number;
  readonly name: string | null;
}

interface Owner {
  readonly id: number;
  /** Null if the register doesn't measure whose they are. */
  readonly groups: readonly Owned[] | null;
  readonly games: readonly Owned[] | null;
}

const owned = (
  { kind, plural }: Resource,
  description: string,
  of: (owner: Owner) => readonly Owned[] | null,
): Part<Owner> => {
  const all = listed<Owner, Owned>(
    plural,
    `${description}, in order of id.`,
    [
      part<Owned>(value('id', 'id', 7, `Id of the ${kind}.`), ({ id }) => id),
      part<Owned>(
        value(
          'name',
          'text',
          'Cloud Gardeners',
          `Name of the ${kind}, exactly as read; null if not measured.`,
          {
            nullable: true,
          },
        ),
        (record) => record.name,
      ),
    ],
    (owner) => of(owner) ?? [],
  );
  return ifMeasured(all, (owner) => of(owner) !== null);
};

const entriesOf = (kind: OwnerKind): Part<LookupShard<Owner>> =>
  listed(
    'owners',
    'All owners whose hash has the prefix, in order of id.',
    [
      part<Owner>(value('id', 'id', 1042, `Id of the ${kind}.`), ({ id }) => id),
      // Only users own groups.
      ...(kind === 'user' ? [owned(group, 'Groups that the user owns', ({ groups }) => groups)] : []),
      owned(game, `Games that the ${kind} created`, ({ games }) => games),
    ],
    ({ entries }) => entries,
  );

const ENTRIES = { user: entriesOf('user'), group: entriesOf('group') };

export const ownersShape = (kind: OwnerKind): ObjectShape =>
  shardShape(ownersRoute(kind), `What some ${kind}s own.`, ENTRIES[kind]);

type OwnedRow = readonly [prefix: string, owner: number, kind: Kind, id: number, name: string | null];

/** Whether a register measures by whom games were created: an id says so only along with its kind. */
export const measuresCreators = (measured: Measured): boolean =>
  ['games.creator_id', 'games.creator_type'].every((column) => measured.has(column));

/** The shards of all owners of a kind, by ascending key. @param digits the length of the prefixes */
export function* owners(register: Register, kind: OwnerKind, digits: number): Generator<Output> {
  const rows = register.rows<OwnedRow>(query(kind, digits));
  const { measured } = register;
  for (const [prefix, shard] of runs(rows, ([hashed]) => hashed)) {
    const entries = [...runs(shard, ([, owner]) => owner)].map(([id, its]) => ({
      id,
      groups: measured.has('groups.owner_id') ? ofKind('group', its) : null,
      games: measuresCreators(measured) ? ofKind('game', its) : null,
    }));
    yield shardOutput(ownersRoute(kind), { prefix, entries }, ENTRIES[kind]);
  }
}

const ofKind = (wanted: Kind, rows: readonly OwnedRow[]): readonly Owned[] =>
  rows.flatMap(([, , kind, id, name]) => (kind === wanted ? [{ id, name }] : []));

function query(kind: OwnerKind, digits: number): string {
  const created = ownedQuery(game, 'creator_id', `creator_type = ${literal(kind)}`);
  const sources = kind === 'user' ? [ownedQuery(group, 'owner_id', 'TRUE'), created] : [created];
  return (
    `SELECT hash_prefix(CAST(owner AS TEXT), ${digits}) AS prefix, owner, kind, id, called` +
    ` FROM (${sources.join(' UNION ALL ')}) WHERE owner IS NOT NULL ORDER BY prefix, owner, kind, id`
  );
}

/** The published records of a resource, with the owner as it may be published. */
function ownedQuery({ kind, plural, record }: Resource, column: string, condition: string): string {
  const found = columnsOf(record.fields).find((candidate) => candidate.name === column);
  if (found === undefined) throw new TypeError(`${kind} has no column "${column}"`);
  return (
    `SELECT ${publishedValue(found)} AS owner, ${literal(kind)} AS kind, id, name AS called` +
    ` FROM ${name(plural)} WHERE ${condition} AND ${isPublished(kind)}`
  );
}
