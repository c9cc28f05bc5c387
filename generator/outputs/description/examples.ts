/** Real documents of the tree to show, picked while everything is rendered. */
import { filler, urlTemplate } from '../../routes.js';
import type { Route } from '../../routes.js';
import type { Output } from '../output.js';

/** A document of the tree, and the URL that answers it. */
export interface Example {
  /** The value of its route's parameter. */
  readonly key: number;
  readonly url: string;
  readonly body: string;
}

/** Larger documents show no more than these do. */
const MAX_LENGTH = 4096;

/** Among so many of a route, the one that shows most is taken: each build looks at the same ones. */
const CANDIDATES = 100;

interface Choice {
  readonly route: Route;
  readonly urlOf: (key: number) => string;
  seen: number;
  unmeasured: number;
  example: Example | undefined;
}

export class Examples {
  readonly #choices: ReadonlyMap<string, Choice>;

  constructor(table: readonly Route[]) {
    this.#choices = new Map(
      table.map((route) => [
        route.name,
        {
          route,
          urlOf: filler(urlTemplate(route)),
          seen: 0,
          unmeasured: Number.POSITIVE_INFINITY,
          example: undefined,
        },
      ]),
    );
  }

  /** Passes everything on, and keeps what is worth showing. */
  *from(rendered: Iterable<Output>): Generator<Output> {
    for (const output of rendered) {
      this.#consider(output);
      yield output;
    }
  }

  #consider({ route: name, key, body }: Output): void {
    const choice = this.#choices.get(name);
    if (choice === undefined || choice.seen >= CANDIDATES || body.length > MAX_LENGTH) return;
    const { route, urlOf } = choice;
    const url = urlOf(key);
    // A route that names a URL to try is shown by what that answers.
    if (route.example !== undefined && route.example !== url) return;
    choice.seen += 1;
    const unmeasured = body.split(':null').length;
    if (unmeasured >= choice.unmeasured) return;
    choice.unmeasured = unmeasured;
    choice.example = { key, url, body };
  }

  /** The document to show for a route; undefined where there is none, or none of a size to show. */
  of(route: string): Example | undefined {
    return this.#choices.get(route)?.example;
  }
}
