/** Headers and responses common to many operations, as components that appear only once. */
import type { SiteConfig, Limits } from '../../config/config.js';
import { publishedHeaders, type PublishedHeaders } from '../../routes/headers.js';
import { isDated, type Route } from '../../routes/route.js';
import type { Answer } from './answers.js';
import { headersOf, type Header } from './headers.js';
import { PROBLEM_TYPE, problemExample, problemOf } from './problems.js';
import { pascal, referTo, type Schema } from './schemas.js';

/** Unique values by name. */
class NamedValues {
  readonly #section: string;
  readonly #named = new Map<string, string>();

  constructor(section: string) {
    this.#section = section;
  }

  /** Adds a value under a name. @returns a reference to it */
  add(value: Schema, name: string): Schema {
    const content = JSON.stringify(value);
    if ((this.#named.get(name) ?? content) !== content)
      throw new TypeError(`"${name}" names two different ${this.#section}`);
    this.#named.set(name, content);
    return referTo(this.#section, name);
  }

  get all(): Readonly<Record<string, unknown>> {
    return Object.fromEntries(
      [...this.#named].map(([name, content]): [string, unknown] => [name, JSON.parse(content)]),
    );
  }
}

export class Components {
  readonly #limits: Limits;
  readonly #baseUrl: string;
  readonly #published: PublishedHeaders;
  /** The headers of the responses so far: most routes share them. */
  readonly #byFacts = new Map<string, Schema>();
  readonly #headers = new NamedValues('headers');
  readonly #responses = new NamedValues('responses');

  constructor({ limits, operator }: SiteConfig) {
    this.#limits = limits;
    this.#baseUrl = operator.baseUrl;
    this.#published = publishedHeaders(operator.licence.url);
  }

  /** The headers of a response, by name. */
  headers(route: Route, status: number): Schema {
    const key = `${status} ${route.class} ${route.bucket} ${isDated(route)}`;
    const known = this.#byFacts.get(key);
    if (known !== undefined) return known;
    const headers = headersOf({ status, route, limits: this.#limits, published: this.#published });
    const schema = Object.fromEntries(headers.map((header) => [header.name, this.#header(header)]));
    this.#byFacts.set(key, schema);
    return schema;
  }

  #header({ name, description, example, always, variant }: Header): Schema {
    const value = { description, ...(always ? { required: true } : {}), schema: { type: 'string' }, example };
    return this.#headers.add(value, name.replaceAll('-', '') + pascal(variant));
  }

  /** A response without the document. */
  answer(route: Route, { status, description, problems }: Answer): Schema {
    const response = {
      description,
      headers: this.headers(route, status),
      ...(problems.length === 0 ? {} : { content: this.#problemContent(problems) }),
    };
    return this.#responses.add(response, nameOf(route, problems));
  }

  #problemContent(problems: Answer['problems']): Schema {
    const examples = problems
      .map(problemOf)
      .map((problem): [string, unknown] => [
        problem.code,
        { summary: problem.title, value: problemExample(problem, this.#baseUrl) },
      ]);
    return {
      [PROBLEM_TYPE]: { schema: referTo('schemas', 'Problem'), examples: Object.fromEntries(examples) },
    };
  }

  get registered() {
    return { headers: this.#headers.all, responses: this.#responses.all };
  }
}

/** Errors differ only by rate limit, and responses without an error (304) by cache class. */
function nameOf(route: Route, problems: Answer['problems']): string {
  const { class: cacheClass, bucket } = route;
  const cause = bucket === 'download' && !isDated(route) ? 'bundle' : cacheClass;
  const name = problems.length === 0 ? `NotModified${pascal(cause)}` : problems.map(pascal).join('Or');
  return bucket === 'api' ? name : `${name}Of${pascal(bucket)}Limit`;
}
