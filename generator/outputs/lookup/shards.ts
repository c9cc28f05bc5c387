/** What the sharded documents have in common: all entries whose hash has one prefix. */
import { prefixKey } from '../../routes/keys.js';
import type { ObjectShape } from '../../schema/shape.js';
import type { Output } from '../output.js';
import { part, shapeOfParts, value, valuesOf, type Part } from '../parts.js';

export interface LookupShard<Entry> {
  readonly prefix: string;
  readonly entries: readonly Entry[];
}

/** The shape of a route's shards. @param list the entries */
export const shardShape = <Entry>(
  route: string,
  description: string,
  list: Part<LookupShard<Entry>>,
): ObjectShape => shapeOfParts(route, description, parts(list));

export function shardOutput<Entry>(
  route: string,
  shard: LookupShard<Entry>,
  list: Part<LookupShard<Entry>>,
): Output {
  return { route, key: prefixKey(shard.prefix), body: JSON.stringify(valuesOf(parts(list), shard)) };
}

const parts = <Entry>(list: Part<LookupShard<Entry>>): readonly Part<LookupShard<Entry>>[] => [
  part(
    value('prefix', 'text', 'b42', 'The prefix, in lower-case hexadecimal digits.'),
    ({ prefix }) => prefix,
  ),
  list,
];

/** Neighbours with equal keys, together. Holds one run at a time. */
export function* runs<Item, Key>(
  items: Iterable<Item>,
  keyOf: (item: Item) => Key,
): Generator<readonly [key: Key, run: readonly Item[]], void, undefined> {
  let run: [key: Key, items: Item[]] | undefined;
  for (const item of items) {
    const key = keyOf(item);
    if (run !== undefined && run[0] === key) run[1].push(item);
    else {
      if (run !== undefined) yield run;
      run = [key, [item]];
    }
  }
  if (run !== undefined) yield run;
}
