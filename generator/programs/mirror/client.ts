/** The HTTP client: one connection, within the limits, and patient with what may pass by itself. */
import type { IncomingHttpHeaders } from 'node:http';
import { setTimeout } from 'node:timers/promises';
import type { Dispatcher } from 'undici';
import { Failure, codeOf, messageOf } from '../../base/errors.js';
import { connections, retryAfterMs } from '../../base/network.js';
import { backoffMs } from '../../base/portable.js';
import { follow, type Progress } from '../../base/progress.js';
import type { Bucket } from '../../routes/route.js';
import type { Snapshot } from '../../tree/snapshot-json.js';
import { PATIENCE_MINUTES, Usage, boundsFor, minutes } from './bounds.js';
import { RequestBudget } from './limits.js';

/** A server that sends nothing for so long is given up: 60,000 ms (= 1 minute). */
const SILENCE_MS = 60_000;
/**
 * How often in a row a request may fail. The waits between double from 1 s, so 31 s in all, unless
 * the server says how long to wait.
 */
const TRIES = 6;
const REDIRECTS = 3;
/** Limits that take longer are worth a message: 60,000 ms (= 1 minute). */
const NOTED_MS = 60_000;
const BY_LIMITS = ' by its limits';

/** What a client works with. */
export interface ClientEffects {
  readonly progress: Progress;
  readonly now: () => Date;
  /** The name by which this program makes itself known to the origin. */
  readonly generator: { readonly name: string; readonly version: string };
}

type Response = Dispatcher.ResponseData;
type RequestHeaders = Readonly<Record<string, string>>;

/** A file of the origin. */
export interface Wanted {
  readonly path: string;
  readonly bucket: Bucket;
  readonly bytes: number;
  /** Undefined if nothing says it; then `bytes` is the most that it can be. */
  readonly sha256?: string | undefined;
  /** Whether it is the page that a browser gets with a 404. */
  readonly isOfNotFound?: boolean;
}

/** Where a body goes. */
interface Sink {
  /** Forgets what was written: the body comes from its start. */
  readonly restart: () => void;
  readonly write: (chunk: Buffer) => void;
}

interface Received {
  /** 200, 206, 304 if the condition holds, or 404 for the page of that. */
  readonly status: number;
  readonly etag: string | undefined;
}

/** The origin publishes another snapshot meanwhile, or a cache is older than another. */
export class MovedOn extends Error {}

/** The origin has nothing at a path. */
export class NotThere extends MovedOn {}

/** Something that may pass by itself. */
class TransientError extends Error {
  readonly waitMs: number | undefined;
  constructor(message: string, waitMs?: number) {
    super(message);
    this.waitMs = waitMs;
  }
}

/** What a connection fails with; if several addresses fail, there is a code instead of a message. */
const toTransient = (error: unknown): never => {
  throw new TransientError(messageOf(error) || (codeOf(error) ?? 'the connection fails'));
};

export class Client {
  readonly budget = new RequestBudget();
  /** Sent so far. */
  requests = 0;
  readonly #origin: string;
  readonly #connection: Dispatcher;
  readonly #headers: RequestHeaders;
  readonly #progress: Progress;
  readonly #now: () => Date;
  readonly #usage: Usage;

  /**
   * @param base an http or https URL, of which only the origin is used
   * @param command for which it asks, as it tells the origin
   */
  constructor(
    { origin }: URL,
    command: string,
    { progress, now, generator: { name, version } }: ClientEffects,
    bounds = boundsFor(PATIENCE_MINUTES),
  ) {
    this.#usage = new Usage(origin, bounds);
    this.#origin = origin;
    this.#connection = connections(SILENCE_MS);
    this.#headers = { 'User-Agent': `${name}/${version} (${command})`, 'Accept-Encoding': 'identity' };
    this.#progress = progress;
    this.#now = now;
  }

  /** Received so far. */
  get bytes(): number {
    return this.#usage.bytes;
  }

  close(): void {
    void this.#connection.destroy();
  }

  /** Keeps to the limits of a tree, and allows the bytes that its size explains. */
  copies({ limits, tree }: Pick<Snapshot, 'limits' | 'tree'>): void {
    this.budget.limits = limits;
    this.#usage.allow(tree.bytes);
  }

  /**
   * Says how long some requests take at least by the limits, if that is a minute or more.
   * @throws Failure environment: longer than a run may take
   */
  foresee(requests: Parameters<RequestBudget['msFor']>[0]): void {
    const ms = this.budget.msFor(requests);
    this.#usage.requireTime(ms, BY_LIMITS);
    if (ms >= NOTED_MS) this.#progress.note(`${this.#origin} takes at least ${minutes(ms)}${BY_LIMITS}`);
  }

