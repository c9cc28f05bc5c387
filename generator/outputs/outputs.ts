/** All outputs, in the order in which they are rendered. */
import type { SiteConfig } from '../config/config.js';
import type { Downloads } from '../exports/downloads.js';
import type { Register } from '../register/database.js';
import type { Overview } from '../register/overview.js';
import { RESOURCES } from '../schema/schema.js';
import { isMeasured } from '../routes/routes.js';
import type { Route } from '../routes/route.js';
import { apiIndex } from './api-index.js';
import { openapi } from './openapi/openapi.js';
import { downloads } from './downloads/downloads.js';
import { guide } from './lookup/guide.js';
import { largest } from './largest.js';
import type { FileOutput, Output } from './output.js';
import type { ReadDocument } from './pages/documents.js';
import { downloadsPage, pages } from './pages/pages.js';
import { Shown } from './pages/shown.js';
import { records } from '../register/records.js';
import { stats } from './stats.js';

/** The inputs of outputs. */
export interface Sources {
  readonly register: Register;
  readonly config: SiteConfig;
  readonly overview: Overview;
  /** All routes, as they are for the register (see `tableFor`). */
  readonly table: readonly Route[];
  /** The time of the build, for what has to expire. */
  readonly now: Date;
}

/** The routes at which there is something. */
const routesIn = ({ overview, table }: Sources): readonly Route[] =>
  table.filter((route) => isMeasured(route, overview.measured));

/** The API documents about the register as a whole. */
export function* summaries(sources: Sources): Generator<Output> {
  const { register, config, overview } = sources;
  yield* apiIndex(config, routesIn(sources));
  yield* stats(overview);
  yield* largest(register, overview);
  yield* guide(overview);
}

/** Documents shown as examples in the documentation, which are rendered separately. */
export class Samples {
  readonly shown: Shown;

  constructor({ register, overview }: Sources) {
    this.shown = new Shown(overview);
    for (const resource of RESOURCES) {
      const id = this.shown.key(resource.record.route);
      if (id === undefined) continue;
      for (const output of records(register, resource, { low: id, high: id })) this.#consider(output);
    }
  }

  /** Passes through documents that belong to no kind, and collects those that are shown. */
  *watch(outputs: Iterable<Output>): Generator<Output> {
    for (const output of outputs) {
      this.#consider(output);
      yield output;
    }
  }

  #consider(output: Output): void {
    this.shown.consider(output);
  }
}

/**
 * The description of the API and the pages, once all other documents are known. They say nothing of the sizes
 * and hashes of downloads, which name the digest of all of these.
 * @param read reads one of the others
 * @param firstKey the first key of a route's documents
 * @param firstAlias the URL path of the first further name of a route's documents
 */
export function* descriptions(
  sources: Sources,
  { shown }: Samples,
  read: ReadDocument,
  firstKey: (route: string) => number | undefined,
  firstAlias: (route: string) => string | undefined,
): Generator<FileOutput> {
  const { register, config, overview, table, now } = sources;
  yield* openapi(config, routesIn(sources), overview.measured);
  yield* pages(config, overview, table, now, shown, read, register, firstKey, firstAlias);
}

/** What describes the downloads, once those are known. */
export function* downloadDescriptions(
  { config, overview, table }: Sources,
  exported: Downloads,
): Generator<FileOutput> {
  yield* downloads(config, exported);
  yield downloadsPage(config, overview, table, exported);
}
