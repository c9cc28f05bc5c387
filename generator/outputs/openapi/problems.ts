/**
 * The errors of the service. snapshot.json passes codes, statuses and titles to the proxy; the
 * OpenAPI description and the developers' page explain them.
 */
import { MAX_INTEGER, type ObjectShape } from '../../schema/shape.js';
import type { Route } from '../../routes/route.js';
import { PATHS } from '../../routes/paths.js';
import { PLATFORM_ID_TEXT, PREFIX_DIGITS } from '../../routes/keys.js';
import { value } from '../parts.js';

export interface Problem {
  /** The stable code, `error` in the body. */
  readonly code: string;
  readonly status: number;
  readonly title: string;
  /** The detail where a server knows no more about the request. */
  readonly detail: string;
  /** The path of the page that browsers get instead, where people open pages. */
  readonly page?: string;
  /** When it happens. */
  readonly when: string;
  /** What a client should do. */
  readonly remedy: string;
  /** The members that vary, from a real response of the proxy. */
  readonly example: { readonly instance: string; readonly detail: string };
}

export const PROBLEMS = [
  {
    code: 'invalid_id',
    status: 400,
    title: 'Invalid id',
    detail: `expected decimal digits without a sign or leading zero, at most ${MAX_INTEGER}`,
    when: `The path contains an invalid id. An id consists of decimal digits without a sign or leading zero, and is at most ${MAX_INTEGER} (2^53 - 1). An id of the platform in a path has ${PLATFORM_ID_TEXT}.`,
    remedy: 'Correct the id. The same request will fail again.',
    example: {
      instance: '/api/v1/group/abc',
      detail: `id "abc": expected decimal digits without a sign or leading zero, at most ${MAX_INTEGER}`,
    },
  },
  {
    code: 'invalid_limit',
    status: 400,
    title: 'Invalid limit',
    detail: 'expected one integer within the bounds in plain decimal digits',
    when: 'The limit is not an integer within its bounds in plain decimal digits, or it is given more than once.',
    remedy: 'Correct the limit or leave it out. The same request will fail again.',
    example: {
      instance: '/api/v1/largest',
      detail: 'limit "0": expected one integer from 1 to 200 in plain decimal digits',
    },
  },
  {
    code: 'invalid_prefix',
    status: 400,
    title: 'Invalid prefix',
    detail: `expected 1 to ${PREFIX_DIGITS} lower-case hexadecimal digits`,
    when: `The path contains an invalid prefix. A prefix consists of 1 to ${PREFIX_DIGITS} lower-case hexadecimal digits, of which /api/v1/lookup says how many.`,
    remedy: 'Correct the prefix. The same request will fail again.',
    example: {
      instance: '/api/v1/lookup/username/Marlow',
      detail: `prefix "Marlow": expected 1 to ${PREFIX_DIGITS} lower-case hexadecimal digits`,
    },
  },
  {
    code: 'invalid_path',
    status: 400,
    title: 'Invalid path',
    detail: 'the path has an invalid character or escape, or a dot segment',
    when: 'The path can’t be decoded as UTF-8, or it contains "." or ".." segments, escaped separators, or control characters.',
    remedy: 'Correct the URL. The same request will fail again.',
    example: { instance: '/api/v1/group/..', detail: 'the path has a "." or ".." segment' },
  },
  {
    code: 'invalid_request',
    status: 400,
    title: 'Invalid request',
    detail: 'the request violates the rules of HTTP',
    when: 'The request violates the rules of HTTP. Its Host header is missing or malformed, for example. The connection is closed.',
    remedy: 'Correct the client, or any proxy between it and the service.',
    example: {
      instance: '/api/v1',
      detail: 'Host header: expected exactly one, with a host and an optional port',
    },
  },
  {
    code: 'not_found',
    status: 404,
    title: 'Not found',
    detail: 'nothing is published at this path',
    page: PATHS.notFound,
    when: 'The register has no such record, or nothing is published at this path; the detail says which.',
    remedy:
      'Don’t retry soon. A record that is missing today may be measured later. The response may be cached for a minute.',
    example: {
      instance: '/api/v1/group/9007199254740991',
      detail: 'no group 9007199254740991 in this register',
    },
  },
  {
    code: 'method_not_allowed',
    status: 405,
    title: 'Method not allowed',
    detail: 'expected the method GET, HEAD or OPTIONS',
    when: 'The method is not GET, HEAD or OPTIONS. The header Allow lists these.',
    remedy: 'Use GET. The service is read-only.',
    example: { instance: '/api/v1', detail: 'method "POST": expected GET, HEAD or OPTIONS' },
  },
  {
    code: 'precondition_failed',
    status: 412,
    title: 'Precondition failed',
    detail: 'the document is not the version that If-Match or If-Unmodified-Since requires',
    when: 'If-Match does not name the published version, or the document changed after If-Unmodified-Since.',
    remedy: 'Your copy is outdated. Discard it, and fetch the whole document without the condition.',
    example: {
      instance: '/api/v1/stats',
      detail: 'the document is not the version that If-Match or If-Unmodified-Since requires',
    },
  },
  {
    code: 'uri_too_long',
    status: 414,
    title: 'URI too long',
    detail: 'the path is too long: expected at most 2048 bytes',
    when: 'The path is longer than 2048 bytes. No published path comes near that length.',
    remedy: 'Correct the URL. The same request will fail again.',
    example: {
      instance: `/${'0'.repeat(255)}`,
      detail: 'the path is 2049 bytes long: expected at most 2048',
    },
  },
  {
    code: 'range_not_satisfiable',
    status: 416,
    title: 'Range not satisfiable',
    detail: 'expected a range that starts within the file',
    when: 'The requested range starts at or after the end of the file. The header Content-Range gives its size.',
    remedy: 'Send the request without Range, or with a range within the file.',
    example: {
      instance: '/api/v1/stats',
      detail: 'range "bytes=5000-": expected one that starts within the 1021 bytes of the file',
    },
  },
  {
    code: 'rate_limited',
    status: 429,
    title: 'Too many requests',
    detail: 'rate limit exceeded: wait for the seconds in Retry-After',
    page: PATHS.tooMany,
    when: 'The client has exceeded the limit that the header RateLimit names. A refused request does not count against it.',
    remedy:
      'Wait for the number of seconds in the header Retry-After. The limit then lets the next request through.',
    example: {
      instance: '/api/v1/stats',
      detail: 'rate limit "api" exceeded: the next request is allowed in 1 s',
    },
  },
  {
    code: 'internal',
    status: 500,
    title: 'Internal error',
    detail: 'the response could not be produced; the request is not at fault',
    when: 'The service failed to produce a response. The request is not at fault.',
    remedy: 'Try again later, with increasing pauses. Tell us if it persists.',
    example: {
      instance: '/api/v1/stats',
      detail: 'the response could not be produced; the request is not at fault',
    },
  },
  {
    code: 'no_snapshot',
    status: 503,
    title: 'No snapshot yet',
    detail: 'the published tree is not there at present',
    when: 'The service has nothing to serve. It has just been set up, or its files are temporarily unavailable.',
    remedy: 'Try again after the number of seconds in the header Retry-After.',
    example: { instance: '/api/v1', detail: 'nothing has been published yet' },
  },
  {
    code: 'version_not_supported',
    status: 505,
    title: 'HTTP version not supported',
    detail: 'expected HTTP/1.1',
    when: 'The request uses a version of HTTP that the service does not support on this connection.',
    remedy: 'Use HTTP/1.1.',
    example: { instance: '/api/v1', detail: 'HTTP/2.0: expected HTTP/1.1' },
  },
] as const satisfies readonly Problem[];

