/** Everything the service says, in the order in which it is rendered. */
import type { BuildConfig } from '../config.js';
import type { Exported } from '../exports/exports.js';
import type { Register } from '../register/open.js';
import type { Overview } from '../register/published.js';
import { RESOURCES } from '../resources/index.js';
import type { Route } from '../routes.js';
import { apiIndex } from './api-index.js';
import { Examples } from './description/examples.js';
import { openapi } from './description/openapi.js';
import { downloads } from './downloads/index.js';
import { feeds } from './feeds/index.js';
import { largest } from './largest.js';
import type { Output } from './output.js';
import { pages } from './pages/index.js';
import { offers } from './pages/offers.js';
import { Shown } from './pages/shown.js';
import { records } from './records.js';
import { stats } from './stats.js';

/** What outputs are made of. */
export interface Sources {
  readonly register: Register;
  readonly config: BuildConfig;
  readonly overview: Overview;
  readonly table: readonly Route[];
}

/** What the API answers, and what tells of its changes. */
export function* documents({ register, config, overview, table }: Sources): Generator<Output> {
  yield* apiIndex(config, table);
  yield* stats(overview);
  yield* largest(register, overview.asOf);
  for (const resource of RESOURCES) yield* records(register, resource, table);
  yield* feeds(register, config, overview, table);
}

/** What is shown of the documents where they are described: kept while they are rendered. */
export class Samples {
  readonly examples: Examples;
  readonly shown: Shown;

  constructor({ register, table }: Sources) {
    this.examples = new Examples(table);
    this.shown = new Shown(register);
  }

  /** Passes documents on. */
  watch(rendered: Iterable<Output>): Iterable<Output> {
    return this.shown.watch(this.examples.from(rendered));
  }
}

/** What describes the rest of the tree, once that is known: documents by their samples, exports by what they came to. */
export function* descriptions(
  { config, overview, table }: Sources,
  { examples, shown }: Samples,
  exported: readonly Exported[],
): Generator<Output> {
  yield* downloads(config, overview, exported);
  yield* openapi(config, table, examples);
  yield* pages(config, overview, table, shown, offers(overview.asOf, table, exported));
}
