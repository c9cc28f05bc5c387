/** Renders the feeds in a thread. Separate from records, whose threads need not load this code. */
import { join } from 'node:path';
import { PatchWriter } from '../../tree/patch.js';
import { RENDERED_FEEDS, inputsFile } from '../../outputs/feeds/contents.js';
import type { FeedOperator } from '../../outputs/feeds/document.js';
import { feeds } from '../../outputs/feeds/index.js';
import { routeNames } from '../../routes/feeds.js';
import { ROUTES } from '../../routes/index.js';
import type { Context } from '../../register/context.js';
import { Counter } from '../../progress.js';
import type { SinkOf } from './shard.js';

export interface RenderFeeds {
  readonly operator: FeedOperator;
  /** The newest measurement in the register. */
  readonly asOf: string | null;
  /** The names of unchanged feeds. */
  readonly staying: readonly string[];
  /** The folder of the previous index, if the build key is the same. */
  readonly old: string | undefined;
  /** The folder of patches. */
  readonly patches: string;
}

/** Renders the feeds that may have changed. */
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
