/** What threads render: the documents of a shard of the records, and the feeds. They stage them, too. */
import { join } from 'node:path';
import { routeNames } from '../routes/feeds.js';
import { keysIn, rangesOf } from '../incremental/detect.js';
import type { Shard } from '../incremental/detect.js';
import { PatchWriter } from '../incremental/patch.js';
import type { KeyRange } from '../incremental/patch.js';
import type { FeedOperator } from '../outputs/feeds/document.js';
import { RENDERED_FEEDS, inputsFile } from '../outputs/feeds/contents.js';
import { feeds } from '../outputs/feeds/index.js';
import type { Output } from '../outputs/output.js';
import { records } from '../outputs/records.js';
import { StageWriter } from '../publish/stage-writer.js';
import type { StageSpec } from '../publish/stage-writer.js';
import { documentsOf, resourceOf } from '../schema/index.js';
import { ROUTES } from '../routes/index.js';
import type { Context } from './context.js';

/** Documents between two reports of how far the work is. */
const STEPS = 256;

/** Counts documents, and reports them now and then. */
class Counter {
  readonly #advance: (steps: number) => void;
  #steps = 0;

  constructor(advance: (steps: number) => void) {
    this.#advance = advance;
  }

  count(): void {
    this.#steps += 1;
    if (this.#steps === STEPS) this.report();
  }

  report(): void {
    this.#advance(this.#steps);
    this.#steps = 0;
  }
}

/** Takes the documents of a route. Keys must ascend; what the last snapshot has and is not put or kept is gone. */
export interface Sink {
  readonly put: (key: number, body: string) => unknown;
  readonly keep: (key: number) => void;
  readonly keepBelow: (key: number) => void;
  readonly remove: (key: number) => void;
}

/** The sinks of routes. @param range the keys that are spoken of */
export type SinkOf = (route: string, range?: KeyRange) => Sink;

export interface RenderShard {
  readonly shard: Shard;
  /** The patch of the records' fingerprints where only those in it are to be rendered. */
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
    let next = outputs.next();
    for (const key of keysIn(changed)) {
      for (const sink of sinks.values()) sink.keepBelow(key);
      const isThere = next.done !== true && next.value.key === key;
      for (; next.done !== true && next.value.key === key; next = outputs.next()) put(next.value);
      if (!isThere) for (const sink of sinks.values()) sink.remove(key);
    }
    for (const sink of sinks.values()) sink.keepBelow(Number.POSITIVE_INFINITY);
  }
  counter.report();
}

export interface RenderFeeds {
  readonly operator: FeedOperator;
  /** The newest measurement of the register. */
  readonly asOf: string | null;
  /** The names of feeds that are what they were. */
  readonly staying: readonly string[];
  /** The folder of the last index, if its documents were made from the same besides the rows. */
  readonly old: string | undefined;
  /** The folder of patches. */
  readonly patches: string;
}

/** Renders the feeds that are not what they were. */
export function renderFeeds(
  { register, advance }: Context,
  { operator, asOf, staying, old, patches }: RenderFeeds,
  sinkOf: SinkOf,
): void {
  const counter = new Counter(advance);
  const routes = RENDERED_FEEDS.filter(({ name }) => !staying.includes(name)).flatMap(routeNames);
  const sinks = new Map(routes.map((route) => [route, sinkOf(route)]));
  const inputs = new Map(
    routes.map((route) => {
      const file = inputsFile(route);
      const before = old === undefined ? undefined : join(old, file);
      return [route, new PatchWriter({ old: before, patch: join(patches, file, 'feeds') })];
    }),
  );
  const isSame = (route: string, key: number, hash: Buffer): boolean =>
    inputs.get(route)?.put({ key, bytes: 0, hash }) === 'unchanged';
  try {
    for (const { route, key, body } of feeds(register, operator, asOf, ROUTES, staying, isSame)) {
      if (body === undefined) sinks.get(route)?.keep(key);
      else sinks.get(route)?.put(key, body);
      counter.count();
    }
    for (const patch of inputs.values()) patch.finish();
    counter.report();
  } finally {
    for (const patch of inputs.values()) patch.close();
  }
}

/** Stages what is rendered. @param part names the patches of the routes' indexes */
export function staged(stage: StageSpec, part: string, render: (sinkOf: SinkOf) => void): void {
  const writer = new StageWriter(stage, ROUTES, part);
  try {
    render((route, range) => writer.route(route, range));
    writer.finish();
  } finally {
    writer.close();
  }
}
