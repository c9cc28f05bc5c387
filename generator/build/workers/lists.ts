/** Renders the lists about the whole register in a thread. */
import { lists } from '../../outputs/lists/index.js';
import { ROUTES } from '../../routes/index.js';
import type { Context } from '../../register/context.js';
import type { SinkOf } from './shard.js';

export interface RenderLists {
  /** The newest measurement in the register. */
  readonly asOf: string | null;
  /** The routes of unchanged lists. */
  readonly staying: readonly string[];
}

/** Renders the lists that may have changed. */
export function renderLists(
  { register, advance }: Context,
  { asOf, staying }: RenderLists,
  sinkOf: SinkOf,
): void {
  for (const { route, key, body } of lists(register, asOf, ROUTES, staying)) {
    sinkOf(route).put(key, body);
    advance(1);
  }
}
