/** The documents that the documentation shows: a sample record of each kind. */
import type { Overview } from '../../register/overview.js';
import type { Output } from '../output.js';

/** The limit in the example of the largest groups. */
export const EXAMPLE_LIMIT = 3;

export class Shown {
  readonly #keys = new Map<string, readonly number[]>([
    ['index', [0]],
    ['stats', [0]],
    ['lookup', [0]],
    ['largest', [EXAMPLE_LIMIT]],
  ]);
  readonly #bodies = new Map<string, string>();

  constructor({ populations }: Overview) {
    for (const { resource, samples } of populations) {
      const ids = samples.slice(0, 1);
      this.#keys.set(resource.record.route, ids);
      if (resource.history !== undefined) this.#keys.set(resource.history.route, ids);
    }
  }

  /** Keeps a document if it is shown. */
  consider({ route, key, body }: Output): void {
    if (this.#keys.get(route)?.includes(key) === true) this.#bodies.set(`${route} ${key}`, body);
  }

  /** The key of a route's example; undefined if the register has no such record. */
  key(route: string): number | undefined {
    return this.#keys.get(route)?.[0];
  }

  /** The body of an example; undefined if there is none. */
  body(route: string, key: number | undefined = this.key(route)): string | undefined {
    return this.#bodies.get(`${route} ${key}`);
  }
}
