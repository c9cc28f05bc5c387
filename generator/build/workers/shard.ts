/** Renders the records of a shard and stages their documents. */
import { keysIn } from '../../tree/patch.js';
import type { Shard } from '../incremental/detect.js';
import type { KeyRange } from '../../tree/patch.js';
import { changedRecords } from '../../outputs/changed-records.js';
import type { Output } from '../../outputs/output.js';
import { records } from '../../outputs/records.js';
import { StageWriter } from '../../publish/stage-writer.js';
import type { StageSpec } from '../../publish/stage-writer.js';
import { documentsOf, resourceOf } from '../../schema/index.js';
import { ROUTES } from '../../routes/index.js';
import type { Context } from '../../register/context.js';
import { Counter } from '../../progress.js';

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
    for (const { key, documents } of changedRecords(register, resource, () => keysIn(changed))) {
      for (const sink of sinks.values()) sink.keepBelow(key);
      for (const document of documents) put(document);
      if (documents.length === 0) for (const sink of sinks.values()) sink.remove(key);
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
