/** What a server said on one connection, taken apart as strictly as RFC 9112 has it. */

export interface RawAnswer {
  readonly status: number;
  /** Names in lower case. */
  readonly headers: ReadonlyMap<string, string>;
  readonly body: Buffer;
}

/** What the parser refuses gets no more than a status and the end of the connection. */
const BARE = new Set([400, 408, 413, 431]);
const HEAD_END = Buffer.from('\r\n\r\n');
const STATUS_LINE = /^HTTP\/1\.1 ([1-5]\d\d) [\x20-\x7e]*$/;
const FIELD_LINE = /^([!#$%&'*+.^_`|~0-9A-Za-z-]+): ([\x20-\x7e]*)$/;

/**
 * All answers in order.
 *
 * @param isHead whether the request of this number, from 0, was HEAD, whose answer has no body
 * @returns undefined while the last one is incomplete
 * @throws for anything malformed
 */
export function parseAnswers(bytes: Buffer, isHead: (index: number) => boolean): RawAnswer[] | undefined {
  const answers: RawAnswer[] = [];
  for (let at = 0; at < bytes.length;) {
    const headEnd = bytes.indexOf(HEAD_END, at);
    if (headEnd === -1) return undefined;
    const [statusLine = '', ...lines] = bytes.toString('latin1', at, headEnd).split('\r\n');
    const status = STATUS_LINE.exec(statusLine)?.[1];
    if (status === undefined) throw new Error(`status line ${JSON.stringify(statusLine.slice(0, 200))}`);
    const headers = new Map<string, string>();
    for (const line of lines) {
      const [, name, value] = FIELD_LINE.exec(line) ?? [];
      if (name === undefined || value === undefined) throw new Error(`field line ${JSON.stringify(line)}`);
      if (headers.has(name.toLowerCase())) throw new Error(`field ${name} twice`);
      headers.set(name.toLowerCase(), value);
    }
    const length = headers.get('content-length');
    const isBare = BARE.has(Number(status)) && length === undefined;
    const hasBody = !isHead(answers.length) && status !== '304' && status !== '204' && !isBare;
    if (hasBody && (length === undefined || !/^\d+$/.test(length))) throw new Error('no Content-Length');
    const start = headEnd + HEAD_END.length;
    const end = start + (hasBody ? Number(length) : 0);
    if (end > bytes.length) return undefined;
    answers.push({ status: Number(status), headers, body: bytes.subarray(start, end) });
    at = end;
  }
  return answers;
}

/** What is wrong with an answer, whatever was asked; undefined if nothing is. */
export function faultOf(
  { status, headers, body }: RawAnswer,
  published: readonly Buffer[],
): string | undefined {
  const isBare = BARE.has(status) && headers.size === 1;
  if (isBare) return headers.get('connection') === 'close' ? undefined : `${status} on an open connection`;
  for (const name of ['date', 'access-control-allow-origin', 'ratelimit-policy', 'x-content-type-options']) {
    if (!headers.has(name)) return `${status} without ${name}`;
  }
  if (status >= 500 && status !== 505) return `${status}: ${body.toString()}`;
  if (status === 200 && body.length > 0 && !published.some((known) => known.equals(body))) {
    return `200 with ${body.length} bytes that were not published`;
  }
  if (status === 206 && !published.some((known) => known.includes(body))) {
    return `206 with ${body.length} bytes that were not published`;
  }
  return status >= 400 ? faultOfError(status, headers) : undefined;
}

/**
 * An error is a problem document of a request that met the limiter, which 405 need not. RateLimit is on whatever may
 * not be stored, so 404 has none.
 */
function faultOfError(status: number, headers: RawAnswer['headers']): string | undefined {
  const type = headers.get('content-type');
  if (type !== 'application/problem+json') return `${status} as ${type}`;
  const isLimited = headers.has('ratelimit') || status === 404 || status === 405;
  return isLimited ? undefined : `${status} past the limiter`;
}
