import { uriReference } from './uri-reference.js';

/** The errors of the service and their bodies: problem details (RFC 9457), one stable code each. */

/**
 * Every error: its code (in the body's `error`), its status and its title. A code once published keeps its
 * meaning.
 */
export const PROBLEMS = {
  invalid_id: { status: 400, title: 'Invalid id' },
  invalid_limit: { status: 400, title: 'Invalid limit' },
  invalid_path: { status: 400, title: 'Invalid path' },
  not_found: { status: 404, title: 'Not found' },
  method_not_allowed: { status: 405, title: 'Method not allowed' },
  uri_too_long: { status: 414, title: 'URI too long' },
  range_not_satisfiable: { status: 416, title: 'Range not satisfiable' },
  rate_limited: { status: 429, title: 'Too many requests' },
  internal: { status: 500, title: 'Internal error' },
  no_snapshot: { status: 503, title: 'No snapshot yet' },
} as const satisfies Readonly<Record<string, { status: number; title: string }>>;

export type ProblemCode = keyof typeof PROBLEMS;

export const PROBLEM_TYPE = 'application/problem+json';

/** `instance` repeats at most so many characters of what a client sent. */
const INSTANCE_MAX_LENGTH = 256;

/** Whether a parameter's refusal has a code of its own: `invalid_` and the parameter's name. */
export function isProblemCode(code: string): code is ProblemCode {
  return Object.hasOwn(PROBLEMS, code);
}

/**
 * The body of an error, always these six keys in this order (RFC 9457 §3, `error` being an extension member).
 *
 * @param code which error
 * @param documentation URL of the page that explains the codes, without a fragment
 * @param detail what was asked, the value in quotes, what was expected; no final period
 * @param path the request path as received
 */
export function problemBody(code: ProblemCode, documentation: string, detail: string, path: string): Buffer {
  const { status, title } = PROBLEMS[code];
  const type = `${documentation}#error-${code}`;
  // Cut before a split escape, so that it stays a URI reference.
  const instance = uriReference(path.slice(0, INSTANCE_MAX_LENGTH).replace(/%.?$/, ''));
  return Buffer.from(JSON.stringify({ type, title, status, detail, instance, error: code }));
}
