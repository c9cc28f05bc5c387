/**
 * A client for a register that is published with register-api. No dependencies; needs `fetch`:
 * Node 20.19 or newer, or a browser.
 */
import type { components, paths } from './api.js';

/** A path of the service, as the description has it: `/api/v1/group/{id}`. */
export type Route = keyof paths;
type Content<R extends Route> = paths[R]['get']['responses'][200]['content'];
/** A route whose documents are JSON. */
export type JsonRoute = {
  [R in Route]: Content<R> extends { readonly 'application/json': unknown } ? R : never;
}[Route];
/** The document at a route of JSON. */
export type Document<R extends JsonRoute> = Content<R>['application/json'];

type Required<R extends Route> = paths[R]['get'] extends { readonly parameters: { readonly path: infer P } }
  ? P
  : unknown;
type Optional<R extends Route> = paths[R]['get'] extends { readonly parameters: { readonly query?: infer Q } }
  ? Partial<NonNullable<Q>>
  : unknown;
/** The values in the path and in the query of a route, by name. */
export type Parameters<R extends Route> = Required<R> & Optional<R>;
type Arguments<R extends Route> =
  object extends Parameters<R>
    ? [parameters?: Parameters<R>, options?: RequestOptions]
    : [parameters: Parameters<R>, options?: RequestOptions];

export interface RequestOptions {
  readonly signal?: AbortSignal;
}

export interface ClientOptions {
  /** What to use instead of the global `fetch`. */
  readonly fetch?: typeof globalThis.fetch;
  /** How often a request is repeated after a 429 or 503; 4 by default. */
  readonly retries?: number;
  /** A longer `Retry-After` is not waited for; 300 seconds (= 5 minutes) by default. */
  readonly maxWaitSeconds?: number;
  /** How much JSON is kept in memory, in characters; 16 Mi by default, 0 for none. */
  readonly cacheCharacters?: number;
}

export type Problem = components['schemas']['Problem'];

/** A response that is an error: `code` is stable, the message is for people. */
export class ProblemError extends Error {
  override readonly name = 'ProblemError';
  readonly status: number;
  readonly url: string;
  /** Undefined if the response came from something in between, and is no problem of the service. */
  readonly code: Problem['error'] | undefined;
  readonly problem: Problem | undefined;

  constructor(status: number, url: string, problem: Problem | undefined) {
    super(`${url}: ${status} ${problem?.detail ?? 'without an explanation'}`);
    this.status = status;
    this.url = url;
    this.code = problem?.error;
    this.problem = problem;
  }
}

/**
 * Sends each request once the headers of the one before have arrived, and none while it waits for a
 * `Retry-After`. Bodies may overlap: read each to its end before the next request to avoid that.
 */
export class RegisterClient {
  readonly #base: string;
  readonly #fetch: typeof globalThis.fetch;
  readonly #retries: number;
  readonly #maxWaitMs: number;
  readonly #cache: Cache;
  /** The end of the last request in the queue. */
  #last: Promise<unknown> = Promise.resolve();

  /** @param baseUrl `https://register.example` */
  constructor(baseUrl: string, options: ClientOptions = {}) {
    this.#base = baseUrl;
    this.#fetch = options.fetch ?? ((input, init) => globalThis.fetch(input, init));
    this.#retries = options.retries ?? 4;
    this.#maxWaitMs = 1000 * (options.maxWaitSeconds ?? 300);
    this.#cache = new Cache(options.cacheCharacters ?? 16 * 1024 * 1024);
  }

  /**
   * The document at a route: the value of its JSON, as the description has it (not validated), or
   * the response if it is something else. JSON is requested with the ETag of the copy in memory.
   * @throws {ProblemError} for any status but 2xx, with `code` `not_found` if there is no such record
   */
  get<R extends JsonRoute>(route: R, ...rest: Arguments<R>): Promise<Document<R>>;
  get<R extends Exclude<Route, JsonRoute>>(route: R, ...rest: Arguments<R>): Promise<Response>;
  async get(route: Route, parameters: object = {}, options: RequestOptions = {}): Promise<unknown> {
    const url = this.#urlOf(fill(route, parameters));
    const known = this.#cache.get(url);
    const headers: Record<string, string> = known === undefined ? {} : { 'If-None-Match': known.etag };
    const response = await this.#send(url, headers, options.signal);
    if (response.status === 304 && known !== undefined) return parse(known.text);
    if (!/^application\/json\b/.test(response.headers.get('content-type') ?? '')) return response;
    const text = await response.text();
    const etag = response.headers.get('etag');
    if (etag !== null) this.#cache.set(url, { etag, text });
    return parse(text);
  }

