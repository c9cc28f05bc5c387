/** /api/v1/lookup/platform-id/…: the record with an id of the platform, in shards by a hash of that id. */
import { platformIdRoute } from '../../routes/lookup.js';
import type { Register } from '../../register/database.js';
import { isPublished, name } from '../../register/sql.js';
import { platformId, type Kind } from '../../schema/field.js';
import { resourceOf } from '../../schema/schema.js';
import type { ObjectShape } from '../../schema/shape.js';
import type { Output } from '../output.js';
import { listed, part, value, type Part } from '../parts.js';
import { runs, shardOutput, shardShape, type LookupShard } from './shards.js';

const COLUMN = platformId.column;

type PlatformIdRow = readonly [prefix: string, platformId: string, id: number];

const ENTRIES: Part<LookupShard<PlatformIdRow>> = listed(
  'platform_ids',
  'All ids of the platform whose hash has the prefix, in order of their code points.',
  [
    part<PlatformIdRow>(
      value(COLUMN.name, 'text', COLUMN.example, 'The id on the platform, exactly as read.'),
      ([, text]) => text,
    ),
    part<PlatformIdRow>(value('id', 'id', 1042, 'Id of the only record that has it.'), ([, , id]) => id),
  ],
  ({ entries }) => entries,
);

export const platformIdsShape = (kind: Kind): ObjectShape =>
  shardShape(platformIdRoute(kind), `The ${kind}s with some ids of the platform.`, ENTRIES);

/** The shards of a kind's ids on the platform, by ascending key. @param digits the length of the prefixes */
export function* platformIds(register: Register, kind: Kind, digits: number): Generator<Output> {
  const { plural } = resourceOf(kind);
  const column = name(COLUMN.name);
  const rows = register.rows<PlatformIdRow>(
    `SELECT hash_prefix(${column}, ${digits}) AS prefix, ${column}, id FROM ${name(plural)}` +
      ` WHERE ${column} IS NOT NULL AND ${isPublished(kind)} ORDER BY prefix, ${column} COLLATE BINARY`,
  );
  for (const [prefix, entries] of runs(rows, ([hashed]) => hashed))
    yield shardOutput(platformIdRoute(kind), { prefix, entries }, ENTRIES);
}
