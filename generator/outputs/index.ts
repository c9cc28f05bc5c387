/** Everything the service says, in the order in which it is rendered. */
import type { BuildConfig } from '../config.js';
import type { Register } from '../register/open.js';
import type { Overview } from '../register/published.js';
import { RESOURCES } from '../resources/index.js';
import type { Route } from '../routes.js';
import { apiIndex } from './api-index.js';
import { Examples } from './description/examples.js';
import { openapi } from './description/openapi.js';
import { largest } from './largest.js';
import type { Output } from './output.js';
import { pages } from './pages/index.js';
import { Shown } from './pages/shown.js';
import { records } from './records.js';
import { stats } from './stats.js';

/** What the API answers. */
function* documents(
  register: Register,
  config: BuildConfig,
  overview: Overview,
  table: readonly Route[],
): Generator<Output> {
  yield* apiIndex(config, table);
  yield* stats(register, overview);
  yield* largest(register, overview.asOf);
  for (const resource of RESOURCES) yield* records(register, resource, table);
}

export function* outputs(
  register: Register,
  config: BuildConfig,
  overview: Overview,
  table: readonly Route[],
): Generator<Output> {
  const examples = new Examples(table);
  const shown = new Shown(register);
  yield* shown.watch(examples.from(documents(register, config, overview, table)));
  yield* openapi(config, table, examples);
  yield* pages(config, overview, table, shown, { downloads: { asOf: overview.asOf, tables: [] }, feeds: [] });
}
