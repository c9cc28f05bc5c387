import type { ErrorCode, RequestError } from './schema.js';

/** Parses request targets (RFC 9112 §3.2) strictly, without repairing them. Pure. */

/** Published paths are much shorter. */
export const MAX_PATH_BYTES = 2_048;

/** The detail of a 404 if no route matched. */
export const NOTHING_HERE = 'nothing is published at this path';

/** A target whose response is an error. */
export interface Refusal extends RequestError {
  readonly kind: 'refusal';
  /** As received, without scheme, authority and query. */
  readonly path: string;
}

/** Scheme and authority. Empty hosts (RFC 9110 §4.2.1) and user information (§4.2.4) are invalid. */
const ABSOLUTE_FORM = /^https?:\/\/(?:[a-z0-9._~-]+|\[[0-9a-f:.]+\])(?::\d*)?(?=[/?#]|$)/i;

/** Printable ASCII without space and backslash; other characters are invalid in a path. */
const PLAIN = /^[!-[\]-~]*$/;

/** What an escape must not hide: C0, DEL and C1 controls, and any file system's separators. */
// oxlint-disable-next-line no-control-regex
const HIDDEN = /[\u0000-\u001f\u007f-\u009f/\\]/;

/** Escapes of unreserved characters, which are equivalent to them (RFC 3986 §6.2.2.2). */
const NEEDLESS_ESCAPE = /%(?:2[de]|3\d|4[1-9a-f]|5[0-9af]|6[1-9a-f]|7[0-9ae])/gi;

/** An empty segment except the last, or a hidden one except the only public dotfile (RFC 8615). */
const UNPUBLISHED = /\/\/|\/\.(?!well-known(?:\/|$))|.\/\.well-known/;

/**
 * Parses request.url to a canonical path, which may not exist, or to a redirect to that.
 * Scheme and authority of an absolute-form target are dropped: RFC 9112 §3.2.2 requires servers to accept
 * it, and this one has a single host.
 */
export function parseTarget(target: string) {
  const authority = target.startsWith('/') ? '' : ABSOLUTE_FORM.exec(target)?.[0];
  if (authority === undefined)
    return invalid(target, 'the request target is not a path: expected one that starts with "/"');
  const given = target.slice(authority.length);
  const origin = given.startsWith('/') ? given : `/${given}`;
  const [path = ''] = origin.split('?', 1);
  const query = origin.slice(path.length + 1);
  if (path.length > MAX_PATH_BYTES) {
    const detail = `the path is ${path.length} bytes long: expected at most ${MAX_PATH_BYTES}`;
    return refuse(path, 'uri_too_long', detail);
  }
  if (origin.includes('#')) return invalid(path, 'the request target has a fragment ("#"): expected none');
  if (!PLAIN.test(path))
    return invalid(path, 'the path has an invalid character: expected printable ASCII without "\\"');
  const segments: string[] = [];
  for (const raw of path.split('/')) {
    const segment = raw.includes('%') ? decodeSegment(raw) : raw;
    if (segment === undefined) return invalid(path, 'the path has a percent-escape that is not valid UTF-8');
    if (HIDDEN.test(segment)) return invalid(path, 'the path has an escaped control character, "/" or "\\"');
    if (segment === '.' || segment === '..') return invalid(path, 'the path has a "." or ".." segment');
    segments.push(segment);
  }
  const decoded = segments.join('/');
  if (UNPUBLISHED.test(decoded)) return refuse(path, 'not_found', NOTHING_HERE);
  // One URL per file: a CDN purge only reaches the copy under that URL.
  const withoutSlash = path.length > 1 && path.endsWith('/') ? path.slice(0, -1) : path;
  const canonical = withoutSlash.replaceAll(NEEDLESS_ESCAPE, decodeURIComponent);
  if (canonical === path) return { kind: 'target', path, decoded, query } as const;
  // With one slash at its start, it stays on this host.
  return { kind: 'redirect', path, location: uriReference(canonical), query } as const;
}

/** decodeURIComponent throws on invalid escapes, overlong forms, surrogates and invalid UTF-8. */
function decodeSegment(raw: string): string | undefined {
  try {
    return decodeURIComponent(raw);
  } catch {
    return undefined;
  }
}

function refuse(path: string, code: ErrorCode, detail: string): Refusal {
  return { kind: 'refusal', path, code, detail };
}

const invalid = (path: string, detail: string) => refuse(path, 'invalid_path', detail);

/**
 * A path from a client (characters 0 to 255) as a URI reference (RFC 3986 §4.2) on this host: what is
 * invalid, a stray "%" included, is percent-encoded, and a leading "//" never turns a path into a host.
 */
export function uriReference(received: string): string {
  return received.replace(/%(?![0-9A-Fa-f]{2})|[^!$-;=?-Z_a-z~]/g, escapeCharacter).replace(/^\/\//, '/%2F');
}

function escapeCharacter(character: string): string {
  return `%${character.charCodeAt(0).toString(16).toUpperCase().padStart(2, '0')}`;
}