  /** Waits. @param why after the time. @throws Failure environment: it takes too long */
  async wait(ms: number, why = ''): Promise<void> {
    this.#usage.addWait(ms);
    this.#usage.requirePatience(why);
    this.#usage.requireTime(ms, why);
    await follow(setTimeout(ms), () => 0, this.#progress);
  }

  /**
   * Fetches a small file.
   * @param conditions headers
   * @returns no content with the status 304
   * @throws see `receive`
   */
  async read(
    wanted: Wanted,
    conditions: RequestHeaders = {},
  ): Promise<Received & { readonly content: Buffer }> {
    let parts: Buffer[] = [];
    const sink = { restart: () => void (parts = []), write: (chunk: Buffer) => void parts.push(chunk) };
    const received = await this.receive(wanted, sink, conditions);
    return { ...received, content: Buffer.concat(parts) };
  }

  /**
   * Fetches a file, and tries again if the connection or the server fails. Of one whose hash is known,
   * only the rest is asked for, where that is safe.
   * @throws NotThere; MovedOn: it has more bytes; Failure invalid: more bytes than permitted;
   * environment: it failed too often
   */
  async receive(wanted: Wanted, sink: Sink, conditions: RequestHeaders = {}): Promise<Received> {
    const { path, bucket, bytes, sha256, isOfNotFound = false } = wanted;
    let received = 0;
    let tag: string | undefined;
    const read = async ({ statusCode: status, headers, body }: Response): Promise<Received> => {
      const etag = headers.etag?.toString();
      if (status === 304) {
        this.#usage.receive(0);
        return { status, etag };
      }
      if (!isRest(status, headers, received, bytes)) {
        if (status !== 200 && !(isOfNotFound && status === 404)) {
          const Reason = status === 404 || status === 410 ? NotThere : MovedOn;
          throw new Reason(`${path} is not there (${status})`);
        }
        sink.restart();
        received = 0;
        // A weak tag permits no ranges (RFC 9110, section 13.1.5), and only a hash shows a mixture.
        tag = sha256 !== undefined && etag?.startsWith('"') === true ? etag : undefined;
      }
      for await (const chunk of this.#chunks(body)) {
        received += chunk.length;
        if (received > bytes) {
          const message = `${this.#origin}${path} has more than ${bytes} bytes`;
          throw sha256 === undefined ? Failure.invalid(message) : new MovedOn(message);
        }
        sink.write(chunk);
      }
      return { status, etag };
    };
    let furthest = 0;
    for (let tries = 1; ; tries += 1) {
      const start = tag === undefined ? 0 : received;
      // What a try got counts only if the next goes on from there.
      if (start > furthest) [furthest, tries] = [start, 1];
      const headers = {
        ...conditions,
        ...(start > 0 && tag !== undefined && { Range: `bytes=${start}-`, 'If-Range': tag }),
        ...(isOfNotFound && { Accept: 'text/html' }),
      };
      try {
        const response = await this.#request(path, bucket, this.budget.costOf(bytes - start, bytes), headers);
        // The connection can be used again if the response was read.
        return await read(response).finally(() => response.body.destroy());
      } catch (error) {
        if (!(error instanceof TransientError)) throw error;
        if (tries >= TRIES)
          throw Failure.environment(`${this.#origin}${path}: ${error.message} (${tries} times)`);
        // A wait that the server has asked for is no failure.
        if (tries === 1 && error.waitMs === undefined)
          this.#progress.note(`${this.#origin}${path}: ${error.message}; trying ${TRIES - 1} times more`);
        await this.wait(error.waitMs ?? backoffMs(tries), ` (${path}: ${error.message})`);
      }
    }
  }

  /** Waits for something of the origin, and has signals handled meanwhile. @throws TransientError */
  async #arriving<T>(work: Promise<T>): Promise<T> {
    const startedAt = performance.now();
    try {
      return await follow(work.catch(toTransient), () => 0, this.#progress);
    } finally {
      this.#usage.addWait(performance.now() - startedAt);
    }
  }

  /** Makes a request, within the limits, and follows redirects within the origin. */
  async #request(
    path: string,
    bucket: Bucket,
    cost: number,
    headers: RequestHeaders,
    redirects = 0,
  ): Promise<Response> {
    const url = this.#origin + path;
    const waitMs = this.budget.take(bucket, cost);
    if (waitMs > 0) await this.wait(waitMs, BY_LIMITS);
    this.requests += 1;
    const sent = this.#connection.request({
      origin: this.#origin,
      path,
      method: 'GET',
      headers: { ...this.#headers, ...headers },
      headersTimeout: SILENCE_MS,
      bodyTimeout: SILENCE_MS,
    });
    const response = await this.#arriving(sent);
    const { statusCode: status, headers: fields, body } = response;
    // Whoever reads the body by its iterator gets the error as well.
    body.on('error', () => undefined);
    if ([200, 206, 304, 404, 410, 416].includes(status)) return response;
    body.destroy();
    if (status === 429 || status >= 500)
      throw new TransientError(`the response is ${status}`, retryAfterMs(fields, this.#now()));
    if (![301, 302, 307, 308].includes(status))
      throw Failure.environment(`${url}: the response is ${status}, expected 200`);
    const location = String(fields.location ?? '');
    const target = URL.canParse(location, url) ? new URL(location, url) : undefined;
    if (target?.origin !== this.#origin || redirects === REDIRECTS)
      throw Failure.environment(`${url} redirects to "${location}", expected the document itself`);
    return this.#request(target.pathname + target.search, bucket, cost, headers, redirects + 1);
  }

  async *#chunks(body: AsyncIterable<unknown>): AsyncGenerator<Buffer, void, undefined> {
    const chunks: AsyncIterator<unknown, unknown> = body[Symbol.asyncIterator]();
    const startedAt = performance.now();
    for (let received = 0; ;) {
      const { value } = await this.#arriving(chunks.next());
      if (!Buffer.isBuffer(value)) return;
      received += value.length;
      this.#usage.receive(value.length);
      if (this.#usage.isSlow(received, performance.now() - startedAt)) {
        const { bytesPerSecond } = this.#usage.bounds;
        throw new TransientError(`the response is slower than ${bytesPerSecond} bytes a second`);
      }
      await this.#progress.advance(value.length);
      yield value;
    }
  }
}

/** Whether a response has the bytes that follow those received. */
function isRest(status: number, headers: IncomingHttpHeaders, received: number, bytes: number): boolean {
  const [, from, size] = /^bytes (\d+)-\d+\/(\d+)$/.exec(headers['content-range'] ?? '') ?? [];
  return status === 206 && received > 0 && Number(from) === received && Number(size) === bytes;
}