  /**
   * The response at a path, such as one in `links` or in a change; its body is for the caller to read.
   * @throws {ProblemError} for any status but 2xx
   */
  fetch(path: string, options: RequestOptions = {}): Promise<Response> {
    return this.#send(this.#urlOf(path), {}, options.signal);
  }

  #urlOf(path: string): string {
    return new URL(path, this.#base).href;
  }

  #send(url: string, headers: Record<string, string>, signal: AbortSignal | undefined): Promise<Response> {
    const sent = this.#last.then(() => this.#attempt(url, headers, signal));
    this.#last = sent.catch(() => undefined);
    // A request that waits for its turn ends at once if it is aborted.
    return abortable(sent, signal);
  }

  async #attempt(
    url: string,
    headers: Record<string, string>,
    signal: AbortSignal | undefined,
  ): Promise<Response> {
    for (let attempt = 0; ; attempt += 1) {
      signal?.throwIfAborted();
      const response = await this.#fetch(url, { headers, ...(signal === undefined ? {} : { signal }) });
      if (response.ok || response.status === 304) return response;
      const error = new ProblemError(response.status, url, await problemIn(response));
      const isRefused = response.status === 429 || response.status === 503;
      const waitMs = retryAfterMs(response) ?? 1000 * 2 ** attempt;
      if (!isRefused || attempt >= this.#retries || waitMs > this.#maxWaitMs) throw error;
      await sleep(waitMs, signal);
    }
  }
}

/** Documents by URL, up to a number of characters; the least recently used go first. */
class Cache {
  readonly #limit: number;
  readonly #entries = new Map<string, { readonly etag: string; readonly text: string }>();
  #characters = 0;

  constructor(limit: number) {
    this.#limit = limit;
  }

  get(url: string) {
    const entry = this.#entries.get(url);
    if (entry !== undefined) {
      this.#entries.delete(url);
      this.#entries.set(url, entry);
    }
    return entry;
  }

  set(url: string, entry: { readonly etag: string; readonly text: string }): void {
    this.#remove(url);
    if (entry.text.length > this.#limit) return;
    this.#entries.set(url, entry);
    this.#characters += entry.text.length;
    for (const oldest of this.#entries.keys()) {
      if (this.#characters <= this.#limit) break;
      this.#remove(oldest);
    }
  }

  #remove(url: string): void {
    this.#characters -= this.#entries.get(url)?.text.length ?? 0;
    this.#entries.delete(url);
  }
}

const parse: (text: string) => unknown = JSON.parse;

/** The path and query of a route with its parameters. */
function fill(route: string, parameters: object): string {
  const values = new Map(Object.entries(parameters).filter(([, value]) => value !== undefined));
  const path = route.replaceAll(/\{(\w+)\}/g, (_, name: string) => {
    if (!values.has(name)) throw new TypeError(`${route} needs the parameter "${name}"`);
    const value = encodeURIComponent(String(values.get(name)));
    values.delete(name);
    return value;
  });
  const query = [...values].map(([name, value]) => `${name}=${encodeURIComponent(String(value))}`);
  return query.length === 0 ? path : `${path}?${query.join('&')}`;
}

/** The problem in a response; undefined if it has none. */
async function problemIn(response: Response): Promise<Problem | undefined> {
  const text = await response.text();
  if (!/^application\/problem\+json\b/.test(response.headers.get('content-type') ?? '')) return undefined;
  const problemOf: (text: string) => Problem = JSON.parse;
  return problemOf(text);
}

/** `Retry-After` in milliseconds: of seconds, or of a date (RFC 9110, section 10.2.3). */
function retryAfterMs({ headers }: Response): number | undefined {
  const value = headers.get('retry-after');
  if (value === null) return undefined;
  const ms = /^\d+$/.test(value) ? 1000 * Number(value) : Date.parse(value) - Date.now();
  return Number.isNaN(ms) ? undefined : Math.max(0, ms);
}

/** The same, but rejected as soon as the signal is aborted. */
function abortable<T>(promise: Promise<T>, signal: AbortSignal | undefined): Promise<T> {
  if (signal === undefined) return promise;
  return new Promise((settle, reject) => {
    const abort = (): void => reject(signal.reason);
    if (signal.aborted) abort();
    signal.addEventListener('abort', abort);
    void promise.then(settle, reject).finally(() => signal.removeEventListener('abort', abort));
  });
}

function sleep(ms: number, signal: AbortSignal | undefined): Promise<void> {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const slept = new Promise<void>((settle) => {
    timer = setTimeout(settle, ms);
  });
  return abortable(slept, signal).finally(() => clearTimeout(timer));
}
