/**
 * The errors of the service. snapshot.json passes codes, statuses and titles to the proxy; the
 * OpenAPI description and the developers' page explain them.
 */
import { MAX_INTEGER } from '../../schema/field.js';
import type { ObjectShape } from '../../schema/shape.js';
import { PATHS } from '../../routes/index.js';
import { value } from '../parts.js';

export interface Problem {
  /** The stable code, `error` in the body. */
  readonly code: string;
  readonly status: number;
  readonly title: string;
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
    when: `What stands in the place of an id is none: ids are decimal digits without sign or leading zero, at most ${MAX_INTEGER} (2^53 - 1).`,
    remedy: 'Correct the id. The same request fails again.',
    example: {
      instance: '/api/v1/group/abc',
      detail: `id "abc": expected decimal digits without sign or leading zero, at most ${MAX_INTEGER}`,
    },
  },
  {
    code: 'invalid_limit',
    status: 400,
    title: 'Invalid limit',
    when: 'The limit is not one integer within its bounds, in plain decimal, or is given more than once.',
    remedy: 'Correct the limit or leave it out. The same request fails again.',
    example: {
      instance: '/api/v1/largest',
      detail: 'limit "0": expected one integer from 1 to 200 in plain decimal',
    },
  },
  {
    code: 'invalid_path',
    status: 400,
    title: 'Invalid path',
    when: 'The path can’t be decoded as UTF-8, or has "." or ".." segments, escaped separators or control characters.',
    remedy: 'Correct the URL. The same request fails again.',
    example: { instance: '/api/v1/group/..', detail: 'the path has a "." or ".." segment' },
  },
  {
    code: 'invalid_request',
    status: 400,
    title: 'Invalid request',
    when: 'The request breaks the rules of HTTP: its Host is missing or malformed, say. The connection is closed.',
    remedy: 'Correct the client, or what stands between it and the service.',
    example: {
      instance: '/api/v1',
      detail: 'the Host field: expected one, with a host and an optional port',
    },
  },
  {
    code: 'not_found',
    status: 404,
    title: 'Not found',
    when: 'The register has no such record, or nothing is published at this path; the detail says which.',
    remedy:
      'Don’t ask again soon: a record that is not there today may be measured later. The answer may be cached for a minute.',
    example: {
      instance: '/api/v1/group/9007199254740991',
      detail: 'no group 9007199254740991 in this register',
    },
  },
  {
    code: 'method_not_allowed',
    status: 405,
    title: 'Method not allowed',
    when: 'The method is not GET, HEAD or OPTIONS; the header Allow names these.',
    remedy: 'Use GET. The service is read-only.',
    example: { instance: '/api/v1', detail: 'method "POST": expected GET, HEAD or OPTIONS' },
  },
  {
    code: 'precondition_failed',
    status: 412,
    title: 'Precondition failed',
    when: 'If-Match names no version that is published now, or the document changed after If-Unmodified-Since.',
    remedy: 'What you have is outdated: drop it, and fetch the whole without the condition.',
    example: {
      instance: '/api/v1/stats',
      detail: 'the document is another one by now: expected that of If-Match or If-Unmodified-Since',
    },
  },
  {
    code: 'uri_too_long',
    status: 414,
    title: 'URI too long',
    when: 'The path is longer than 2048 bytes; none that is published comes near it.',
    remedy: 'Correct the URL. The same request fails again.',
    example: {
      instance: `/${'0'.repeat(255)}`,
      detail: 'the path is 2049 bytes long: expected at most 2048',
    },
  },
  {
    code: 'range_not_satisfiable',
    status: 416,
    title: 'Range not satisfiable',
    when: 'The range asked for begins behind the end of the file; the header Content-Range tells its size.',
    remedy: 'Ask without Range, or for a range within the size.',
    example: {
      instance: '/api/v1/stats',
      detail: 'range "bytes=5000-": expected one that begins within 1021 bytes',
    },
  },
  {
    code: 'rate_limited',
    status: 429,
    title: 'Too many requests',
    when: 'The client has used up a limit, which the header RateLimit names; a request that is refused takes nothing.',
    remedy: 'Wait as many seconds as the header Retry-After says: then the next request passes.',
    example: {
      instance: '/api/v1/stats',
      detail: 'more requests than the limit "api" allows: the next one passes in 1 s',
    },
  },
  {
    code: 'internal',
    status: 500,
    title: 'Internal error',
    when: 'The answer could not be made. The request is not at fault.',
    remedy: 'Try again later, with growing pauses; tell us if it stays.',
    example: {
      instance: '/api/v1/stats',
      detail: 'the response could not be made; the request is not at fault',
    },
  },
  {
    code: 'no_snapshot',
    status: 503,
    title: 'No snapshot yet',
    when: 'The service has nothing to serve: it has just been set up, or its files are out of reach for a while.',
    remedy: 'Try again after as many seconds as the header Retry-After says.',
    example: { instance: '/api/v1', detail: 'nothing has been published yet' },
  },
  {
    code: 'version_not_supported',
    status: 505,
    title: 'HTTP version not supported',
    when: 'The request names a version of HTTP that the service does not speak on this connection.',
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
  description: 'What went wrong (RFC 9457).',
  members: [
    value(
      'type',
      'reference',
      'https://register.example/developers#error-not_found',
      'Where the error is explained; before the first snapshot it is a path.',
    ),
    value('title', 'text', 'Not found', 'The error in words, always the same for a code.'),
    value('status', 'ordinal', 404, 'The HTTP status.'),
    value('detail', 'text', 'nothing is published at this path', 'What was asked, and what was expected.'),
    value(
      'instance',
      'reference',
      '/api/v1/group/9',
      'The path that was asked, as received, shortened where it is long.',
    ),
    value('error', 'enum', 'not_found', 'The stable code to tell errors apart by.', {
      values: PROBLEMS.map(({ code }) => code),
    }),
  ],
};
