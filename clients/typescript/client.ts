/**
 * A client for a register that is published with register-api. No dependencies; needs `fetch`:
 * Node 20.19 or newer, or a browser.
 */
import type { components, paths } from './api.js';

type Content<P extends keyof paths> = paths[P]['get']['responses'][200]['content'];
/** A path of JSON, as the description has it: `/api/v1/group/{id}`. */
export type Route = {
  [P in keyof paths]: Content<P> extends { readonly 'application/json': unknown } ? P : never;
}[keyof paths];
/** The document at a route. */
export type Document<R extends Route> = Content<R>['application/json'];

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
  /** How often a request is repeated: after a 429, 502, 503 or 504, or a lost connection; 4 by default. */
  readonly retries?: number;
  /** A longer `Retry-After` is not waited for; 300 seconds (= 5 minutes) by default. */
  readonly maxWaitSeconds?: number;
  /**
   * How long a request may take, up to the headers, or the end of JSON; and how long the service may be silent within any
   * other body; 30 seconds by default.
   */
  readonly timeoutSeconds?: number;
  /** How long in all such a body may be waited for; 3600 seconds (= 1 hour) by default. */
  readonly bodySeconds?: number;
  /** How much JSON is kept in memory, in characters; 16 Mi by default. None in browsers, which have a cache. */
  readonly cacheCharacters?: number;
}

/** A kind of records. */
export type Kind = 'group' | 'user' | 'game' | 'item';

/** A name that a record has or had. */
export type FoundName = Document<'/api/v1/lookup/names/{page}'>['names'][number];

export interface FindOptions extends RequestOptions {
  /** The most names that are found; 20 by default. */
  readonly limit?: number;
}

export type Problem = components['schemas']['Problem'];

/** A response that is neither what was asked for nor a problem of the service: of something in between. */
export class ResponseError extends Error {
  override readonly name: string = 'ResponseError';
  readonly url: string;
  readonly status: number;
  readonly headers: Headers;
  /** The seconds that `Retry-After` asks to wait for; undefined without it. */
  readonly retryAfter: number | undefined;

  constructor({ url, status, headers }: Response, reason: string) {
    super(`${url}: ${status} ${reason}`);
    this.url = url;
    this.status = status;
    this.headers = headers;
    this.retryAfter = retryAfterOf(headers);
  }
}

/** A problem that the service reports: `code` is stable, the message is for people. */
export class ProblemError extends ResponseError {
  override readonly name = 'ProblemError';
  readonly code: Problem['error'];
  readonly problem: Problem;

  constructor(response: Response, problem: Problem) {
    super(response, problem.detail);
    this.code = problem.error;
    this.problem = problem;
  }
}

/** As many requests as browsers have under way to one host. */
const CONCURRENT_REQUESTS = 6;

/** The most bytes of a JSON, decompressed. No document of a register is near it. */
const MOST_JSON_BYTES = 64 * 1024 * 1024;

/** What something between client and service, or a service that starts, may answer for a moment. */
const TRANSIENT = new Set([429, 502, 503, 504]);

/**
 * Sends up to six requests at once. While one waits because the service is busy (429 or 503), no
 * other is sent.
 */
export class RegisterClient {
  readonly #base: string;
  readonly #fetch: typeof globalThis.fetch;
  readonly #retries: number;
  readonly #maxWaitSeconds: number;
  readonly #timeoutMs: number;
  readonly #bodyMs: number;
  readonly #cache: Cache;
  readonly #slots = new Slots(CONCURRENT_REQUESTS);
  /** Held by the refused request that waits. */
  readonly #gate = new Slots(1);

  /** @param baseUrl `https://register.example`, also with a path that all requests begin with */
  constructor(baseUrl: string, options: ClientOptions = {}) {
    this.#base = new URL(baseUrl).href.replace(/\/$/, '');
    this.#fetch = options.fetch ?? ((input, init) => globalThis.fetch(input, init));
    this.#retries = options.retries ?? 4;
    this.#maxWaitSeconds = options.maxWaitSeconds ?? 300;
    this.#timeoutMs = 1000 * (options.timeoutSeconds ?? 30);
    this.#bodyMs = 1000 * (options.bodySeconds ?? 3600);
    this.#cache = new Cache(options.cacheCharacters ?? (isBrowser() ? 0 : 16 * 1024 * 1024));
  }

  /**
   * The document at a route: the value of its JSON, as the description has it (not validated). JSON that
   * is in memory is requested with its ETag.
   * @throws {ProblemError} for a problem of the service, with `code` `not_found` if there is no such record
   * @throws {ResponseError} for any other response but 2xx, and for one that should be JSON and is not
   * @throws {DOMException} `TimeoutError`, or the reason of `signal`
   */
  get<R extends Route>(route: R, ...rest: Arguments<R>): Promise<Document<R>>;
  get(route: Route, parameters: object = {}, options: RequestOptions = {}): Promise<unknown> {
    return this.#json(route, parameters, options);
  }

