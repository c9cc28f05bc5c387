/** Headers and answers that many operations have alike stand in the document once. */
import type { Limits } from '../../config.js';
import type { Route } from '../../routes.js';
import type { Answer } from './answers.js';
import { headersOf, isApi } from './headers.js';
import type { Header } from './headers.js';
import { PROBLEM_TYPE, problemExample, problemOf } from './problems.js';
import { pascal, referTo } from './schemas.js';
import type { Schema } from './schemas.js';

/** Values under names, each there once. */
class Named {
  readonly #sort: string;
  readonly #named = new Map<string, string>();

  constructor(sort: string) {
    this.#sort = sort;
  }

  /** A reference to a value under its name. */
  add(value: Schema, name: string): Schema {
    const content = JSON.stringify(value);
    if ((this.#named.get(name) ?? content) !== content)
      throw new TypeError(`"${name}" names two different ${this.#sort}`);
    this.#named.set(name, content);
    return referTo(this.#sort, name);
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
  readonly #headers = new Named('headers');
  readonly #responses = new Named('responses');

  /** @param baseUrl where the service is reached */
  constructor(limits: Limits, baseUrl: string) {
    this.#limits = limits;
    this.#baseUrl = baseUrl;
  }

  /** The headers of an answer, by name. */
  headers(route: Route, status: number): Schema {
    const headers = headersOf({ status, route, limits: this.#limits });
    return Object.fromEntries(headers.map((header) => [header.name, this.#header(header)]));
  }

  #header({ name, description, example, always, variant }: Header): Schema {
    const value = { description, ...(always ? { required: true } : {}), schema: { type: 'string' }, example };
    return this.#headers.add(value, name.replaceAll('-', '') + pascal(variant));
  }

  /** An answer other than the document itself. */
  answer(route: Route, { status, description, problems }: Answer): Schema {
    const content = problems.length > 0 ? this.#problemContent(problems) : partContent(route, status);
    const response = {
      description,
      headers: this.headers(route, status),
      ...(content === undefined ? {} : { content }),
    };
    return this.#responses.add(response, nameOf(route, status, problems));
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

/** `text/csv; charset=utf-8` -> `text/csv`: parameters of a media type don't tell contents apart. */
export const mediaType = ({ type }: Route): string => type.replace(/;.*/, '');

/** A part of a JSON document is none, so nothing is said of it. */
const partContent = (route: Route, status: number): Schema | undefined =>
  status === 206 ? { [mediaType(route)]: {} } : undefined;

/** Errors are alike but for the limit they count against, and for the Link of the API's own. */
function nameOf(route: Route, status: number, problems: Answer['problems']): string {
  if (problems.length > 0) {
    const codes = problems.map(pascal).join('Or');
    return codes + (isApi(route.class) ? '' : pascal(route.class));
  }
  if (status === 304) return `NotModified${pascal(route.class)}`;
  return `Part${pascal(route.class)}${pascal(mediaType(route).replaceAll(/\W+/g, '-'))}`;
}
