/** Everything the service says, in the order in which it is rendered. */
import type { BuildConfig } from '../config.js';
import type { Downloads } from '../exports/exports.js';
import type { Register } from '../register/database.js';
import type { Overview } from '../register/overview.js';
import { RESOURCES } from '../schema/index.js';
import type { Route } from '../routes/index.js';
import { apiIndex } from './api-index.js';
import { Examples } from './openapi/examples.js';
import { openapi } from './openapi/openapi.js';
import { downloads } from './downloads/index.js';
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

/** What the API answers of the register as a whole. */
export function* summaries({ register, config, overview, table }: Sources): Generator<Output> {
  yield* apiIndex(config, table);
  yield* stats(overview);
  yield* largest(register, overview);
}

/** What is shown of the documents where they are described, rendered for that. */
export class Samples {
  readonly examples: Examples;
  readonly shown: Shown;

  constructor({ register, overview, table }: Sources) {
    this.examples = new Examples(table);
    this.shown = new Shown(overview);
    register.scope('shown', [...this.examples.ranges(register), ...this.shown.ranges()]);
    for (const resource of RESOURCES) {
      for (const output of records(register, resource, table, 'shown')) this.#consider(output);
    }
  }

  /** Passes documents of no kind of record on. */
  *watch(outputs: Iterable<Output>): Generator<Output> {
    for (const output of outputs) {
      this.#consider(output);
      yield output;
    }
  }

  #consider(output: Output): void {
    this.examples.consider(output);
    this.shown.consider(output);
  }
}

/**
 * What describes the rest of the tree, once that is known: documents by their samples, exports by what they came to.
 * @param firstKey the first key of the documents of a route
 */
export function* descriptions(
  { config, overview, table }: Sources,
  { examples, shown }: Samples,
  exported: Downloads,
  firstKey: (route: string) => number | undefined,
): Generator<Output> {
  yield* downloads(config, exported);
  yield* openapi(config, table, examples, firstKey);
  yield* pages(config, overview, table, shown, offers(table, exported));
}
