/** Renders the records of a shard and stages their documents. */
import { keysIn } from '../../tree/patch.js';
import type { Shard } from '../incremental/detect.js';
import { changedRecords } from '../../outputs/changed-records.js';
import type { Output } from '../../outputs/output.js';
import { records } from '../../outputs/records.js';
import { StageWriter } from '../../publish/stage-writer.js';
import type { StageSpec } from '../../publish/stage-writer.js';
import { documentsOf, resourceOf } from '../../schema/index.js';
import { ROUTES } from '../../routes/index.js';
import type { Context } from '../../register/context.js';
import { Counter } from '../../progress.js';

export interface RenderShard {
  readonly shard: Shard;
  /** The patch of the records' fingerprints, if only its records are to be rendered. */
  readonly changed: string | undefined;
}

/** Renders the documents of a shard, and removes those whose records are gone. */
export function renderShard(
  { register, advance }: Context,
  { shard, changed }: RenderShard,
  writer: StageWriter,
): void {
  const resource = resourceOf(shard.kind);
  const counter = new Counter(advance);
  const writers = new Map(documentsOf(resource).map(({ route }) => [route, writer.route(route, shard)]));
  const put = ({ route, key, body }: Output): void => {
    writers.get(route)?.put(key, body);
    counter.count();
  };
  if (changed === undefined) {
    for (const output of records(register, resource, ROUTES, shard)) put(output);
  } else {
    for (const { key, documents } of changedRecords(register, resource, () => keysIn(changed))) {
      for (const each of writers.values()) each.keepBelow(key);
      for (const document of documents) put(document);
      if (documents.length === 0) for (const each of writers.values()) each.remove(key);
    }
    for (const each of writers.values()) each.keepBelow(Number.POSITIVE_INFINITY);
  }
  counter.report();
}

/** Stages what `render` produces. @param part names the patches of the routes' indexes */
export function staged(stage: StageSpec, part: string, render: (writer: StageWriter) => void): void {
  const writer = new StageWriter(stage, ROUTES, part);
  try {
    render(writer);
    writer.finish();
  } finally {
    writer.close();
  }
}
