/** The HTTP client: one connection, within the limits, and patient with what may pass by itself. */
import type { IncomingHttpHeaders } from 'node:http';
import { setTimeout } from 'node:timers/promises';
import { Client as Connection } from 'undici';
import { Failure, codeOf, messageOf } from '../errors.js';
import { backoffMs } from '../portable.js';
import { follow } from '../progress.js';
import type { Progress } from '../progress.js';
import type { Bucket } from '../routes/index.js';
import { RequestBudget } from './limits.js';

/** A server that sends nothing for so long is given up: 60,000 ms (= 1 minute). */
const SILENCE_MS = 60_000;
/** How often in a row a request may fail; the waits between double from 1 s, so 31 s in all. */
const TRIES = 6;
/** The longest wait that a server may ask for: 3600 s (= 1 hour). */
const WAIT_SECONDS = 3600;
const REDIRECTS = 3;

/** What a run gets in all, however patient an origin is. */
export interface Bounds {
  /** Of the whole run. */
  readonly ms: number;
  /** Received, besides what the size of the tree explains. */
  readonly bytes: number;
  /** After this time, a response must have arrived at this rate on average. */
  readonly slowMs: number;
  readonly bytesPerSecond: number;
}

/** 3 days, 2 GiB (twice the longest log), and 1 KiB a second after a minute. */
const BOUNDS: Bounds = {
  ms: 3 * 24 * 3600 * 1000,
  bytes: 2 * 1024 ** 3,
  slowMs: 60_000,
  bytesPerSecond: 1024,
};
/** How often all files of a tree may be received: for attempts that the origin makes void. */
const COPIES = 4;

interface Request {
  readonly path: string;
  readonly bucket: Bucket;
  /** Tokens of the limit of downloads; 1 by default. */
  readonly cost?: number;
  /** The first byte that is asked for; 0 by default. */
  readonly start?: number;
  readonly headers?: Readonly<Record<string, string>>;
}

export interface OriginResponse {
  /** 200, 206, 304, 404, 410 or 416. */
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly chunks: AsyncIterable<Buffer>;
}

