import type { ErrorCode } from './headers.js';

/** Request targets (RFC 9112 §3.2) as they stand in the request line: taken apart strictly, never repaired. Pure. */

/** Longer paths are refused: none of the tree comes near it. */
export const MAX_PATH_BYTES = 2_048;

/** The one dotfile that is public (RFC 8615). */
export const WELL_KNOWN = '.well-known';

/** A target that may name something. */
export interface ParsedTarget {
  readonly kind: 'target';
  /** As received, without scheme, authority and query. */
  readonly path: string;
  /** Decoded, at least one; the front page is one empty segment. */
  readonly segments: readonly string[];
  /** As received, without its "?"; undefined if there is none. */
  readonly query: string | undefined;
}

/** A target whose response is an error. */
export interface RefusedTarget {
  readonly kind: 'refusal';
  readonly path: string;
  readonly code: ErrorCode;
  /** What was asked for and what was expected. */
  readonly detail: string;
}

/** A target whose response is 308. */
export interface RedirectedTarget {
  readonly kind: 'redirect';
  readonly path: string;
  /** The canonical path, with the query as received. It stays on this host: it starts with one slash, not two. */
  readonly location: string;
}

/**
 * Scheme and authority of an absolute-form target. An empty host is none (RFC 9110 §4.2.1), and user information is
 * not taken for one (RFC 9110 §4.2.4).
 */
const ABSOLUTE_FORM = /^https?:\/\/(?:[a-z0-9._~-]+|\[[0-9a-f:.]+\])(?::\d*)?(?=[/?#]|$)/i;

/** Printable ASCII without space and backslash: the rest has no place in a path even unescaped. */
const PLAIN = /^[!-[\]-~]*$/;

/** What an escape must not hide: the controls (C0, DEL, C1), and the separators of any file system. */
// oxlint-disable-next-line no-control-regex
const HIDDEN = /[\u0000-\u001f\u007f-\u009f/\\]/;

/** Escapes of unreserved characters, which are the same as the characters (RFC 3986 §6.2.2.2). */
const NEEDLESS_ESCAPE = /%(?:2[de]|3\d|4[1-9a-f]|5[0-9af]|6[1-9a-f]|7[0-9ae])/gi;

/**
 * Takes a request target apart.
 *
 * @param target request.url, raw: origin-form, or absolute-form, whose scheme and authority are dropped (RFC 9112
 *   §3.2.2 demands that any server accept it, and this one has a single host)
 */
export function parseTarget(target: string): ParsedTarget | RefusedTarget | RedirectedTarget {
  const origin = originForm(target);
  if (origin === undefined) {
    return invalid(target, 'the request target is no path: expected one that starts with "/"');
  }
  const mark = origin.indexOf('?');
  const path = mark === -1 ? origin : origin.slice(0, mark);
  const query = mark === -1 ? undefined : origin.slice(mark + 1);

  if (path.length > MAX_PATH_BYTES) {
    const detail = `the path is ${path.length} bytes long: expected at most ${MAX_PATH_BYTES}`;
    return { kind: 'refusal', path, code: 'uri_too_long', detail };
  }
  if (origin.includes('#')) return invalid(path, 'the request target has a fragment ("#"): expected none');
  if (!PLAIN.test(path)) {
    return invalid(
      path,
      'the path has a character that may not stand in one: expected printable ASCII without "\\"',
    );
  }
  const segments: string[] = [];
  for (const raw of path.slice(1).split('/')) {
    const segment = raw.includes('%') ? decodeSegment(raw) : raw;
    if (segment === undefined) return invalid(path, 'the path has a percent-escape that is no UTF-8 text');
    if (HIDDEN.test(segment)) return invalid(path, 'the path has an escaped control character, "/" or "\\"');
    if (segment === '.' || segment === '..') return invalid(path, 'the path has a "." or ".." segment');
    segments.push(segment);
  }
  return redirectOrTarget(path, segments, query);
}

function redirectOrTarget(
  path: string,
  segments: readonly string[],
  query: string | undefined,
): ParsedTarget | RefusedTarget | RedirectedTarget {
  const last = segments.length - 1;
  // An empty segment names nothing, except for the last one, which a trailing slash makes.
  const isNamed = segments.every((segment, index) => segment !== '' || index === last);
  const isHidden = segments.some(
    (segment, index) => segment.startsWith('.') && (index > 0 || segment !== WELL_KNOWN),
  );
  if (!isNamed || isHidden) return { kind: 'refusal', path, code: 'not_found', detail: NOTHING_HERE };
  const withoutSlash = last > 0 && segments[last] === '' ? path.slice(0, -1) : path;
  // One URL for one file: a purge reaches the copy under that URL and no other.
  const canonical = withoutSlash.replaceAll(NEEDLESS_ESCAPE, decodeURIComponent);
  if (canonical === path) return { kind: 'target', path, segments, query };
  const location = uriReference(canonical + (query === undefined ? '' : `?${query}`));
  return { kind: 'redirect', path, location };
}

/** The detail of a 404 where no route matched. */
export const NOTHING_HERE = 'nothing is published at this path';

function originForm(target: string): string | undefined {
  if (target.startsWith('/')) return target;
  const authority = ABSOLUTE_FORM.exec(target)?.[0];
  if (authority === undefined) return undefined;
  const rest = target.slice(authority.length);
  return rest.startsWith('/') ? rest : `/${rest}`;
}

/** decodeURIComponent is strict: it throws on invalid escapes, overlong forms, surrogates and whatever is no UTF-8. */
function decodeSegment(raw: string): string | undefined {
  try {
    return decodeURIComponent(raw);
  } catch {
    return undefined;
  }
}

function invalid(path: string, detail: string): RefusedTarget {
  return { kind: 'refusal', path, code: 'invalid_path', detail };
}

/**
 * What a client sent as a URI reference (RFC 3986 §4.2) on this host: what may not stand in one is percent-encoded,
 * also a "%" that starts no escape, and a leading "//" never makes a host of what was a path.
 *
 * @param received a path, or path and query; characters 0 to 255, as node:http hands them over
 */
export function uriReference(received: string): string {
  return received.replace(/%(?![0-9A-Fa-f]{2})|[^!$-;=?-Z_a-z~]/g, escapeCharacter).replace(/^\/\//, '/%2F');
}

function escapeCharacter(character: string): string {
  return `%${character.charCodeAt(0).toString(16).toUpperCase().padStart(2, '0')}`;
}
