/** Renders the records of a shard and stages their documents. */
import { keysIn, rangesOf } from '../incremental/detect.js';
import type { Shard } from '../incremental/detect.js';
import type { KeyRange } from '../incremental/patch.js';
import type { Output } from '../outputs/output.js';
import { records } from '../outputs/records.js';
import { StageWriter } from '../publish/stage-writer.js';
import type { StageSpec } from '../publish/stage-writer.js';
import { documentsOf, resourceOf } from '../schema/index.js';
import { ROUTES } from '../routes/index.js';
import type { Context } from './context.js';
import { Counter } from './counter.js';

/** Receives a route's documents by ascending keys; those neither put nor kept are removed. */
export interface Sink {
  readonly put: (key: number, body: string | Buffer) => unknown;
  readonly keep: (key: number) => void;
  readonly keepBelow: (key: number) => void;
  readonly remove: (key: number) => void;
}

/** The sink of a route. @param range the keys it covers */
export type SinkOf = (route: string, range?: KeyRange) => Sink;

export interface RenderShard {
  readonly shard: Shard;
  /** The patch of the records' fingerprints, if only its records are to be rendered. */
  readonly changed: string | undefined;
}

/** Renders the documents of a shard, and removes those whose records are gone. */
export function renderShard(
  { register, advance }: Context,
  { shard, changed }: RenderShard,
  sinkOf: SinkOf,
): void {
  const resource = resourceOf(shard.kind);
  const counter = new Counter(advance);
  const sinks = new Map(documentsOf(resource).map(({ route }) => [route, sinkOf(route, shard)]));
  const put = ({ route, key, body }: Output): void => {
    sinks.get(route)?.put(key, body);
    counter.count();
  };
  if (changed === undefined) {
    for (const output of records(register, resource, ROUTES, shard)) put(output);
  } else {
    register.scope('changed', rangesOf(shard.kind, keysIn(changed)));
    const outputs = records(register, resource, ROUTES, 'changed');
    try {
      let next = outputs.next();
      for (const key of keysIn(changed)) {
        for (const sink of sinks.values()) sink.keepBelow(key);
        const isThere = next.done !== true && next.value.key === key;
        for (; next.done !== true && next.value.key === key; next = outputs.next()) put(next.value);
        if (!isThere) for (const sink of sinks.values()) sink.remove(key);
      }
    } finally {
      // A connection can't be closed while a query is open.
      outputs.return(undefined);
    }
    for (const sink of sinks.values()) sink.keepBelow(Number.POSITIVE_INFINITY);
  }
  counter.report();
}

/** Stages what `render` produces. @param part names the patches of the routes' indexes */
export function staged(stage: StageSpec, part: string, render: (sinkOf: SinkOf) => void): void {
  const writer = new StageWriter(stage, ROUTES, part);
  try {
    render((route, range) => writer.route(route, range));
    writer.finish();
  } finally {
    writer.close();
  }
}
