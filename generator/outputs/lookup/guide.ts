/** /api/v1/lookup: how to look up a name, an owner or an id of the platform. */
import { FOLDED_NAME } from '../../base/portable.js';
import { NAMED, OWNERS, lookupRoute, ownersRoute, platformIdRoute } from '../../routes/lookup.js';
import type { Overview } from '../../register/overview.js';
import { ROUTES, isMeasured, routeNamed } from '../../routes/routes.js';
import { KINDS } from '../../schema/field.js';
import type { Measured } from '../../schema/measured.js';
import type { Output } from '../output.js';
import { ifMeasured, nested, part, shapeOfParts, value, valuesOf, type Part } from '../parts.js';
import { digitsFor, shardedEntries } from './digits.js';

interface GuideFacts {
  /** The entries of each sharded route. */
  readonly entries: ReadonlyMap<string, number>;
  readonly measured: Measured;
}

const HASHED_NAME = `SHA-256 over the UTF-8 of ${FOLDED_NAME}`;
const HASHED_ID = 'SHA-256 over the decimal digits of the id';
const HASHED_PLATFORM_ID = 'SHA-256 over the UTF-8 of the id on the platform, exactly as it is';

const hashPart = (hashed: string): Part<GuideFacts> =>
  part(
    value(
      'hash',
      'text',
      hashed,
      'The hash, of whose lower-case hexadecimal digits the prefix is the first.',
    ),
    () => hashed,
  );

function routePart(member: string, route: string, description: string): Part<GuideFacts> {
  const found = routeNamed(ROUTES, route);
  const { path } = found;
  const guide = nested<GuideFacts>(member, description, [
    part(value('path', 'text', path, 'Template of the paths.'), () => path),
    part(
      value('digits', 'ordinal', 3, 'How many hexadecimal digits of the hash the prefix has.', {
        unit: 'digits',
      }),
      ({ entries }) => digitsFor(entries.get(route) ?? 0),
    ),
  ]);
  return ifMeasured(guide, ({ measured }) => isMeasured(found, measured));
}

const PARTS: readonly Part<GuideFacts>[] = [
  nested('lookup', 'From a name to the records that have or had it.', [
    hashPart(HASHED_NAME),
    ...NAMED.map((kind) => {
      const [, member = ''] = lookupRoute(kind).split('-');
      return routePart(member, lookupRoute(kind), `Names of ${kind}s.`);
    }),
  ]),
  nested('owners', 'From an owner to its groups and games.', [
    hashPart(HASHED_ID),
    ...OWNERS.map((kind) => routePart(kind, ownersRoute(kind), `Owners that are ${kind}s.`)),
  ]),
  nested('platform_ids', 'From an id of the platform to its record.', [
    hashPart(HASHED_PLATFORM_ID),
    ...KINDS.map((kind) => routePart(kind, platformIdRoute(kind), `Ids of ${kind}s.`)),
  ]),
];

export const GUIDE_SHAPE = shapeOfParts('lookup', 'How to look up records by what is known of them.', PARTS);

export function* guide(overview: Overview): Generator<Output> {
  const facts = { entries: shardedEntries(overview), measured: overview.measured };
  yield { route: 'lookup', key: 0, body: JSON.stringify(valuesOf(PARTS, facts)) };
}
