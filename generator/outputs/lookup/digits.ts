/** How long the prefixes are that cut names, owners and ids of the platform into shards. */
import { NAMED, lookupRoute, ownersRoute, platformIdRoute } from '../../routes/lookup.js';
import { populationOf, type Overview } from '../../register/overview.js';
import type { Kind } from '../../schema/field.js';
import { game } from '../../schema/game.js';
import { group } from '../../schema/group.js';
import { NAMES } from './names.js';

/**
 * The most entries that a shard may have on average. Of some 100 bytes each, they are 50 kB; the
 * largest of thousands of shards has about a quarter more.
 */
const SHARD_ENTRIES = 512;

/** The number of hexadecimal digits: 1 for up to 8,192 entries, 2 for up to 131,072, … */
export function digitsFor(entries: number): number {
  let digits = 1;
  while (entries > SHARD_ENTRIES * 16 ** digits) digits += 1;
  return digits;
}

/** The entries of each sharded route, at most: a sum of numbers that /api/v1/stats has. */
export const shardedEntries = (overview: Overview): ReadonlyMap<string, number> => {
  const { records: games } = populationOf(overview.populations, game);
  const { records: groups } = populationOf(overview.populations, group);
  return new Map([
    ...NAMED.map((kind) => [lookupRoute(kind), namesOf(overview, kind)] as const),
    [ownersRoute('user'), groups + games],
    [ownersRoute('group'), games],
    ...overview.populations.map(
      ({ resource, records }) => [platformIdRoute(resource.kind), records] as const,
    ),
  ]);
};

/** Each record has a name, and one more for each change of it. */
function namesOf({ populations }: Overview, kind: Kind): number {
  const { resource, history } = NAMES[kind];
  const { records, histories } = populationOf(populations, resource);
  return records + (histories.find((each) => each.history === history)?.changes ?? 0);
}