/** The origin publishes another snapshot meanwhile, or a cache is older than another. */
export class MovedOn extends Error {}

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
  readonly limits = new RequestBudget();
  /** Sent and received so far. */
  requests = 0;
  bytes = 0;
  readonly #origin: string;
  readonly #connection: Connection;
  readonly #headers: Readonly<Record<string, string>>;
  readonly #progress: Progress;
  readonly #bounds: Bounds;
  readonly #startedAt = performance.now();
  #mostBytes: number;

  /** @param base an http or https URL, of which only the origin is used */
  constructor({ origin }: URL, userAgent: string, progress: Progress, bounds = BOUNDS) {
    this.#bounds = bounds;
    this.#mostBytes = bounds.bytes;
    this.#origin = origin;
    this.#connection = new Connection(origin, {
      connect: { timeout: SILENCE_MS },
      headersTimeout: SILENCE_MS,
      bodyTimeout: SILENCE_MS,
    });
    this.#headers = { 'User-Agent': userAgent, 'Accept-Encoding': 'identity' };
    this.#progress = progress;
  }

  close(): void {
    void this.#connection.destroy();
  }

  /** Allows what a tree of so many bytes explains. */
  allow(bytes: number): void {
    this.#mostBytes = this.#bounds.bytes + COPIES * bytes;
  }

  /** Waits. @throws Failure environment: the run would take too long */
  async wait(ms: number): Promise<void> {
    this.#requireTime(ms);
    await this.#heard(setTimeout(ms));
  }

  /**
   * Fetches a small file.
   * @param most the most bytes that it may have
   * @param held the content that the response 304 stands for, if the headers permit it
   * @throws MovedOn: it is not there; Failure invalid: it has more bytes
   */
  async fetch({
    most,
    held,
    ...request
  }: Request & { readonly most: number; readonly held?: Buffer | undefined }): Promise<{
    readonly content: Buffer;
    readonly etag: string | undefined;
  }> {
    const { path } = request;
    return this.get(
      () => request,
      async ({ status, headers: { etag }, chunks }) => {
        if (status === 304 && held !== undefined) return { content: held, etag };
        if (status !== 200) throw new MovedOn(`${path} is not there (${status})`);
        const content: Buffer[] = [];
        let bytes = 0;
        for await (const chunk of chunks) {
          content.push(chunk);
          bytes += chunk.length;
          if (bytes > most) throw Failure.invalid(`${path} of the origin has more than ${most} bytes`);
        }
        return { content: Buffer.concat(content), etag };
      },
    );
  }

  /**
   * Makes a request, and makes it again if the connection or the server fails.
   * @param next called for each try, so that it can go on where the last one stopped: then it has
   * all tries again
   * @throws Failure environment: it failed too often; what `read` throws
   */
  async get<T>(next: () => Request, read: (response: OriginResponse) => Promise<T>): Promise<T> {
    let furthest = 0;
    for (let tries = 1; ; tries += 1) {
      const request = next();
      const { path, start = 0 } = request;
      // What a try got counts only if the next goes on from there.
      if (start > furthest) [furthest, tries] = [start, 1];
      try {
        return await this.#try(request, read);
      } catch (error) {
        if (!(error instanceof TransientError)) throw error;
        if (tries >= TRIES)
          throw Failure.environment(`${this.#origin}${path}: ${error.message} (${tries} times)`);
        const waitMs = error.waitMs ?? backoffMs(tries);
        // A wait that the server has asked for is no failure.
        if (tries === 1 && error.waitMs === undefined)
          this.#progress.note(`${this.#origin}${path}: ${error.message}; trying ${TRIES - 1} times more`);
        await this.wait(waitMs);
      }
    }
  }

  /** Waits for a promise, and has signals handled meanwhile. */
  #heard<T>(work: Promise<T>): Promise<T> {
    return follow(work, () => 0, this.#progress);
  }

  #requireTime(ms = 0): void {
    if (performance.now() - this.#startedAt + ms <= this.#bounds.ms) return;
    const seconds = this.#bounds.ms / 1000;
    throw Failure.environment(`${this.#origin} would take longer than ${seconds} s, so it was given up`);
  }

  async #try<T>(request: Request, read: (response: OriginResponse) => Promise<T>, redirects = 0): Promise<T> {
    const { path, bucket, cost = 1, start = 0 } = request;
    const url = this.#origin + path;
    const waitMs = this.limits.take(bucket, cost);
    if (waitMs > 0) await this.wait(waitMs);
    this.requests += 1;
    const range = start > 0 ? { Range: `bytes=${start}-` } : {};
    const sent = this.#connection.request({
      path,
      method: 'GET',
      headers: { ...this.#headers, ...range, ...request.headers },
    });
    const { statusCode: status, headers, body } = await this.#heard(sent.catch(toTransient));
    // It is read by an iterator, which gets the error as well.
    body.on('error', () => undefined);
    try {
      this.limits.learn(String(headers['ratelimit-policy'] ?? ''));
      if (status === 429 || status >= 500) {
        const seconds = Number(headers['retry-after']);
        const isGiven = seconds > 0 && seconds <= WAIT_SECONDS;
        throw new TransientError(`the response is ${status}`, isGiven ? 1000 * seconds : undefined);
      }
      if ([301, 302, 307, 308].includes(status)) {
        const location = String(headers.location ?? '');
        const target = URL.canParse(location, url) ? new URL(location, url) : undefined;
        if (target?.origin !== this.#origin || redirects === REDIRECTS)
          throw Failure.environment(`${url} redirects to "${location}", expected the document itself`);
        body.destroy();
        return await this.#try({ ...request, path: target.pathname + target.search }, read, redirects + 1);
      }
      if (![200, 206, 304, 404, 410, 416].includes(status))
        throw Failure.environment(`${url}: the response is ${status}, expected 200`);
      return await read({ status, headers, chunks: this.#chunks(body) });
    } finally {
      // The connection can be used again if the response was read.
      body.destroy();
    }
  }

  async *#chunks(body: AsyncIterable<unknown>): AsyncGenerator<Buffer, void, undefined> {
    const chunks: AsyncIterator<unknown, unknown> = body[Symbol.asyncIterator]();
    const { slowMs, bytesPerSecond } = this.#bounds;
    const startedAt = performance.now();
    for (let received = 0; ;) {
      const { value } = await this.#heard(chunks.next().catch(toTransient));
      if (!Buffer.isBuffer(value)) return;
      this.bytes += value.length;
      received += value.length;
      this.#requireTime();
      if (this.bytes > this.#mostBytes) {
        throw Failure.invalid(
          `${this.#origin} has sent more than ${this.#mostBytes} bytes, expected ${COPIES} times its tree at most`,
        );
      }
      const ms = performance.now() - startedAt;
      if (ms > slowMs && received < (ms / 1000) * bytesPerSecond)
        throw new TransientError(`the response is slower than ${bytesPerSecond} bytes a second`);
      await this.#progress.advance(value.length);
      yield value;
    }
  }
}