  /** Paths come from the service, too. @throws {TypeError} for one that leads out of the base URL */
  #urlOf(path: string): string {
    const url = path.startsWith('/') ? new URL(this.#base + path).href : '';
    if (!url.startsWith(`${this.#base}/`))
      throw new TypeError(`expected a path of ${this.#base} that begins with "/", got "${path}"`);
    return url;
  }

  #json<R extends Route>(
    route: R,
    parameters: object,
    options: RequestOptions,
    isFresh?: boolean,
  ): Promise<Document<R>>;
  async #json(
    route: Route,
    parameters: object,
    { signal }: RequestOptions,
    isFresh = false,
  ): Promise<unknown> {
    const url = this.#urlOf(fill(route, parameters));
    const known = this.#cache.get(url);
    const headers: Record<string, string> = {
      ...(known !== undefined && { 'If-None-Match': known.etag }),
      ...(isFresh && { 'Cache-Control': 'no-cache' }),
    };
    return this.#send(url, headers, signal, async (response) => {
      if (response.status === 304 && known !== undefined) return parse(known.text);
      const text = await textOf(response);
      const value = isOfType(response, 'application/json') ? parsed(text) : undefined;
      if (value === undefined) throw new ResponseError(response, 'expected JSON');
      const etag = response.headers.get('etag');
      if (etag !== null) this.#cache.set(url, { etag, text });
      return value;
    });
  }

  /**
   * The response at a path, such as one in `links`, a download or a feed; its body is for the caller to read, and ends with a
   * `TimeoutError` if it doesn't come (`timeoutSeconds`, `bodySeconds`).
   * @throws the same as `get`
   * @throws {TypeError} for a path that doesn't begin with `/` or leads out of the base URL
   */
  async fetch(path: string, options: RequestOptions = {}): Promise<Response> {
    return this.#send(this.#urlOf(path), {}, options.signal, itself);
  }

  /**
   * The names that begin with a text, whatever their case, in order: present and former ones, of all kinds.
   * Mostly three requests; JSON that is in memory is requested with its ETag.
   * @throws the same as `get`
   */
  async find(prefix: string, { limit = 20, ...options }: FindOptions = {}): Promise<readonly FoundName[]> {
    const folded = foldedName(prefix);
    const walk = async (isFresh: boolean): Promise<readonly FoundName[]> => {
      const { pages } = await this.#json('/api/v1/lookup/names', {}, options, isFresh);
      // Equal names may be in two pages, so the first is one that begins before them.
      const later = pages.findIndex(({ first }) => comparePoints(first, folded) >= 0);
      const start = later === -1 ? pages.length - 1 : Math.max(0, later - 1);
      const found: FoundName[] = [];
      for (let path: string | null = pages[start]?.path ?? null; path !== null;) {
        const route = '/api/v1/lookup/names/{page}';
        // Typed by hand: TypeScript 6 does not infer it in a loop.
        const page: Document<typeof route> = await this.#json(route, { page: keyIn(path) }, options, isFresh);
        for (const entry of page.names) {
          const name = foldedName(entry.name);
          if (!name.startsWith(folded) && comparePoints(name, folded) > 0) return found;
          if (name.startsWith(folded) && found.push(entry) >= limit) return found;
        }
        path = page.next;
      }
      return found;
    };
    return this.#again(walk, options.signal);
  }

  /**
   * The ids of all records of a kind, in ascending order.
   * @throws the same as `get`
   */
  async *ids(kind: Kind, options: RequestOptions = {}): AsyncGenerator<number, void, undefined> {
    let last = 0;
    /** @returns the ids of the next page with any above the last */
    const next = async (isFresh: boolean): Promise<readonly number[]> => {
      if (path === undefined)
        path = (await this.#json('/api/v1/ids', {}, options, isFresh)).kinds[kind]?.first ?? null;
      while (path !== null) {
        const page: Document<'/api/v1/ids/group/{first_id}'> = await this.#json(
          `/api/v1/ids/${kind}/{first_id}`,
          { first_id: keyIn(path) },
          options,
          isFresh,
        );
        path = page.next;
        const ids = page.ids.filter((id) => id > last);
        if (ids.length > 0) return ids;
      }
      return [];
    };
    /** Undefined at the start, null at the end. */
    let path: string | null | undefined;
    for (;;) {
      const ids = await this.#again((isFresh) => {
        if (isFresh) path = undefined;
        return next(isFresh);
      }, options.signal);
      if (ids.length === 0) return;
      yield* ids;
      last = ids.at(-1) ?? last;
    }
  }

  /**
   * Walks pages that lead to each other. If one is gone, because another snapshot was published meanwhile, it
   * walks again from the start, past the caches on the way.
   */
  async #again<T>(walk: (isFresh: boolean) => Promise<T>, signal: AbortSignal | undefined): Promise<T> {
    for (let attempt = 0; ; attempt += 1) {
      try {
        return await walk(attempt > 0);
      } catch (error) {
        const isGone = error instanceof ProblemError && error.code === 'not_found' && PAGE.test(error.url);
        if (!isGone || attempt >= this.#retries) throw error;
        await sleep(1000 * 2 ** attempt, signal);
      }
    }
  }

  /** @param read is part of the request: it may be cut off and repeated */
  async #send<T>(
    url: string,
    headers: Record<string, string>,
    signal: AbortSignal | undefined,
    read: (response: Response) => Promise<T>,
  ): Promise<T> {
    const leave = await this.#slots.take(signal);
    let open: (() => void) | undefined;
    try {
      // Waits for those that were refused before.
      (await this.#gate.take(signal))();
      for (let attempt = 0; ; attempt += 1) {
        try {
          return await this.#attempt(url, headers, signal, read);
        } catch (error) {
          signal?.throwIfAborted();
          const waitSeconds = (error instanceof ResponseError ? error.retryAfter : undefined) ?? 2 ** attempt;
          if (attempt >= this.#retries || waitSeconds > this.#maxWaitSeconds || !isTransient(error))
            throw error;
          if (isBusy(error)) open ??= await this.#gate.take(signal);
          await sleep(1000 * waitSeconds, signal);
        }
      }
    } finally {
      open?.();
      leave();
    }
  }

  async #attempt<T>(
    url: string,
    headers: Record<string, string>,
    signal: AbortSignal | undefined,
    read: (response: Response) => Promise<T>,
  ): Promise<T> {
    const controller = new AbortController();
    const abort = (): void => controller.abort(signal?.reason);
    if (signal?.aborted === true) abort();
    signal?.addEventListener('abort', abort);
    const timer = setTimeout(() => {
      const waited = `${url}: no response in ${this.#timeoutMs / 1000} seconds`;
      controller.abort(new DOMException(waited, 'TimeoutError'));
    }, this.#timeoutMs);
    try {
      const response = await this.#fetch(url, { headers, signal: controller.signal });
      if (response.ok || response.status === 304) {
        return await read(read === itself ? this.#timed(response, controller) : response);
      }
      const text = await textOf(response);
      const problem = isOfType(response, 'application/problem+json') ? parsed(text) : undefined;
      throw isProblem(problem)
        ? new ProblemError(response, problem)
        : new ResponseError(response, 'without an explanation');
    } finally {
      clearTimeout(timer);
      // The caller's signal also ends the reading of a body that is left to the caller.
      if (read !== itself) signal?.removeEventListener('abort', abort);
    }
  }

  /** The same response; what is waited for is the service, and not who reads. */
  #timed(response: Response, controller: AbortController): Response {
    if (response.body === null) return response;
    const { url } = response;
    const reader: Reader = response.body.getReader();
    let leftMs = this.#bodyMs;
    const pull = async (body: ReadableStreamDefaultController<Uint8Array>): Promise<void> => {
      const begun = Date.now();
      const timer = setTimeout(
        () => {
          const waited =
            leftMs < this.#timeoutMs
              ? `the body took more than ${this.#bodyMs / 1000} seconds`
              : `nothing came for ${this.#timeoutMs / 1000} seconds`;
          controller.abort(new DOMException(`${url}: ${waited}`, 'TimeoutError'));
        },
        Math.min(leftMs, this.#timeoutMs),
      );
      try {
        const { done, value } = await reader.read();
        if (done) body.close();
        else body.enqueue(value);
      } finally {
        clearTimeout(timer);
        leftMs -= Date.now() - begun;
      }
    };
    const cancel = (reason: unknown): Promise<void> => reader.cancel(reason);
    // Nothing is waited for before it is read.
    const timed = new Response(new ReadableStream({ pull, cancel }, { highWaterMark: 0 }), response);
    return Object.defineProperty(timed, 'url', { value: url });
  }
}

/** The URL of a page, as opposed to one of what leads to pages. */
const PAGE = /\/\d+$/;

/** The last part of a path. */
const keyIn = (path: string): number => Number(path.slice(path.lastIndexOf('/') + 1));

/** A name as it is looked up and sorted: the same for names that differ only in case or width. */
export const foldedName = (name: string): string =>
  name
    .normalize('NFKC')
    .toLowerCase()
    .toUpperCase()
    .toLowerCase()
    .replaceAll('ς', 'σ')
    .replaceAll('i\u0307', 'i')
    .normalize('NFKC');

/** In the order of code points, which is that of pages; UTF-16 has some of them in another order. */
function comparePoints(a: string, b: string): number {
  for (let at = 0; ; at += 1) {
    const [one, other] = [a.codePointAt(at), b.codePointAt(at)];
    if (one !== other) return (one ?? -1) - (other ?? -1);
    if (one === undefined) return 0;
  }
}

const itself = (response: Response): Promise<Response> => Promise.resolve(response);

/** Browsers cache what they fetch, unless the request has a condition of its own. */
function isBrowser(): boolean {
  const { navigator }: { readonly navigator?: object; readonly fetch: unknown } = globalThis;
  return navigator !== undefined && 'onLine' in navigator;
}

/** Whether the service asks for a pause. */
const isBusy = (error: unknown): boolean =>
  error instanceof ResponseError && (error.status === 429 || error.status === 503);

/** Whether the same request may succeed: `fetch` rejects with a TypeError if a connection is lost. */
const isTransient = (error: unknown): boolean =>
  error instanceof ResponseError ? TRANSIENT.has(error.status) : error instanceof TypeError;

/** A number of slots, which are taken in the order in which they were asked for. */
class Slots {
  #free: number;
  readonly #waiting: (() => void)[] = [];

  constructor(count: number) {
    this.#free = count;
  }

  /** @returns gives the slot back; rejects if the signal is aborted before there is one */
  async take(signal: AbortSignal | undefined): Promise<() => void> {
    signal?.throwIfAborted();
    if (this.#free > 0) this.#free -= 1;
    else await this.#turn(signal);
    return () => {
      const next = this.#waiting.shift();
      if (next === undefined) this.#free += 1;
      else next();
    };
  }

  #turn(signal: AbortSignal | undefined): Promise<void> {
    return new Promise((settle, reject) => {
      const take = (): void => {
        signal?.removeEventListener('abort', abort);
        settle();
      };
      const abort = (): void => {
        this.#waiting.splice(this.#waiting.indexOf(take), 1);
        reject(signal?.reason);
      };
      this.#waiting.push(take);
      signal?.addEventListener('abort', abort, { once: true });
    });
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

/** Named, since the types of Node leave open what is read. */
type Reader = ReadableStreamDefaultReader<Uint8Array>;

/** The text of a body. */
async function textOf(response: Response): Promise<string> {
  const reader: Reader | undefined = response.body?.getReader();
  const decoder = new TextDecoder();
  let [text, bytes] = ['', 0];
  for (let read = await reader?.read(); read?.done === false; read = await reader?.read()) {
    bytes += read.value.length;
    if (bytes > MOST_JSON_BYTES) {
      await reader?.cancel();
      throw new ResponseError(response, `expected at most ${MOST_JSON_BYTES} bytes`);
    }
    text += decoder.decode(read.value, { stream: true });
  }
  return text + decoder.decode();
}

const isOfType = ({ headers }: Response, type: string): boolean =>
  headers.get('content-type')?.split(';')[0]?.trim().toLowerCase() === type;

/** The value of a JSON text; undefined if it is none. */
function parsed(text: string): unknown {
  try {
    return parse(text);
  } catch {
    return undefined;
  }
}

const isProblem = (value: unknown): value is Problem =>
  typeof value === 'object' && value !== null && 'error' in value && 'detail' in value;

/**
 * `Retry-After` in seconds: a number, or until a date (RFC 9110, section 10.2.3). That is counted
 * from the response's own date, where it can be read, so clocks may differ.
 */
function retryAfterOf(headers: Headers): number | undefined {
  const value = headers.get('retry-after') ?? '';
  if (/^\d+$/.test(value)) return Number(value);
  const seconds = (parseDate(value) - (parseDate(headers.get('date') ?? '') || Date.now())) / 1000;
  return Number.isNaN(seconds) ? undefined : Math.max(0, seconds);
}

/** The time of an HTTP date (RFC 9110, section 5.6.7) in ms. Of its three forms, all in GMT, one does not say so. */
const parseDate = (text: string): number =>
  /^[A-Z][a-z]+,? /.test(text) ? Date.parse(text.endsWith(' GMT') ? text : `${text} GMT`) : Number.NaN;

function sleep(ms: number, signal: AbortSignal | undefined): Promise<void> {
  return new Promise((settle, reject) => {
    const end = (): void => {
      clearTimeout(timer);
      signal?.removeEventListener('abort', abort);
    };
    const abort = (): void => {
      end();
      reject(signal?.reason);
    };
    const timer = setTimeout(() => {
      end();
      settle();
    }, ms);
    if (signal?.aborted === true) abort();
    signal?.addEventListener('abort', abort);
  });
}
