/** Picks real documents of the tree as examples: the most representative of the first. */
import type { Register } from '../../register/database.js';
import { recordsQuery } from '../../register/sql.js';
import type { KindRange } from '../../register/sql.js';
import { RESOURCES } from '../../schema/index.js';
import { filler, urlTemplate } from '../../routes/index.js';
import type { Route } from '../../routes/index.js';
import type { Output } from '../output.js';
import { documentOf } from './documents.js';

/** A document of the tree, and its URL. */
export interface DocumentExample {
  /** The value of the route's parameter. */
  readonly key: number;
  readonly url: string;
  readonly body: string;
}

/** Larger records and histories show no more than smaller ones: 2 KiB. */
const MAX_LENGTH = 2048;

/** How many of a route's documents are compared; every build compares the same ones. */
const CANDIDATES = 100;

/** The score of a document: measured values count for it, null values against it. */
const shows = (body: string): number => body.split('":').length - 2 * body.split('":null').length;

interface Choice {
  readonly urlOf: (key: number) => string;
  /** The example URL that the route itself defines. */
  readonly named: string | undefined;
  candidates: number;
  shows: number;
  example: DocumentExample | undefined;
}

export class Examples {
  readonly #choices: ReadonlyMap<string, Choice>;

  constructor(table: readonly Route[]) {
    const shown = table.filter(({ name }) => documentOf(name) !== undefined);
    this.#choices = new Map(
      shown.map((route) => [
        route.name,
        {
          urlOf: filler(urlTemplate(route)),
          named: route.parameters === undefined ? route.path : route.example,
          candidates: 0,
          shows: Number.NEGATIVE_INFINITY,
          example: undefined,
        },
      ]),
    );
  }

  /** The candidate records: the first of each kind. */
  *ranges(register: Register): Generator<KindRange> {
    for (const resource of RESOURCES) {
      const first = register.rows<[number]>(`${recordsQuery(resource, ['id'])} LIMIT ${CANDIDATES}`);
      for (const [id] of first) yield { kind: resource.kind, low: id, high: id };
    }
  }

  /** Keeps a document if it is the best so far. Among records, considers only the candidates. */
  consider({ route, key, body }: Output): void {
    const choice = this.#choices.get(route);
    if (choice === undefined || choice.candidates >= CANDIDATES) return;
    const { urlOf, named } = choice;
    if (named === undefined ? body.length > MAX_LENGTH : urlOf(key) !== named) return;
    choice.candidates += 1;
    const shown = shows(body);
    if (shown <= choice.shows) return;
    choice.shows = shown;
    choice.example = { key, url: urlOf(key), body };
  }

  /** The example of a route; undefined if there is none, or none small enough. */
  of(route: string): DocumentExample | undefined {
    return this.#choices.get(route)?.example;
  }
}
