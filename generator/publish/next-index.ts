/** Builds the next snapshot's index from the previous one and the patches, route by route. */
import { join } from 'node:path';
import type { Patching } from '../tree/patch.js';
import { linkOrCopy } from '../files.js';
import type { Index } from '../tree/index-json.js';
import { nextRoutes } from './compared-routes.js';
import { indexRoute, totalOf } from './index-route.js';
import type { Changes, IndexedRoute, Indexing } from './index-route.js';
import { patchesOf } from './stage.js';
import type { StageSpec } from './stage-writer.js';
import type { Takedown } from './takedown.js';

/** Builds the next index of a route, in any thread. */
type IndexRoute = (indexing: Indexing) => Promise<IndexedRoute>;

const here: IndexRoute = async (indexing) => indexRoute(indexing);

const NONE: ReadonlySet<number> = new Set();

export class NextIndex {
  readonly #spec: StageSpec;
  /** The published index, and its folder. */
  readonly #old: Index | undefined;
  readonly #folder: string;
  readonly #takedown: Takedown;
  readonly #indexed = new Map<string, IndexedRoute>();
  /** The checksums of other hash files. */
  readonly #sums: Record<string, string> = {};

  constructor(spec: StageSpec, folder: string, old: Index | undefined, takedown: Takedown) {
    this.#spec = spec;
    this.#folder = folder;
    this.#old = old;
    this.#takedown = takedown;
  }

  /** Indexes routes whose documents are all staged; by default in this thread, if they are small. */
  async indexRoutes(names: readonly string[], index = here): Promise<void> {
    await Promise.all(names.map(async (name) => this.#indexed.set(name, await this.#index(name, index))));
  }

  /** Indexes the remaining routes in this thread: they are small. */
  async indexRest(): Promise<void> {
    const names = [...this.#spec.routes.keys()];
    await this.indexRoutes(names.filter((name) => !this.#indexed.has(name)));
  }

  async #index(name: string, index: IndexRoute): Promise<IndexedRoute> {
    const found = this.#spec.routes.get(name);
    if (found === undefined) throw new TypeError(`no route is named "${name}"`);
    const { route, index: old } = found;
    const next = join(this.#spec.paths.index, name);
    const patches = patchesOf(this.#spec.paths, name);
    const summary = this.#old?.routes[name];
    const sum = this.#old?.sums[name];
    if (patches.length === 0 && old !== undefined && summary !== undefined && sum !== undefined) {
      linkOrCopy(old, next);
      const changes = { added: 0, changed: 0, removed: 0, unchanged: summary.documents };
      return { ...summary, changes, withheld: 0, placed: 0, sum };
    }
    return index({
      route,
      old,
      patches,
      next,
      lists: this.#spec.hasChanges ? this.#spec.paths.lists : undefined,
      withheld: this.#takedown.withheld?.keys.get(name) ?? NONE,
    });
  }

  /**
   * Builds other hash files.
   * @param isContinued whether patches apply to the previous ones
   * @param patch builds one, in any thread
   */
  async indexFiles(
    names: readonly string[],
    isContinued: boolean,
    patch: (patching: Patching) => Promise<string>,
  ): Promise<void> {
    const index = async (name: string): Promise<void> => {
      const sum = isContinued ? this.#old?.sums[name] : undefined;
      const [old, next] = [join(this.#folder, name), join(this.#spec.paths.index, name)];
      const patches = patchesOf(this.#spec.paths, name);
      if (patches.length > 0) {
        this.#sums[name] = await patch({ old: sum === undefined ? undefined : old, patches, next });
      } else if (sum !== undefined) {
        linkOrCopy(old, next);
        this.#sums[name] = sum;
      }
    };
    await Promise.all(names.map(index));
  }

  of(name: string): IndexedRoute {
    const indexed = this.#indexed.get(name);
    if (indexed === undefined) throw new TypeError(`"${name}" was not indexed`);
    return indexed;
  }

  /** Sums over all documents. */
  total(): { readonly changes: Readonly<Changes>; readonly bytes: number } {
    const bytes = [...this.#indexed.values()].reduce((sum, indexed) => sum + indexed.bytes, 0);
    return { changes: totalOf(this.changesByRoute().values()), bytes };
  }

  changesByRoute(): ReadonlyMap<string, Readonly<Changes>> {
    return new Map([...this.#indexed].map(([name, { changes }]) => [name, changes]));
  }

  /** Removed documents whose records are withheld. */
  withheldByRoute(): ReadonlyMap<string, number> {
    return new Map([...this.#indexed].map(([name, { withheld }]) => [name, withheld]));
  }

  /** The lowest key of each indexed route that has documents. */
  firstKeys(): ReadonlyMap<string, number> {
    const keys = [...this.#indexed].map(([name, { firstKey }]) => [name, firstKey] as const);
    return new Map(keys.flatMap(([name, key]) => (key === null ? [] : [[name, key]])));
  }

  /** Number of files in new and changed documents. */
  get placed(): number {
    return [...this.#indexed.values()].reduce((sum, { placed }) => sum + placed, 0);
  }

  get described(): Pick<Index, 'sums' | 'routes'> {
    const routes = nextRoutes(this.#spec.routes).map(({ name }) => [name, this.of(name)] as const);
    return {
      sums: { ...Object.fromEntries(routes.map(([name, { sum }]) => [name, sum])), ...this.#sums },
      routes: Object.fromEntries(
        routes.map(([name, { documents, bytes, firstKey, root }]) => [
          name,
          { documents, bytes, firstKey, root },
        ]),
      ),
    };
  }
}