export type ProblemCode = (typeof PROBLEMS)[number]['code'];

export function problemOf(code: ProblemCode): (typeof PROBLEMS)[number] {
  const found = PROBLEMS.find((problem) => problem.code === code);
  if (found === undefined) throw new TypeError(`no problem has the code "${code}"`);
  return found;
}

/** Whether a route is that of a page that stands for an error: it is no content of the site. */
export const isOfError = ({ path }: Pick<Route, 'path'>): boolean =>
  PROBLEMS.some((problem: Problem) => problem.page === path);

/** The anchor of an error's explanation on the developers' page. */
export const anchorOf = (code: ProblemCode): string => `error-${code}`;

/** An example body. @param baseUrl of the service, unknown to the proxy before a snapshot */
export function problemExample({ code, status, title, example }: (typeof PROBLEMS)[number], baseUrl: string) {
  const { detail, instance } = example;
  const documentation = code === 'no_snapshot' ? PATHS.docs : baseUrl + PATHS.docs;
  return { type: `${documentation}#${anchorOf(code)}`, title, status, detail, instance, error: code };
}

export const PROBLEM_TYPE = 'application/problem+json';

/** The body of every error (RFC 9457; `error` is an extension member). */
export const PROBLEM_SHAPE: ObjectShape = {
  is: 'object',
  name: 'problem',
  nullable: false,
  description: 'An error, as problem details (RFC 9457).',
  members: [
    value(
      'type',
      'reference',
      'https://register.example/developers#error-not_found',
      'URL of the explanation of the error; a path before the first snapshot.',
    ),
    value('title', 'text', 'Not found', 'Title of the error, always the same for one code.'),
    value('status', 'ordinal', 404, 'The HTTP status.'),
    value('detail', 'text', 'nothing is published at this path', 'What was requested and what was expected.'),
    value('instance', 'reference', '/api/v1/group/9', 'The requested path as received, cut if it is long.'),
    value('error', 'enum', 'not_found', 'The stable code of the error: tell errors apart by it.', {
      values: PROBLEMS.map(({ code }) => code),
    }),
  ],
};
