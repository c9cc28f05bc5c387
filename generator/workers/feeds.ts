/** What a thread renders of the feeds. Apart from the records, whose threads need not load what renders feeds. */
import { join } from 'node:path';
import { PatchWriter } from '../incremental/patch.js';
import { RENDERED_FEEDS, inputsFile } from '../outputs/feeds/contents.js';
import type { FeedOperator } from '../outputs/feeds/document.js';
import { feeds } from '../outputs/feeds/index.js';
import { routeNames } from '../routes/feeds.js';
import { ROUTES } from '../routes/index.js';
import type { Context } from './context.js';
import { Counter } from './counter.js';
import type { SinkOf } from './shard.js';

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
